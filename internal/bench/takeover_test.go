//go:build bench

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// waiting is a way to wait for a lock whose holder dies.
type waiting struct {
	what  string
	ahead func(*world) time.Duration // the waiter's wall clock against the holder's
	noHints,
	control bool
	options func(lease time.Duration) []lockkit.Option
	limit   figures
}

var (
	withHint    = figures{1.03, 1.08}
	withoutHint = figures{1.08, 1.15}
)

func off(d time.Duration) func(*world) time.Duration {
	return func(*world) time.Duration { return d }
}

func waitings() []waiting {
	return []waiting{
		{what: "with the hint", ahead: (*world).skew, limit: withHint},
		{what: "without the hint", ahead: (*world).skew, noHints: true, limit: withoutHint},
		{what: "clock 100 ms ahead", ahead: off(100 * time.Millisecond), limit: withoutHint},
		{what: "clock 100 ms behind", ahead: off(-100 * time.Millisecond), limit: withoutHint},
		{what: "control: a look every third of the lease", ahead: (*world).skew, control: true, options: func(lease time.Duration) []lockkit.Option {
			// The interval is drawn from half of it to all of it.
			return []lockkit.Option{lockkit.WithPollInterval(lease * 4 / 9)}
		}},
	}
}

// taken is what waiters met over many runs.
type taken struct {
	after          []float64 // multiples of the lease, from the send of the last renewal
	reads, refused int       // the most in one lease, and in all
}

// TestTakeoverByAWaiter lets a waiter that is already there take over from a
// holder that dies at a random moment. Counted from the send of the last renewal
// to the return of Acquire.
func TestTakeoverByAWaiter(t *testing.T) {
	for _, way := range waitings() {
		var worst figures
		for _, lease := range leases {
			var got taken
			usual(t, func(w *world) { got = w.takeovers(way, lease, 150) })
			f := summary(got.after)
			worst = worst.worst(f)
			r := row{
				2, fmt.Sprintf("takeover by a waiter, %s, %s", lease, way.what),
				fmt.Sprintf("median ≤ %.2f, max ≤ %.2f, reads per lease ≤ 4, refused 1", way.limit.median, way.limit.max),
				fmt.Sprintf("%s, reads %d, refused %d", f, got.reads, got.refused),
				check(f.within(way.limit) && got.reads <= 4 && got.refused <= 1),
			}
			if way.control {
				r.want, r.verdict = "", control
			}
			report(t, r)
		}
	}
}

func (w *world) takeovers(way waiting, lease time.Duration, runs int) taken {
	w.t.Helper()
	var got taken
	for i := range runs {
		name := fmt.Sprintf("%s-%d", lockName, i)
		holder, waiter := &process{}, &process{ahead: way.ahead(w), noHints: way.noHints}
		w.acquire(w.locks(holder), name, lease)
		time.AfterFunc(10*lease+w.between(0, lease), func() { holder.dead.Store(true) })
		time.Sleep(w.spread(i, runs, 3*lease))
		var opts []lockkit.Option
		if way.options != nil {
			opts = way.options(lease)
		}
		l := w.acquire(w.locks(waiter, opts...), name, lease)
		got.after = append(got.after, ratio(time.Since(holder.last()), lease))
		got.reads = max(got.reads, waiter.busiest(lease))
		got.refused = max(got.refused, waiter.since(time.Time{}).refused)
		w.release(l)
	}
	return got
}
