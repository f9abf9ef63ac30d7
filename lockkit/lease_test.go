package lockkit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/internal/trial"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestReasonsOfALoss(t *testing.T) {
	for _, c := range []struct {
		want lockkit.Reason
		do   func(w *world, l *lockkit.Lease)
	}{
		{lockkit.ReasonTakenOver, func(w *world, _ *lockkit.Lease) { w.plant(holder("other", "v", "99")) }},
		{lockkit.ReasonTakenOver, func(w *world, l *lockkit.Lease) { // freed by somebody
			item := w.item()
			delete(item, "owner")
			w.plant(item)
		}},
		{lockkit.ReasonTakenOver, func(w *world, l *lockkit.Lease) { // same owner, other token
			w.plant(with(w.item(), "fence", n("5")))
		}},
		{lockkit.ReasonDeleted, func(w *world, _ *lockkit.Lease) { _ = w.db.Delete(table, key()) }},
		{lockkit.ReasonTableNotFound, func(w *world, _ *lockkit.Lease) {
			w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "ResourceNotFoundException", Count: -1})
		}},
		{lockkit.ReasonExpired, func(w *world, l *lockkit.Lease) { w.crash(l) }},
		{lockkit.ReasonExpired, func(w *world, _ *lockkit.Lease) { // reads work, writes do not
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1})
		}},
		{lockkit.ReasonReleased, func(w *world, l *lockkit.Lease) { w.release(l) }},
	} {
		t.Run(string(c.want), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				ctx, cancel := l.Context(t.Context())
				defer cancel()
				c.do(w, l)
				waited := elapsed(func() { <-ctx.Done() })
				if waited > lease {
					t.Errorf("signalled after %s, want within the lease", waited)
				}
				cause, ok := errors.AsType[*lockkit.EndedError](context.Cause(ctx))
				if !ok || cause.Reason != c.want || cause.Lock != name || cause.Token != l.Token() {
					t.Errorf("cause %v, want %s", context.Cause(ctx), c.want)
				}
				if !errors.Is(l.Err(), cause) {
					t.Errorf("Err is %v", l.Err())
				}
				if lost := errors.Is(cause, lockkit.ErrLeaseLost); lost == (c.want == lockkit.ReasonReleased) || lost == errors.Is(cause, lockkit.ErrReleased) {
					t.Errorf("%v matches the wrong sentinel", cause)
				}
				<-l.Done()
				if c.want == lockkit.ReasonDeleted && w.item() != nil {
					t.Error("the deleted item is back")
				}
			})
		})
	}
}

func TestKeptThroughPassingFailures(t *testing.T) {
	for _, code := range []string{
		"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded", "InternalServerError",
		"TransactionConflictException", "AccessDeniedException", "UnrecognizedClientException",
	} {
		t.Run(code, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultError, Code: code, Count: 6})
				time.Sleep(3*lease + time.Second)
				if err := l.Err(); err != nil {
					t.Error(err)
				}
				w.release(l)
			})
		})
	}
}

// After a black hole the next call must still fit into the lease.
func TestBlackHoleLeavesTimeForAnotherTry(t *testing.T) {
	for _, d := range []time.Duration{time.Second, 3 * time.Second, lease, 24 * time.Hour} {
		inWorld(t, func(w *world) {
			t := w.t
			l, err := w.process().Acquire(t.Context(), name, d)
			if err != nil {
				t.Fatal(err)
			}
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultBlackHole})
			time.Sleep(2 * d)
			if err := l.Err(); err != nil {
				t.Errorf("lease of %s: %v", d, err)
			}
			w.release(l)
		})
	}
}

