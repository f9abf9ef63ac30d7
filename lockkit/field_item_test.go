package lockkit_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// vanishing is an endpoint that brings no item along with a refusal, and whose
// item is gone by the time it is read.
type vanishing struct {
	noItems
	vanish func()
}

func (c vanishing) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := c.noItems.UpdateItem(ctx, in, o...)
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
		c.vanish()
	}
	return out, err
}

// An item that is deleted between a refused write and the read that asks why is a
// lock without an item: an acquire tries again, and a lease has ended.
func TestTheItemGoesBetweenWriteAndRead(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks, err := lockkit.New(vanishing{noItems{w.client}, func() { _ = w.db.Delete(table, key()) }}, table)
		if err != nil {
			t.Fatal(err)
		}
		w.plant(holder("other", "v", "7"))
		var l *lockkit.Lease
		if d := elapsed(func() { l = w.acquire(locks) }); d > time.Second || l.Err() != nil {
			t.Errorf("acquired after %s: %v", d, l.Err())
		}
		w.release(l)

		w.plant(holder("other", "v", "7"))
		// A single try does not say that nobody holds it.
		if l, err = locks.TryAcquire(t.Context(), name, lease); err != nil {
			t.Fatalf("a single try: %v", err)
		}
		w.release(l)

		for what, end := range map[string]func(*lockkit.Lease) error{
			"renew":   func(l *lockkit.Lease) error { return l.Renew(t.Context()) },
			"release": func(l *lockkit.Lease) error { return l.Release(t.Context()) },
		} {
			_ = w.db.Delete(table, key())
			l = w.acquire(locks)
			w.plant(holder("other", "v", "99"))
			err := end(l)
			if ended, ok := errors.AsType[*lockkit.EndedError](err); !ok || ended.Reason != lockkit.ReasonDeleted {
				t.Errorf("%s: %v, want a lease that ended because its item is gone", what, err)
			}
			if w.item() != nil {
				t.Errorf("%s made the item again", what)
			}
		}
	})
}

// A lock that was used, released and taken again looks like a fresh one: nothing of
// a former holder is left but the token, which goes on.
func TestATakenLockLooksLikeAFreshOne(t *testing.T) {
	take := func(w *world) map[string]types.AttributeValue {
		l := w.acquire(w.process())
		item := w.item()
		for _, own := range []string{"owner", "rvn", "at", "fence"} {
			if item[own] == nil {
				w.t.Errorf("the item has no %s", own)
			}
			delete(item, own)
		}
		if at := w.item()["at"].(*types.AttributeValueMemberM).Value["owner"]; !reflect.DeepEqual(at, s(l.Owner())) {
			w.t.Errorf("the stamp is of %v", at)
		}
		w.release(l)
		return item
	}
	inWorld(t, func(w *world) {
		t := w.t
		fresh := take(w)
		full := w.process(lockkit.WithHolderLabel("pod-1"))
		l, err := full.Acquire(t.Context(), name, 2*lease, lockkit.Until(time.Now().Add(time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		w.plant(with(w.item(), "run", &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"owner": s(l.Owner())}}))
		w.release(l)
		same(t, fresh, take(w)) // released before

		l, err = full.Acquire(t.Context(), name, 2*lease, lockkit.Until(time.Now().Add(time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		w.plant(with(w.item(), "run", &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"owner": s(l.Owner())}}))
		w.crash(l)
		same(t, fresh, take(w)) // dead before
	})
}

// The name of one lock may begin with another's.
func TestLocksWhoseNamesBeginAlike(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		var leases []*lockkit.Lease
		for _, name := range []string{"a", "a#b", "a#", "LOCK#a", "LOCK", "#"} {
			l, err := locks.TryAcquire(t.Context(), name, lease)
			if err != nil {
				t.Fatalf("%q beside the others: %v", name, err)
			}
			leases = append(leases, l)
		}
		time.Sleep(2 * lease)
		for _, l := range leases {
			if err := l.Err(); err != nil {
				t.Error(err)
			}
			w.release(l)
		}
		for _, l := range leases {
			if st, err := locks.State(t.Context(), l.Name()); err != nil || st.Held || st.Token != l.Token() {
				t.Errorf("%q is %+v, %v", l.Name(), st, err)
			}
		}
	})
}
