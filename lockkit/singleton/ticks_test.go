package singleton_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit/singleton"
)

func TestCompletedTickCostsTwoRequestsOnAFreeLock(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), does(time.Second))
		w.want(res, err, singleton.Completed)
		w.requests("WW")
		if !res.Marked || !w.doneTick().Equal(w.due) || w.held() {
			t.Errorf("marked %v, item %v", res.Marked, w.item())
		}
		if res.WorkedMS != 1000 || res.Requests != 2 || res.Token == 0 || res.RequestID != "req-1" {
			t.Errorf("result %+v", res)
		}
	})
}

func TestGuaranteeDoneTickIsNotRunAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		res, err := w.invoke(p, spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		time.Sleep(time.Hour)
		for _, q := range []*process{p, w.process("b")} {
			w.db.ResetRequests()
			res, err = w.invoke(q, spec, w.scheduled(0), mustNotRun(t))
			w.want(res, err, singleton.Duplicate)
			w.requests("w")
			if !res.DoneTick.Equal(w.due) || res.Requests != 1 {
				t.Errorf("result %+v", res)
			}
		}
	})
}

func TestGuaranteeOlderTickIsNotRun(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, err := w.invoke(p, spec, w.scheduled(time.Second), does(0))
		if err != nil {
			t.Fatal(err)
		}
		w.db.ResetRequests()
		res, err := w.invoke(p, spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Superseded)
		w.requests("w")
		if !res.DoneTick.Equal(w.due.Add(time.Second)) {
			t.Errorf("result %+v", res)
		}
		if w.doneTick() != w.due.Add(time.Second) {
			t.Errorf("the last completed tick went back to %v", w.doneTick())
		}
	})
}

func mustNotRun(t *testing.T) singleton.Work {
	t.Helper()
	return func(context.Context, *singleton.Run) error {
		t.Error("the work was called")
		return nil
	}
}

func TestManyDeliveriesOfOneTickAreOneRun(t *testing.T) {
	inWorld(t, func(w *world) {
		const copies = 20
		var ran atomic.Int64
		var mu sync.Mutex
		got := map[singleton.Outcome]int{}
		var all sync.WaitGroup
		for range copies {
			p := w.process("")
			all.Go(func() {
				res, err := w.invoke(p, spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					ran.Add(1)
					return does(20*time.Second)(ctx, run)
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got[res.Outcome]++
			})
		}
		all.Wait()
		if ran.Load() != 1 || got[singleton.Completed] != 1 || got[singleton.Duplicate] != copies-1 {
			t.Errorf("ran %d times, outcomes %v", ran.Load(), got)
		}
		time.Sleep(time.Hour)
		w.db.ResetRequests()
		res, err := w.invoke(w.process(""), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Duplicate)
		w.requests("w")
	})
}

func TestScheduleFasterThanTheJobDoesNotPileUp(t *testing.T) {
	inWorld(t, func(w *world) {
		const ticks = 10 // one a minute, of 80 s of work
		got := make([]singleton.Outcome, ticks)
		var working, most atomic.Int64
		var all sync.WaitGroup
		for i := range ticks {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Minute)
				res, _ := w.invoke(w.process(""), spec, w.scheduled(time.Duration(i)*time.Minute), func(ctx context.Context, run *singleton.Run) error {
					most.Store(max(most.Load(), working.Add(1)))
					defer working.Add(-1)
					return does(80*time.Second)(ctx, run)
				})
				got[i] = res.Outcome
			})
		}
		all.Wait()
		for i, outcome := range got {
			if want := [...]singleton.Outcome{singleton.Completed, singleton.Skipped}[i%2]; outcome != want {
				t.Errorf("tick %d: %s, want %s", i, outcome, want)
			}
		}
		if most.Load() != 1 {
			t.Errorf("%d at a time", most.Load())
		}
	})
}

