package lockkit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestUntilEndsTheHoldersLease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		if _, err := w.process().Acquire(t.Context(), name, lease, lockkit.Until(time.Now().Add(lease-time.Second))); err == nil || !strings.Contains(err.Error(), "29s") {
			t.Errorf("less than a lease ahead: %v", err)
		}
		if len(w.db.Requests()) != 0 {
			t.Error("it was sent")
		}
		gone := time.Now().Add(5*lease + 7*time.Second)
		l := w.acquire(w.process(), lockkit.Until(gone))
		<-l.Done()
		if left := time.Until(gone); left != lease/10 {
			t.Errorf("the loss was signalled %s before, want the margin of 3s", left)
		}
		w.db.ResetRequests()
		time.Sleep(time.Second)
		if err := l.Renew(t.Context()); !errors.Is(err, lockkit.ErrLeaseLost) || len(w.db.Requests()) != 0 {
			t.Errorf("renewed past its end: %v", err)
		}
		w.release(l)
		if _, there := w.item()["until"]; there {
			t.Error("until is left on a free lock")
		}
	})
}

func TestMaxClockSkewTakesOverAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		dead := w.acquire(w.process(), lockkit.Until(time.Now().Add(lease)))
		w.crash(dead)
		time.Sleep(lease + 2*time.Second)
		w.db.ResetRequests()
		var l *lockkit.Lease
		waited := elapsed(func() { l = w.acquire(w.process(lockkit.WithMaxClockSkew(time.Second))) })
		if waited > lease/50 || len(w.db.Requests()) != 2 {
			t.Errorf("took over after %s and %d requests, want at once with 2", waited, len(w.db.Requests()))
		}
		if former, ok := l.Takeover(); !ok || former.Token != dead.Token() {
			t.Errorf("taken over from %+v", former)
		}
		w.release(l)

		// Waiting for the moment, no longer than that.
		dead = w.acquire(w.process(), lockkit.Until(time.Now().Add(lease)))
		w.crash(dead)
		time.Sleep(lease - 3*time.Second)
		waited = elapsed(func() { l = w.acquire(w.process(lockkit.WithMaxClockSkew(time.Second))) })
		if waited < 4*time.Second || waited > 4*time.Second+100*time.Millisecond {
			t.Errorf("took over after %s, want 4s: the moment and the skew", waited)
		}
		w.release(l)
	})
}

// A stamp counts for its own holder only, and only where it was opted in.
func TestUntilOfAnotherOwnerDoesNotCount(t *testing.T) {
	past := func(owner string) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"owner": s(owner), "ms": n("1000")}}
	}
	for _, c := range []struct {
		name    string
		owner   string
		options []lockkit.Option
	}{
		{"another owner's", "older", []lockkit.Option{lockkit.WithMaxClockSkew(0)}},
		{"not opted in", "peer", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.plant(with(holder("peer", "v", "7"), "until", past(c.owner)))
				ctx, cancel := context.WithTimeout(w.t.Context(), lease-time.Second)
				defer cancel()
				if _, err := w.process(c.options...).Acquire(ctx, name, lease); !errors.Is(err, context.DeadlineExceeded) {
					w.t.Errorf("got %v, want to wait", err)
				}
			})
		})
	}
}

// An acquire that was cut off gives back what it got.
func TestACancelledAcquireLeavesNoLock(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDelayAnswer, Wait: time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		var err error
		if d := elapsed(func() { _, err = w.process().Acquire(ctx, name, lease) }); d > 110*time.Millisecond || !errors.Is(err, context.Canceled) {
			t.Errorf("returned %v after %s", err, d)
		}
		if st, _ := w.process().State(t.Context(), name); st.Held || !st.Exists {
			t.Errorf("the lock is %+v, want free", st)
		}
		if err := ctx.Err(); err == nil {
			t.Error("not cancelled")
		}
		before := len(w.db.Requests())
		if _, err := w.process().TryAcquire(ctx, name, lease); !errors.Is(err, context.Canceled) || len(w.db.Requests()) != before {
			t.Errorf("a try under an ended ctx: %v", err)
		}
	})
}