func TestARefusalWithoutTheItem(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		plain := w.stripItems()
		w.plant(holder("dead", "v", "7"))
		w.db.ResetRequests()
		l := w.acquire(plain)
		if got := w.counts(); got.refused != 1 || got.writes != 1 {
			t.Errorf("took over with %+v", got)
		}
		w.release(l)
		if err := w.db.Delete(table, key()); err != nil {
			t.Fatal(err)
		}
		l = w.acquire(plain)
		w.plant(holder("other", "v", "99"))
		if err := l.Renew(t.Context()); !errors.Is(err, lockkit.ErrLeaseLost) {
			t.Errorf("renewed to %v", err)
		}
		if err := w.db.Delete(table, key()); err != nil {
			t.Fatal(err)
		}
		l = w.acquire(plain)
		if err := w.db.Delete(table, key()); err != nil {
			t.Fatal(err)
		}
		err := l.Renew(t.Context())
		if ended, ok := errors.AsType[*lockkit.EndedError](err); !ok || ended.Reason != lockkit.ReasonDeleted {
			t.Errorf("renewed to %v, want deleted", err)
		}
	})
}

func TestSecondLeaseHasItsOwnHeartbeat(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		w.release(w.acquire(locks))
		l := w.acquire(locks)
		ctx, cancel := context.WithTimeout(t.Context(), 3*lease)
		defer cancel()
		if _, err := w.process().Acquire(ctx, name, lease); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the contender got %v, want to wait until its deadline", err)
		}
		w.release(l)
	})
}

func TestRenewAfterTheLease(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			stop := w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultFailBefore, Count: -1})
			time.Sleep(lease)
			stop()
			if deleted {
				_ = w.db.Delete(table, key())
			}
			if err := l.Renew(t.Context()); !errors.Is(err, lockkit.ErrLeaseLost) {
				t.Errorf("renewed to %v", err)
			}
			if deleted && w.item() != nil {
				t.Error("the deleted item is back")
			}
		})
	}
}

func TestRenewReturnsOtherErrors(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultThrottle})
		if err := l.Renew(t.Context()); err == nil || errors.Is(err, lockkit.ErrLeaseLost) {
			t.Errorf("got %v, want the throttling", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Renew(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the ctx error", err)
		}
		time.Sleep(2*lease + time.Second)
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		w.release(l)
	})
}

func TestLeaseContext(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		parent, stop := context.WithCancel(t.Context())
		child, cancel := l.Context(parent)
		stop()
		if <-child.Done(); l.Err() != nil || !errors.Is(context.Cause(child), context.Canceled) {
			t.Errorf("the parent's end gave %v, lease %v", context.Cause(child), l.Err())
		}
		cancel()
		cancel()
		open, cancelOpen := l.Context(t.Context())
		cancelOpen()
		<-open.Done()
		w.release(l)
	})
}

// An idle lease is timers only: the bubble's other goroutines are all asleep, and
// none of them is the lease's.
func TestIdleLeaseHasNoGoroutine(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		before := trial.Goroutines()
		var leases []*lockkit.Lease
		for i := range 100 {
			l, err := locks.Acquire(t.Context(), "lock-"+string(rune('a'+i%26))+string(rune('a'+i/26)), lease)
			if err != nil {
				t.Fatal(err)
			}
			leases = append(leases, l)
		}
		synctest.Wait()
		if after := trial.Goroutines(); after > before {
			t.Errorf("%d goroutines with 100 leases, %d before", after, before)
		}
		for _, l := range leases {
			w.release(l)
		}
	})
}

func TestParallelUse(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDelay, Wait: 7 * time.Millisecond, Count: -1})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 20 {
					ctx, cancel := l.Context(t.Context())
					_ = l.Err()
					_ = l.Token()
					_ = l.Renew(ctx)
					_ = l.ConditionCheck()
					cancel()
				}
			})
		}
		all.Go(func() { time.Sleep(700 * time.Millisecond); _ = l.Release(t.Context()) })
		all.Wait()
		<-l.Done()
		if st, _ := w.process().State(t.Context(), name); st.Held {
			t.Error("still held")
		}
	})
}
