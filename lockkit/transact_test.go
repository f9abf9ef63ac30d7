package lockkit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

var counterKey = map[string]types.AttributeValue{"pk": s("counter"), "sk": s("counter")}

// count is an action that raises a counter: applied twice, it shows.
func count() types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(table), Key: counterKey,
		UpdateExpression:          aws.String("ADD #n :one"),
		ExpressionAttributeNames:  map[string]string{"#n": "n"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": n("1")},
	}}
}

func (w *world) counted() string {
	v, ok := w.db.Item(table, counterKey)["n"].(*types.AttributeValueMemberN)
	if !ok {
		return "0"
	}
	return v.Value
}

func TestTransactCommitsAndRenews(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		time.Sleep(lease/3 - time.Second)
		w.db.ResetRequests()
		if err := l.Transact(t.Context(), count()); err != nil {
			t.Fatal(err)
		}
		if got := w.db.Requests(); len(got) != 1 || got[0].Operation != "TransactWriteItems" || w.counted() != "1" {
			t.Errorf("%d requests, counted %s", len(got), w.counted())
		}
		time.Sleep(lease/3 - time.Second) // the next renewal counts from the transaction
		if got := len(w.db.Requests()); got != 1 {
			t.Errorf("%d requests, want no renewal yet", got)
		}
		time.Sleep(lease)
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		w.release(l)
	})
}

func TestGuaranteeTransactionIsAppliedOnce(t *testing.T) {
	drop := locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultDropAnswer}
	for _, c := range []struct {
		name   string
		faults []locktest.Fault
	}{
		{"a lost answer", []locktest.Fault{drop}},
		{"two lost answers", []locktest.Fault{drop, drop}},
		{"failed before", []locktest.Fault{{Operation: "TransactWriteItems", Kind: locktest.FaultFailBefore, Count: 3}}},
		{"a conflict", []locktest.Fault{{Operation: "TransactWriteItems", Kind: locktest.FaultConflict, Count: 4}}},
		{"throttled", []locktest.Fault{{Operation: "TransactWriteItems", Kind: locktest.FaultThrottle, Count: 2}}},
		{"a black hole", []locktest.Fault{{Operation: "TransactWriteItems", Kind: locktest.FaultBlackHole}}},
		{"late by a second", []locktest.Fault{{Operation: "TransactWriteItems", Kind: locktest.FaultLate, Wait: time.Second}}},
		{"late by a lease", []locktest.Fault{{Operation: "TransactWriteItems", Kind: locktest.FaultLate, Wait: lease}}},
		{"lost, and renewed before it is sent again", []locktest.Fault{{Operation: "TransactWriteItems", Kind: locktest.FaultDropAnswer, Wait: 4 * time.Second}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				time.Sleep(lease/3 - 2*time.Second)
				for _, f := range c.faults {
					w.db.Inject(f)
				}
				if err := l.Transact(t.Context(), count()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(3*lease + time.Second)
				if got := w.counted(); got != "1" {
					t.Errorf("applied %s times", got)
				}
				if err := l.Err(); err != nil {
					t.Error(err)
				}
				w.release(l)
			})
		})
	}
}

func TestTransactOfALostLease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.plant(holder("other", "v", "99"))
		err := l.Transact(t.Context(), count())
		if !errors.Is(err, lockkit.ErrLeaseLost) || w.counted() != "0" {
			t.Errorf("got %v, counted %s", err, w.counted())
		}
		w.db.ResetRequests()
		if err := l.Transact(t.Context(), count()); !errors.Is(err, lockkit.ErrLeaseLost) || len(w.db.Requests()) != 0 {
			t.Errorf("a second time: %v with %d requests", err, len(w.db.Requests()))
		}
	})
}

func TestTransactEndsWithTheLease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.db.Inject(locktest.Fault{Kind: locktest.FaultDropAnswer, Count: -1})
		var err error
		waited := elapsed(func() { err = l.Transact(t.Context(), count()) })
		if !errors.Is(err, lockkit.ErrUnknownOutcome) || waited > lease {
			t.Errorf("got %v after %s, want the unknown outcome within the lease", err, waited)
		}
		if got := w.counted(); got != "1" {
			t.Errorf("applied %s times", got)
		}
	})
}

// A conflict that answers the second send says nothing about the first.
func TestTransactAppliesOnceWhenAConflictFollowsALostAnswer(t *testing.T) {
	for _, first := range []locktest.Fault{
		{Operation: "TransactWriteItems", Kind: locktest.FaultDropAnswer},
		{Operation: "TransactWriteItems", Kind: locktest.FaultLate, Wait: 75 * time.Millisecond},
	} {
		t.Run(first.Kind.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				w.db.Inject(first)
				w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultConflict})
				if err := l.Transact(t.Context(), count()); err != nil {
					t.Error(err)
				}
				if w.counted() != "1" {
					t.Errorf("counted %s, want the transaction applied once", w.counted())
				}
				w.release(l)
			})
		})
	}
}

