//go:build bench

package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
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
// on schedule, by lockkit's own option and by the policy of a scheduled job.
func TestGiveUpAtOnce(t *testing.T) {
	const runs = 200
	for _, lease := range leases {
		for _, c := range []struct {
			what string
			come func(w *world, i int) (time.Duration, int)
		}{
			{"the same at once, holder on schedule", func(w *world, i int) (time.Duration, int) {
				return w.giveUp(i, runs, lease, false, lockkit.GiveUpOnSchedule())
			}},
			{"a job's run with SkipAtOnce, holder on schedule", func(w *world, i int) (time.Duration, int) {
				return w.skipAtOnce(i, runs, lease)
			}},
		} {
			more, most := 0, time.Duration(0)
			usual(t, func(w *world) {
				for i := range runs {
					d, n := c.come(w, i)
					if n != 1 {
						more++
					}
					most = max(most, d)
				}
			})
			report(t, row{
				4.5, fmt.Sprintf("%s, %s", c.what, lease), "0 x waited, 1 request",
				fmt.Sprintf("1 request in %d of %d, longest %s", runs-more, runs, most.Round(time.Millisecond)),
				check(more == 0 && most <= slowest),
			})
		}
	}
	one := time.Duration(0)
	usual(t, func(w *world) {
		for range runs {
			start := time.Now()
			if _, err := w.locks(&process{}).State(w.t.Context(), lockName); err != nil {
				t.Fatal(err)
			}
			one = max(one, time.Since(start))
		}
	})
	report(t, row{4.5, "  control: one read, which waits for nothing", "", fmt.Sprintf("longest %s", one.Round(time.Millisecond)), control})
}

// skipAtOnce is one run of a job that comes while another process holds its lock,
// and how long and how many requests it took.
func (w *world) skipAtOnce(i, runs int, lease time.Duration) (time.Duration, int) {
	w.t.Helper()
	name := fmt.Sprint(i)
	l := w.acquire(w.locks(&process{}), name, lease)
	time.Sleep(2*lease + w.spread(i, runs, lease))
	p := &process{ahead: w.skew()}
	locks := w.locks(p)
	start := time.Now()
	tick := events.Tick{Time: start.UTC().Truncate(time.Second), Source: events.KindSchedule, ID: "e1", Attempt: 1}
	res, err := singleton.Do(w.t.Context(), locks, job.Spec{Name: name, Lease: lease, Timeout: 5 * time.Minute, Policy: job.SkipAtOnce}, tick,
		func(context.Context, *singleton.Run) error { return nil })
	d := time.Since(start)
	if err != nil || res.Outcome != singleton.Skipped {
		w.t.Fatalf("got %q, %v, want %q", res.Outcome, err, singleton.Skipped)
	}
	w.release(l)
	return d, p.since(time.Time{}).all()
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
