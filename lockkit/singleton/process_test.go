package singleton_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/lockkit/internal/trial"
	"github.com/solotick/solotick/lockkit/singleton"
)

func TestConcurrentInvocationsInOneProcessAreOneAtATime(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		var working, most atomic.Int64
		work := func(ctx context.Context, run *singleton.Run) error {
			most.Store(max(most.Load(), working.Add(1)))
			defer working.Add(-1)
			return does(20*time.Second)(ctx, run)
		}
		got := make(chan singleton.Result, 2)
		for i := range 2 {
			go func() {
				res, _ := w.invoke(p, spec, w.scheduled(time.Duration(i)*time.Second), work)
				got <- res
			}()
		}
		a, b := <-got, <-got
		if most.Load() != 1 || a.Outcome != singleton.Skipped || b.Outcome != singleton.Completed {
			t.Errorf("%d at a time: %+v, %+v", most.Load(), a, b)
		}
	})
}

func TestJobsOfOneProcessDoNotDisturbEachOther(t *testing.T) {
	inWorld(t, func(w *world) {
		p, other := w.process("a"), spec
		other.Name = "other"
		got := make(chan singleton.Result, 1)
		go func() { res, _ := w.invoke(p, other, w.scheduled(0), does(time.Minute)); got <- res }()
		res, err := w.invoke(p, spec, w.scheduled(0), does(time.Minute))
		w.want(res, err, singleton.Completed)
		if res := <-got; res.Outcome != singleton.Completed {
			t.Errorf("%+v", res)
		}
	})
}

func TestFrozenEnvironmentServesALaterInvocation(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		for i := range 3 {
			w.db.ResetRequests()
			res, err := w.invoke(p, spec, w.scheduled(time.Duration(i)*24*time.Hour), does(15*time.Second))
			w.want(res, err, singleton.Completed)
			w.requests("WWW") // acquire, one renewal, release; nothing in between invocations
			time.Sleep(24*time.Hour - 15*time.Second)
		}
		w.requests("WWW")
	})
}

func TestNoGoroutineIsLeftBehind(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(0), does(time.Minute))
		synctest.Wait()
		before := trial.Goroutines()
		for i := range 50 {
			_, _ = w.invoke(p, spec, w.scheduled(time.Duration(i)*time.Second), does(time.Minute))
		}
		synctest.Wait()
		if after := trial.Goroutines(); after > before {
			t.Errorf("%d goroutines, %d before", after, before)
		}
	})
}