// A ctx that ends between two tries, or in one, leaves the outcome unknown too.
func TestTransactCutOffIsUnknown(t *testing.T) {
	for _, after := range []time.Duration{10 * time.Millisecond, 60 * time.Millisecond, 2 * time.Second} {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			if after == 2*time.Second { // its first try hangs, applied
				w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultDelayAnswer, Wait: lease})
			} else {
				w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultDropAnswer})
			}
			w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultBlackHole, Count: -1})
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			err := l.Transact(ctx, count())
			if !errors.Is(err, lockkit.ErrUnknownOutcome) || !errors.Is(err, context.DeadlineExceeded) || w.counted() != "1" {
				t.Errorf("cut off after %s: got %v, counted %s", after, err, w.counted())
			}
			w.release(l)
		})
	}
}

func TestTransactReportsTheCallersCondition(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		own := count()
		own.Update.ConditionExpression = aws.String("attribute_exists(pk)")
		err := l.Transact(t.Context(), own)
		cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok || aws.ToString(cancelled.CancellationReasons[1].Code) != "ConditionalCheckFailed" || l.Err() != nil {
			t.Errorf("got %v, lease %v", err, l.Err())
		}
		w.release(l)
	})
}

func TestTransactOnAMissingTable(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		item := count()
		item.Update.TableName = aws.String("nowhere")
		if err := l.Transact(t.Context(), item, count()); err == nil || !strings.Contains(err.Error(), `"nowhere"`) || l.Err() != nil {
			t.Errorf("got %v, lease %v", err, l.Err())
		}
		w.release(l)
	})
}

func TestTransactChecksItems(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.db.ResetRequests()
		var many []types.TransactWriteItem
		for range 100 {
			many = append(many, count())
		}
		for _, c := range []struct {
			items []types.TransactWriteItem
			want  string
		}{
			{many, "at most 99"},
			{[]types.TransactWriteItem{count(), l.ConditionCheck()}, "item 2 of 2 (index 1) is on the lock's own key"},
			{[]types.TransactWriteItem{{Put: &types.Put{TableName: aws.String(table), Item: with(key(), "x", n("1"))}}}, "item 1 of 1 (index 0)"},
			{[]types.TransactWriteItem{{Delete: &types.Delete{TableName: aws.String(table), Key: key()}}}, "item 1 of 1 (index 0)"},
		} {
			if err := l.Transact(t.Context(), c.items...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		}
		if len(w.db.Requests()) != 0 {
			t.Error("it was sent")
		}
		w.release(l)
	})
}

// stepper counts its transactions on the item, so that it knows its own.
type stepper struct {
	lockkit.NoExtension
	step string
}

func (e stepper) Add(w lockkit.Write) lockkit.Addition {
	if w.Verb != lockkit.VerbTransact {
		return lockkit.Addition{}
	}
	return lockkit.Addition{
		Condition: "attribute_not_exists(#step) OR #step < :step", Set: []string{"#step = :step"},
		Names: map[string]string{"#step": lockkit.AttrStep}, Values: map[string]types.AttributeValue{":step": n(e.step)},
	}
}

func (e stepper) shows(item lockkit.Item) bool {
	v, ok := item[lockkit.AttrStep].(*types.AttributeValueMemberN)
	return ok && v.Value >= e.step
}

func (e stepper) Refuse(w lockkit.Write, item lockkit.Item) error {
	if w.Verb == lockkit.VerbTransact && e.shows(item) {
		return errDone
	}
	return nil
}

func (e stepper) Landed(w lockkit.Write, item lockkit.Item) bool {
	if w.Verb == lockkit.VerbTransact {
		return e.shows(item)
	}
	return e.NoExtension.Landed(w, item)
}

func TestTransactWithAnExtension(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process(), lockkit.Extend(stepper{step: "5"}))
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultDropAnswer})
		if err := l.Transact(t.Context(), count()); err != nil {
			t.Fatal(err)
		}
		if err := l.Transact(t.Context(), count()); !errors.Is(err, errDone) {
			t.Errorf("the same step again: %v", err)
		}
		if got := w.counted(); got != "1" || l.Err() != nil {
			t.Errorf("counted %s, lease %v", got, l.Err())
		}
		w.release(l)
	})
}
