package lockkit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestRelease(t *testing.T) {
	t.Run("twice, and from many goroutines", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			w.db.ResetRequests()
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if err := l.Release(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if got := w.counts(); got != (counts{writes: 1}) {
				t.Errorf("%+v, want 1 write", got)
			}
		})
	})
	t.Run("an expired lease is given back", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			stop := w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultFailBefore, Count: -1})
			<-l.Done()
			stop()
			w.release(l)
			if st, _ := w.process().State(t.Context(), name); st.Held {
				t.Error("still held")
			}
		})
	})
	t.Run("no answer", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			stop := w.db.Inject(locktest.Fault{Kind: locktest.FaultBlackHole, Count: -1})
			var err error
			if d := elapsed(func() { err = l.Release(t.Context()) }); err == nil || d > 5*time.Second {
				t.Errorf("returned %v after %s, want an error within 5 s", err, d)
			}
			if !errors.Is(l.Err(), lockkit.ErrReleased) {
				t.Errorf("Err is %v", l.Err())
			}
			stop()
			w.release(l) // a later call tries again
			if st, _ := w.process().State(t.Context(), name); st.Held {
				t.Error("still held")
			}
		})
	})
	t.Run("applied without an answer, and tried again by a later call", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			stop := w.db.Inject(locktest.Fault{Kind: locktest.FaultDropAnswer, Wait: 5 * time.Second, Count: -1})
			if err := l.Release(t.Context()); err == nil {
				t.Fatal("no answer is no error")
			}
			stop()
			next := w.acquire(w.process())
			w.release(l) // the later token proves that the first call's was applied
			w.release(next)
		})
	})
	t.Run("a deadline ahead bounds it", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			w.db.Inject(locktest.Fault{Kind: locktest.FaultBlackHole, Count: -1})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if d := elapsed(func() { _ = l.Release(ctx) }); d > time.Second {
				t.Errorf("took %s", d)
			}
		})
	})
	t.Run("while a renewal hangs", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultBlackHole})
			time.Sleep(lease/3 + time.Millisecond)
			if d := elapsed(func() { w.release(l) }); d > 100*time.Millisecond {
				t.Errorf("waited %s for the renewal", d)
			}
		})
	})
}
