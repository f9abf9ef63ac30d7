package lockkit_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// same fails unless two items are equal.
func same(t *testing.T, want, got map[string]types.AttributeValue) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Errorf("the item changed\nfrom %#v\nto   %#v", want, got)
	}
}

func TestGuaranteeTokensRise(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		last := time.Now().UnixMilli() // the first token starts from the wall clock
		for i := range 20 {
			l := w.acquire(w.process())
			if l.Token() != last+1 {
				t.Errorf("acquire %d: token %d follows %d", i, l.Token(), last)
			}
			last = l.Token()
			if i%2 == 0 {
				w.release(l)
			} else {
				w.crash(l)
			}
		}
	})
}

func TestGuaranteeTokensSurviveDeletion(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		time.Sleep(10 * time.Millisecond)
		if err := w.db.Delete(table, key()); err != nil {
			t.Fatal(err)
		}
		next := w.acquire(w.process())
		if next.Token() <= l.Token() {
			t.Errorf("token %d after the deletion, %d before", next.Token(), l.Token())
		}
		if err := l.Renew(t.Context()); !errors.Is(err, lockkit.ErrLeaseLost) {
			t.Errorf("the deleted lock's holder renewed: %v", err)
		}
		w.release(next)
	})
}

// A holder that runs is told before a contender may have the lock, whether its
// requests fail at once, hang, or lose their answers, and however far the wall
// clock stands off.
func TestGuaranteeHolderStopsFirst(t *testing.T) {
	for _, kind := range []locktest.FaultKind{locktest.FaultFailBefore, locktest.FaultBlackHole, locktest.FaultDropAnswer, locktest.FaultThrottle} {
		t.Run(kind.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				var lost time.Time
				wait := background(func() { <-l.Done(); lost = time.Now() })
				var next *lockkit.Lease
				var taken time.Time
				waitNext := background(func() {
					next = w.acquire(w.process())
					taken = time.Now()
				})
				time.Sleep(lease + lease/2)
				cut := time.Now()
				w.db.Inject(locktest.Fault{Kind: kind, Count: -1, Match: func(r locktest.FaultRequest) bool { return sentBy(r, l) }})
				wait()
				waitNext()
				if !lost.Before(taken) {
					t.Errorf("lost at %s, taken over at %s after the cut", lost.Sub(cut), taken.Sub(cut))
				}
				// A lost answer is an applied renewal, so the holder's item looks alive
				// for longer than the holder itself does.
				if d := lost.Sub(cut); d > lease {
					t.Errorf("the loss was signalled %s after the cut, want within a lease", d)
				}
				ended, ok := errors.AsType[*lockkit.EndedError](l.Err())
				if !ok || ended.Reason != lockkit.ReasonExpired || ended.Err == nil {
					t.Errorf("ended by %v, want expired, with the failed renewal", l.Err())
				}
				w.release(next)
			})
		})
	}
}

func TestLossSignalComesTheMarginBeforeTheEnd(t *testing.T) {
	for _, c := range []struct {
		margin float64
		at     time.Duration
	}{{0.1, 27 * time.Second}, {0, 30 * time.Second}, {0.25, 22500 * time.Millisecond}} {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process(lockkit.WithSafetyMargin(c.margin)))
			w.crash(l)
			if d := elapsed(func() { <-l.Done() }); d != c.at {
				t.Errorf("margin %v: signal after %s, want %s", c.margin, d, c.at)
			}
		})
	}
}

func TestGuaranteeLosingIsFinal(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		// The renewal is applied, and its answer comes after the lease.
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDelayAnswer, Wait: 2 * lease, Count: -1})
		<-l.Done()
		w.db.ResetRequests()
		time.Sleep(3*lease + time.Second)
		first := l.Err()
		if err := l.Renew(t.Context()); !errors.Is(err, lockkit.ErrLeaseLost) || !errors.Is(err, first) {
			t.Errorf("renewed to %v, want %v", err, first)
		}
		if len(w.db.Requests()) != 0 {
			t.Errorf("%d requests for a lost lease", len(w.db.Requests()))
		}
	})
}

func TestLateAnswerOfAnAcquire(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		// Every try is applied; no answer comes in time but the last's.
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Wait: 2500 * time.Millisecond, Count: 3})
		l, err := w.process().Acquire(t.Context(), name, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(l.Err(), lockkit.ErrLeaseLost) {
			t.Errorf("the lease is %v, want one that has ended", l.Err())
		}
		select {
		case <-l.Done():
		default:
			t.Error("Done is open on a lease that has ended")
		}
		ctx, cancel := l.Context(t.Context())
		defer cancel()
		if !errors.Is(context.Cause(ctx), lockkit.ErrLeaseLost) {
			t.Errorf("its context has the cause %v", context.Cause(ctx))
		}
		w.release(l)
		if st, _ := w.process().State(t.Context(), name); st.Held {
			t.Error("the lock was not given back")
		}
	})
}

