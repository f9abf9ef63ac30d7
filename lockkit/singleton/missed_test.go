package singleton_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

const day = 24 * time.Hour

// daily is a job whose ticks are far apart, so that a lost one hurts.
var daily = job.Spec{
	Name: spec.Name, Lease: 30 * time.Second, Timeout: 5 * time.Minute, Retries: 2,
	ExpectedInterval: day, CatchUp: 7 * day,
}

// covered collects the intervals of the runs whose work was called.
type covered struct {
	mu   sync.Mutex
	all  []string
	busy int
	most int // at work at one time
}

func (c *covered) work(takes time.Duration) singleton.Work {
	return func(ctx context.Context, run *singleton.Run) error {
		c.mu.Lock()
		c.all = append(c.all, fmt.Sprintf("(%s, %s]", run.Since.Format(time.DateOnly), run.Tick.Format(time.DateOnly)))
		c.busy++
		c.most = max(c.most, c.busy)
		c.mu.Unlock()
		defer func() { c.mu.Lock(); c.busy--; c.mu.Unlock() }()
		return does(takes)(ctx, run)
	}
}

// A schedule that was off for two weeks comes back with one tick. That is one run,
// for no more than the catch-up limit; what lies further back is told once, and the
// runs after it are as ever.
func TestTwoWeeksOfMissedTicksAreOneRun(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		var c covered
		_, _ = w.invoke(p, daily, w.scheduled(0), c.work(time.Minute))
		for i, missed := range []int{14, 15} {
			at := time.Duration(missed) * day
			time.Sleep(time.Until(w.due.Add(at + time.Second)))
			res, err := w.invoke(p, daily, w.scheduled(at), c.work(time.Minute))
			w.want(res, err, singleton.Completed)
			var want *singleton.Gap
			if i == 0 {
				want = &singleton.Gap{From: w.due, To: w.due.Add(7 * day)}
			}
			if (res.Gap == nil) != (want == nil) || want != nil && *res.Gap != *want {
				t.Errorf("after %d days: gap %v, want %v", missed, res.Gap, want)
			}
		}
		name := func(days int) string { return w.due.Add(time.Duration(days) * day).Format(time.DateOnly) }
		want := []string{
			fmt.Sprintf("(%s, %s]", name(-7), name(0)), fmt.Sprintf("(%s, %s]", name(7), name(14)), fmt.Sprintf("(%s, %s]", name(14), name(15)),
		}
		if !slices.Equal(c.all, want) {
			t.Errorf("runs for %q, want %q", c.all, want)
		}
	})
}

// A queue that was stuck for two weeks delivers every tick at one instant. The age
// limit leaves one of them.
func TestTwoWeeksOfTicksDeliveredAtOnceAreOneRun(t *testing.T) {
	inWorld(t, func(w *world) {
		j := daily
		j.MaxAge = 6 * time.Hour
		var c covered
		_, _ = w.invoke(w.process("a"), j, w.scheduled(0), c.work(time.Minute))
		time.Sleep(time.Until(w.due.Add(14*day + time.Second)))
		w.db.ResetRequests()
		got := w.atOnce(j, &c)
		if len(c.all) != 2 || got[singleton.Completed] != 1 || got[singleton.Expired] != 13 || !w.doneTick().Equal(w.due.Add(14*day)) {
			t.Errorf("runs for %q, outcomes %v, done %v", c.all, got, w.doneTick())
		}
		if n := len(w.db.Requests()); n > 10 {
			t.Errorf("%d requests: an expired tick costs none", n)
		}
	})
}

// Without an age limit one of them runs too, and the others skip: they do not wait
// in line to run after it.
func TestTicksDeliveredAtOnceDoNotRunBesideEachOther(t *testing.T) {
	inWorld(t, func(w *world) {
		var c covered
		_, _ = w.invoke(w.process("a"), daily, w.scheduled(0), c.work(time.Minute))
		time.Sleep(time.Until(w.due.Add(14*day + time.Second)))
		got := w.atOnce(daily, &c)
		if c.most != 1 || got[singleton.Completed] != 1 || got[singleton.Skipped] != 13 {
			t.Errorf("%d at a time, outcomes %v, runs for %q", c.most, got, c.all)
		}
	})
}

// atOnce delivers the ticks of two weeks at one instant, each to a process of its
// own, and counts what became of them.
func (w *world) atOnce(j job.Spec, c *covered) map[singleton.Outcome]int {
	w.Helper()
	var mu sync.Mutex
	got := map[singleton.Outcome]int{}
	var all sync.WaitGroup
	for i := range 14 {
		p := w.process(fmt.Sprint("pod-", i))
		all.Go(func() {
			res, err := w.invoke(p, j, w.scheduled(time.Duration(i+1)*day), c.work(time.Minute))
			if err != nil {
				w.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[res.Outcome]++
		})
	}
	all.Wait()
	return got
}

// The process of a weekly job is replaced at the very moment of its tick: by a
// deploy with other numbers, or because it died. Wherever the old one was, the
// tick is run, in the same night where Lambda tries again and by the next tick
// where it does not, and each week is covered once.
func TestTickIsNotLostWhenItsProcessChanges(t *testing.T) {
	const week = 7 * day
	for name, c := range map[string]struct {
		retried bool
		harm    func(w *world, j job.Spec) // what becomes of the first delivery
	}{
		"before it was delivered": {true, func(*world, job.Spec) {}},
		"at work":                 {true, func(w *world, j job.Spec) { w.crash("old", j, w.scheduled(week)) }},
		"at work, not retried":    {false, func(w *world, j job.Spec) { w.crash("old", j, w.scheduled(week)) }},
		"while an older run works": {false, func(w *world, j job.Spec) {
			// It is skipped, and then the run that it was skipped for dies.
			old := w.process("old")
			begun := make(chan struct{})
			go func() {
				_, _ = w.invoke(old, j, w.scheduled(week-time.Minute), func(ctx context.Context, _ *singleton.Run) error {
					close(begun)
					<-ctx.Done()
					return ctx.Err()
				})
			}()
			<-begun
			res, err := w.invoke(w.process("new"), j, w.scheduled(week), mustNotRun(t))
			w.want(res, err, singleton.Skipped)
			old.kill()
			time.Sleep(j.Timeout)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				old := daily
				old.ExpectedInterval, old.CatchUp = week, 3*week
				_, _ = w.invoke(w.process("old"), old, w.scheduled(0), does(time.Minute))
				time.Sleep(time.Until(w.due.Add(week)))
				c.harm(w, old)
				deployed := old
				deployed.Lease, deployed.Timeout = 10*time.Second, 2*time.Minute
				ran, end := week, w.due
				if !c.retried {
					ran = 2 * week
				}
				time.Sleep(time.Until(w.due.Add(ran + time.Minute))) // Lambda's retry comes after a minute
				var since time.Time
				res, err := w.invoke(w.process("new"), deployed, w.scheduled(ran), func(_ context.Context, run *singleton.Run) error {
					since = run.Since
					return nil
				})
				w.want(res, err, singleton.Completed)
				if !since.Equal(end) || !w.doneTick().Equal(w.due.Add(ran)) || res.Gap != nil {
					t.Errorf("ran (%v, %v], want since %v; %+v", since, w.doneTick(), end, res)
				}
			})
		})
	}
}