// Where ticks queue up for the only process, because they come faster than the job
// works, the age limit keeps the queue short: what is too old is dropped without a
// request, and each has its line, so that they can be counted.
func TestTicksThatQueueUpAreDroppedAndCounted(t *testing.T) {
	inWorld(t, func(w *world) {
		const ticks = 60
		p, j := w.process("a"), spec
		j.MaxAge = 2 * time.Minute
		var log lines
		got := map[singleton.Outcome]int{}
		for i := range ticks {
			due := time.Duration(i) * time.Minute
			time.Sleep(time.Until(w.due.Add(due + time.Second)))
			w.db.ResetRequests()
			res, err := w.invoke(p, j, w.scheduled(due), func(ctx context.Context, run *singleton.Run) error {
				if age := time.Since(run.Tick); age > j.MaxAge {
					t.Errorf("tick %d runs %s late", i, age)
				}
				return does(80*time.Second)(ctx, run)
			}, log.option())
			if err != nil {
				t.Error(err)
			}
			if res.Outcome == singleton.Expired {
				w.requests("")
			}
			got[res.Outcome]++
		}
		if late := time.Since(w.due.Add(ticks * time.Minute)); late > j.MaxAge+80*time.Second {
			t.Errorf("the queue is %s behind", late)
		}
		// Of 60 minutes each run takes 80 seconds.
		if got[singleton.Completed] < 44 || got[singleton.Expired] < 10 || got[singleton.Completed]+got[singleton.Expired] != ticks {
			t.Errorf("outcomes %v", got)
		}
		if n := strings.Count(log.String(), `"outcome":"expired"`); n != got[singleton.Expired] {
			t.Errorf("%d lines of %d ticks that were dropped", n, got[singleton.Expired])
		}
	})
}

func TestTickOlderThanTheAgeLimitIsExpiredWithoutARequest(t *testing.T) {
	inWorld(t, func(w *world) {
		p, s := w.process("a"), spec
		s.MaxAge = time.Minute
		time.Sleep(59 * time.Second) // due one second before
		if res, err := w.invoke(p, s, w.scheduled(0), does(0)); res.Outcome != singleton.Completed {
			t.Errorf("at the limit: %+v, %v", res, err)
		}
		time.Sleep(time.Millisecond)
		w.db.ResetRequests()
		res, err := w.invoke(p, s, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Expired)
		w.requests("")
		time.Sleep(24 * time.Hour)
		res, err = w.invoke(p, s, events.Tick{Time: w.due.Add(time.Millisecond)}, does(0))
		w.want(res, err, singleton.Completed) // manual: no limit
	})
}

func TestManualRunWithoutATickLeavesTicksAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
		var seen *singleton.Run
		res, err := w.invoke(p, spec, events.Tick{}, func(_ context.Context, run *singleton.Run) error { seen = run; return nil })
		w.want(res, err, singleton.Completed)
		if !seen.Tick.IsZero() || res.Marked || res.Warning != "" || !w.doneTick().Equal(w.due) {
			t.Errorf("run %+v, result %+v, done %v", seen, res, w.doneTick())
		}
	})
}

func TestForceRunsADoneTickAndNeverMovesTheTickBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(2*time.Second), does(0))
		for _, at := range []time.Duration{0, 2 * time.Second} {
			var ran time.Time
			res, err := w.invoke(p, spec, events.Tick{Time: w.due.Add(at), Force: true}, func(_ context.Context, run *singleton.Run) error { ran = run.Tick; return nil })
			w.want(res, err, singleton.Completed)
			if !ran.Equal(w.due.Add(at)) || !w.doneTick().Equal(w.due.Add(2*time.Second)) || !res.Marked || !res.Forced {
				t.Errorf("forced %s: ran %v, done %v, %+v", at, ran, w.doneTick(), res)
			}
		}
		res, err := w.invoke(p, spec, events.Tick{Time: w.due.Add(4 * time.Second), Force: true}, does(0))
		w.want(res, err, singleton.Completed)
		if !w.doneTick().Equal(w.due.Add(4 * time.Second)) {
			t.Errorf("a forced newer tick is not marked: %v", w.doneTick())
		}
	})
}

func TestFailedTickStaysOpen(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
		boom := func(context.Context, *singleton.Run) error { return errBoom }
		res, err := w.invoke(p, spec, w.scheduled(time.Second), boom)
		w.want(res, err, singleton.Failed)
		if !w.doneTick().Equal(w.due) || w.held() || res.Marked {
			t.Errorf("done %v, held %v", w.doneTick(), w.held())
		}
		res, err = w.invoke(p, spec, w.scheduled(time.Second), does(0))
		w.want(res, err, singleton.Completed)
	})
}

func TestTickAttributeThatIsNoNumberBlocksAndSaysSo(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
		w.put(map[string]av{"tick": s("yesterday")})
		res, err := w.invoke(p, spec, w.scheduled(time.Second), mustNotRun(t))
		w.want(res, err, singleton.Blocked)
		if !strings.Contains(err.Error(), "Unix milliseconds") {
			t.Error(err)
		}
	})
}
