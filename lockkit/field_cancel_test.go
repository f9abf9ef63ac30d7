package lockkit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// Wherever a caller's ctx finds an acquire, it returns soon, and what it may have
// got is given back.
func TestACancelLeavesNoLock(t *testing.T) {
	lost := locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Count: 4}
	late := locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDelayAnswer, Wait: 2 * time.Second}
	for _, c := range []struct {
		name   string
		faults []locktest.Fault
		after  time.Duration
		opts   []lockkit.AcquireOption
	}{
		{"in a request that was applied", []locktest.Fault{late}, time.Second, nil},
		{"in the pause before it is sent again", []locktest.Fault{lost}, 20 * time.Millisecond, nil},
		{"in the pause of one that keeps trying", []locktest.Fault{lost}, time.Second, []lockkit.AcquireOption{lockkit.KeepTrying()}},
		{"in the read of one that keeps trying", []locktest.Fault{lost, {Operation: "GetItem", Kind: locktest.FaultBlackHole}}, 1500 * time.Millisecond, []lockkit.AcquireOption{lockkit.KeepTrying()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				for _, f := range c.faults {
					w.db.Inject(f)
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(c.after, cancel)
				var err error
				if d := elapsed(func() { _, err = w.process().Acquire(ctx, name, lease, c.opts...) }); d < c.after || d > c.after+100*time.Millisecond {
					t.Errorf("returned after %s, want within 100ms of %s", d, c.after)
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("returned %v", err)
				}
				if st, err := w.process().State(t.Context(), name); err != nil || !st.Exists || st.Held {
					t.Errorf("the lock is %+v, %v, want one that was taken and given back", st, err)
				}
			})
		})
	}
}

// An acquire that gives up because no answer came gives back what it may have got,
// too.
func TestAnAcquireWithoutAnswersLeavesNoLock(t *testing.T) {
	for _, fault := range []locktest.Fault{
		{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Count: 4},
		{Operation: "UpdateItem", Kind: locktest.FaultDelayAnswer, Wait: 2 * lease, Count: -1},
	} {
		t.Run(fault.Kind.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				stop := w.db.Inject(fault)
				if _, err := w.process().Acquire(t.Context(), name, lease); err == nil || !lockkit.IsTransient(err) {
					t.Fatalf("got %v, want a failure that may pass", err)
				}
				stop()
				if st, err := w.process().State(t.Context(), name); err != nil || !st.Exists || st.Held {
					t.Errorf("the lock is %+v, %v, want one that was taken and given back", st, err)
				}
			})
		})
	}
}

// One that has seen since what became of its write has nothing to give back.
func TestAHeldLockIsNotGivenBack(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.plant(holder("other", "v", "7"))
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer})
		if _, err := w.process().TryAcquire(t.Context(), name, lease); !errors.Is(err, lockkit.ErrHeld) {
			t.Errorf("got %v, want held", err)
		}
		if got := w.counts(); got != (counts{refused: 2}) {
			t.Errorf("%+v, want the write and the try that tells", got)
		}
	})
}

// A process of an election stops as fast.
func TestACancelledElectionLeavesNoLock(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault locktest.Fault
		after time.Duration
	}{
		{"before the call", locktest.Fault{}, 0},
		{"in its first request", locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDelayAnswer, Wait: 10 * time.Second}, time.Second},
		{"in the pause of an outage", locktest.Fault{Kind: locktest.FaultFailBefore, Count: -1}, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				stop := w.db.Inject(c.fault)
				ctx, cancel := context.WithCancel(t.Context())
				if c.after == 0 {
					cancel()
				} else {
					time.AfterFunc(c.after, cancel)
				}
				var err error
				if d := elapsed(func() {
					err = w.process().RunAsLeader(ctx, name, lease, func(context.Context) error { t.Error("a term began"); return nil })
				}); d > c.after+100*time.Millisecond {
					t.Errorf("returned after %s, want within 100ms of %s", d, c.after)
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("returned %v", err)
				}
				stop()
				if st, err := w.process().State(t.Context(), name); err != nil || st.Held {
					t.Errorf("the lock is %+v, %v", st, err)
				}
			})
		})
	}
}

// One goroutine's release ends the wait of another in the same process, and
// neither holds up the other.
func TestAReleaseWhileAnotherGoroutineWaits(t *testing.T) {
	const long = 60 * time.Second
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		first, err := locks.Acquire(t.Context(), name, long)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var next *lockkit.Lease
		waitNext := background(func() { next, _ = locks.Acquire(t.Context(), name, long) })
		var cut error
		waitCut := background(func() { _, cut = locks.Acquire(ctx, name, long) })
		time.Sleep(3 * time.Second)
		cancel()
		if d := elapsed(waitCut); d != 0 || !errors.Is(cut, context.Canceled) {
			t.Errorf("the cancelled waiter returned %v after %s", cut, d)
		}
		if d := elapsed(func() { w.release(first) }); d != 0 {
			t.Errorf("the release took %s", d)
		}
		waitNext()
		if next == nil || next.Err() != nil || next.Token() != first.Token()+1 {
			t.Fatalf("the other waiter got %+v", next)
		}
		w.release(next)
	})
}

// A call that waits for the lease's lane returns with its ctx, and a release gets
// whatever hangs there out of the way.
func TestTheLaneHoldsUpNobody(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultBlackHole, Count: -1})
		txCtx, stop := context.WithCancel(t.Context())
		defer stop()
		wait := background(func() { _ = l.Transact(txCtx, count()) })
		time.Sleep(time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		var err error
		if d := elapsed(func() { err = l.Renew(ctx) }); d > 100*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("renew behind a hung transaction: %v after %s", err, d)
		}
		if d := elapsed(func() { err = l.Transact(ctx, count()) }); d > 100*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lockkit.ErrUnknownOutcome) {
			t.Errorf("transact behind a hung transaction: %v after %s", err, d)
		}
		stop()
		if d := elapsed(wait); d > 100*time.Millisecond {
			t.Errorf("the hung transaction went on for %s", d)
		}
		w.release(l)
	})
}