// write is a user's write in one transaction with the held check.
func (w *world) write(l *lockkit.Lease, value string) error {
	_, err := w.client.TransactWriteItems(w.t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		l.ConditionCheck(),
		{Put: &types.Put{TableName: aws.String(table), Item: map[string]types.AttributeValue{"pk": s("report"), "sk": s("report"), "v": s(value)}}},
	}})
	return err
}

func TestGuaranteeHeldCheckRefusesStale(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		stale := w.acquire(w.process())
		if err := w.write(stale, "first"); err != nil {
			t.Fatal(err)
		}
		w.crash(stale)
		next := w.acquire(w.process())
		if err := w.write(next, "second"); err != nil {
			t.Fatal(err)
		}
		refusedBy := func(l *lockkit.Lease, when string) {
			cancelled, ok := errors.AsType[*types.TransactionCanceledException](w.write(l, "stale"))
			if !ok || aws.ToString(cancelled.CancellationReasons[0].Code) != "ConditionalCheckFailed" {
				t.Errorf("%s: a stale write was not refused by the held check", when)
			}
		}
		refusedBy(stale, "taken over")
		w.release(next)
		refusedBy(next, "released")
		refusedBy(stale, "free")
		if err := w.db.Delete(table, key()); err != nil {
			t.Fatal(err)
		}
		refusedBy(next, "deleted")
		got := w.db.Item(table, map[string]types.AttributeValue{"pk": s("report"), "sk": s("report")})
		if v := got["v"].(*types.AttributeValueMemberS).Value; v != "second" {
			t.Errorf("the table holds %q", v)
		}
	})
}

func TestGuaranteeDeadHolderIsReplaced(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process(lockkit.WithHolderLabel("pod-1")))
		var next *lockkit.Lease
		wait := background(func() { next = w.acquire(w.process()) })
		time.Sleep(10 * lease)
		last := time.Now() // a renewal is due, and sent, at this moment
		time.Sleep(time.Millisecond)
		w.crash(l)
		w.db.ResetRequests()
		wait()
		if part := float64(time.Since(last)) / float64(lease); part < 1 || part > 1.08 {
			t.Errorf("taken over %.3f leases after the last renewal, want 1.00 to 1.08", part)
		}
		if got := w.counts(); got.refused != 0 || got.reads > 4 {
			t.Errorf("the waiter took %+v, want no refused write and at most 4 reads", got)
		}
		if former, ok := next.Takeover(); !ok || former.Holder != "pod-1" || former.Token != l.Token() || former.Owner != l.Owner() || former.Lease != lease {
			t.Errorf("taken over from %+v", former)
		}
		w.release(next)

		// A newcomer, who finds it dead.
		dead := w.acquire(w.process())
		w.crash(dead)
		time.Sleep(2*lease + time.Second)
		w.db.ResetRequests()
		waited := elapsed(func() { next = w.acquire(w.process()) })
		if waited < lease || waited > lease*102/100 {
			t.Errorf("a newcomer waited %s", waited)
		}
		if got := w.counts(); got != (counts{writes: 1, refused: 1, reads: 2}) {
			t.Errorf("a newcomer took %+v, want 4 requests", got)
		}
		w.release(next)
	})
}

func TestGuaranteeForeignItemIsLeftAlone(t *testing.T) {
	// The refusals are in TestNotALock; here the item turns foreign under a holder.
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.plant(map[string]types.AttributeValue{"_type": s("ORDER"), "total": n("5")})
		before := w.item()
		<-l.Done()
		if ended, ok := errors.AsType[*lockkit.EndedError](l.Err()); !ok || ended.Reason != lockkit.ReasonTakenOver {
			t.Errorf("ended by %v", l.Err())
		}
		if err := l.Release(t.Context()); !errors.Is(err, lockkit.ErrLeaseLost) {
			t.Errorf("release: %v", err)
		}
		same(t, before, w.item())
	})
}

func TestGuaranteeReleaseSparesSuccessor(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		back := w.crash(l)
		next := w.acquire(w.process())
		before := w.item()
		// The old holder is back, and its release reaches the table.
		back()
		if err := l.Release(t.Context()); err == nil {
			t.Error("a late release reports success")
		}
		same(t, before, w.item())
		if err := next.Err(); err != nil {
			t.Error(err)
		}
		w.release(next)
	})
}
