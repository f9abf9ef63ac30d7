//go:build bench

package bench

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// TestGiveUpOnTheLiving has short-lived processes come at random moments to a
// lock whose holder lives, and wait no longer than for a sign of that.
func TestGiveUpOnTheLiving(t *testing.T) {
	const runs = 200
	for _, c := range []struct {
		what     string
		noHints  bool
		limit    figures
		requests int
	}{
		{"with the hint", false, figures{0.20, 0.40}, 2},
		{"without the hint", true, figures{0.40, 0.70}, 3},
	} {
		for _, lease := range leases {
			var waits []float64
			most, over := 0, 0
			usual(t, func(w *world) {
				for i := range runs {
					d, n := w.giveUp(i, runs, lease, c.noHints, lockkit.GiveUpWhenAlive())
					waits, most = append(waits, ratio(d, lease)), max(most, n)
					if n > c.requests {
						over++
					}
				}
			})
			f := summary(waits)
			report(t, row{
				4, fmt.Sprintf("giving up on a live holder, %s, %s", lease, c.what),
				fmt.Sprintf("median ≤ %.2f, max ≤ %.2f, requests ≤ %d", c.limit.median, c.limit.max, c.requests),
				fmt.Sprintf("%s, requests ≤ %d in %d of %d (most %d)", f, c.requests, runs-over, runs, most),
				check(f.within(c.limit) && over == 0),
			})
		}
	}
}

// TestGiveUpAtOnce is the same for processes that do not watch a holder that is
// on schedule.
func TestGiveUpAtOnce(t *testing.T) {
	const runs = 200
	for _, lease := range leases {
		watched, most := 0, time.Duration(0)
		usual(t, func(w *world) {
			for i := range runs {
				d, n := w.giveUp(i, runs, lease, false, lockkit.GiveUpOnSchedule())
				if n > 1 {
					watched++
				}
				most = max(most, d)
			}
		})
		report(t, row{
			4.5, fmt.Sprintf("the same at once, holder on schedule, %s", lease), "no wait, 1 request",
			fmt.Sprintf("1 request in %d of %d, longest %s", runs-watched, runs, most.Round(time.Millisecond)), check(watched == 0),
		})
	}
}

// giveUp is one short-lived process, and how long and how many requests it took.
func (w *world) giveUp(i, runs int, lease time.Duration, noHints bool, option lockkit.AcquireOption) (time.Duration, int) {
	w.t.Helper()
	name := fmt.Sprint(i)
	l := w.acquire(w.locks(&process{}), name, lease)
	time.Sleep(2*lease + w.spread(i, runs, lease))
	p := &process{ahead: w.skew(), noHints: noHints}
	start := time.Now()
	_, err := w.locks(p).Acquire(w.t.Context(), name, lease, option)
	d := time.Since(start)
	if held, ok := errors.AsType[*lockkit.HeldError](err); !ok || !held.Alive {
		w.t.Fatalf("got %v, want a live holder", err)
	}
	w.release(l)
	return d, p.since(time.Time{}).all()
}
