//go:build bench

package bench

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// TestTakeoverByANewcomer has fresh processes come to a lock whose holder is long
// dead. They must watch it for a whole lease, unless the holder said when it is
// gone and the clocks are trusted.
func TestTakeoverByANewcomer(t *testing.T) {
	const runs = 200
	for _, bounded := range []bool{false, true} {
		for _, lease := range leases {
			var waited []float64
			requests := 0
			usual(t, func(w *world) {
				for i := range runs {
					d, n := w.newcomer(fmt.Sprint(i), lease, bounded)
					waited, requests = append(waited, ratio(d, lease)), max(requests, n)
				}
			})
			what, limit, most := "", 1.02, 4
			if bounded {
				what, limit, most = ", bounded clock", 0.02, 2
			}
			f := summary(waited)
			report(t, row{
				3, fmt.Sprintf("takeover of a dead lock by a newcomer, %s%s", lease, what),
				fmt.Sprintf("max ≤ %.2f, requests ≤ %d", limit, most),
				fmt.Sprintf("%s, requests %d", f, requests), check(f.max <= limit && requests <= most),
			})
		}
	}
}

func (w *world) newcomer(name string, lease time.Duration, bounded bool) (time.Duration, int) {
	w.t.Helper()
	w.abandon(name, lease, lockkit.Until(time.Now().Add(2*lease)))
	time.Sleep(w.between(3*lease, 5*lease))
	p := &process{ahead: w.skew()}
	var opts []lockkit.Option
	if bounded {
		opts = append(opts, lockkit.WithMaxClockSkew(time.Second))
	}
	start := time.Now()
	l := w.acquire(w.locks(p, opts...), name, lease)
	d := time.Since(start)
	n := p.since(time.Time{}).all()
	w.release(l)
	return d, n
}

// abandon leaves a lock behind whose holder has died.
func (w *world) abandon(name string, lease time.Duration, opts ...lockkit.AcquireOption) {
	w.t.Helper()
	p := &process{}
	w.acquire(w.locks(p), name, lease, opts...)
	time.Sleep(lease + w.between(0, lease/2))
	p.dead.Store(true)
}

// TestDeadLockAndSingleTries has a schedule start one fresh process after another
// at a dead lock, each of which tries once. An Acquire gets it; TryAcquire cannot
// without a memory, and must say that the lock is held each time.
func TestDeadLockAndSingleTries(t *testing.T) {
	const runs, tries = 100, 20
	for _, lease := range leases {
		var acquired []float64
		silent, remembered := 0, 0
		usual(t, func(w *world) {
			for i := range runs {
				d, all, known := w.singleTries(fmt.Sprint(i), lease, tries)
				acquired = append(acquired, ratio(d, lease))
				silent += tries - all
				if known {
					remembered++
				}
			}
		})
		f := summary(acquired)
		report(t, row{
			5, fmt.Sprintf("dead lock, Acquire by a fresh process that gives up on the living, %s", lease),
			"max ≤ 1.02", f.String(), check(f.max <= 1.02),
		})
		report(t, row{
			5, fmt.Sprintf("  TryAcquire, %s: silent refusals; with one LockTable taken over", lease), fmt.Sprintf("0; %d of %d", runs, runs),
			fmt.Sprintf("%d; %d of %d", silent, remembered, runs), check(silent == 0 && remembered == runs),
		})
	}
}

// singleTries returns after how long Acquire takes a dead lock over, how many of
// the tries before, each by a fresh process, named the holder, and whether tries
// with one LockTable took a dead lock over.
func (w *world) singleTries(name string, lease time.Duration, tries int) (acquired time.Duration, named int, known bool) {
	w.t.Helper()
	w.abandon(name, lease)
	time.Sleep(lease)
	for range tries {
		_, err := w.locks(&process{ahead: w.skew()}).TryAcquire(w.t.Context(), name, lease)
		if held, ok := errors.AsType[*lockkit.HeldError](err); ok && held.Token > 0 {
			named++
		}
		time.Sleep(lease / 4)
	}
	start := time.Now()
	l := w.acquire(w.locks(&process{ahead: w.skew()}), name, lease, lockkit.GiveUpWhenAlive())
	acquired = time.Since(start)
	w.release(l)

	w.abandon(name, lease)
	locks := w.locks(&process{ahead: w.skew()})
	for range 6 {
		if l, err := locks.TryAcquire(w.t.Context(), name, lease); err == nil {
			w.release(l)
			return acquired, named, true
		}
		time.Sleep(lease / 4)
	}
	return acquired, named, false
}
