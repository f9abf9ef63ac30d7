package lockkit_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// transactions is a client whose transactions go through a function.
type transactions struct {
	*dynamodb.Client
	send func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

func (c transactions) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return c.send(ctx, in, o...)
}

// through is a process whose transactions go through a function.
func (w *world) through(send func(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)) *lockkit.LockTable {
	w.t.Helper()
	locks, err := lockkit.New(transactions{w.client, send}, table)
	if err != nil {
		w.t.Fatal(err)
	}
	return locks
}

func TestWriteSendsOneRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		var sent atomic.Int64
		l := w.acquire(w.process(), lockkit.CountRequests(&sent))
		before := w.item()
		w.db.ResetRequests()
		if err := l.Write(t.Context(), count()); err != nil {
			t.Fatal(err)
		}
		if got := w.db.Requests(); len(got) != 1 || got[0].Operation != "TransactWriteItems" || w.counted() != "1" || sent.Load() != 1 {
			t.Errorf("%d requests, %d counted for the lease, written %s", len(got), sent.Load(), w.counted())
		}
		same(t, before, w.item()) // it renews nothing
		if err := l.Write(t.Context()); err != nil {
			t.Errorf("without items: %v", err)
		}
		w.release(l)
	})
}

func TestWriteOfALostLease(t *testing.T) {
	for _, c := range []struct {
		name  string
		lose  func(*world)
		want  lockkit.Reason
		strip bool // the endpoint does not bring the item along
	}{
		{"taken over", func(w *world) { w.plant(holder("other", "v", "99")) }, lockkit.ReasonTakenOver, false},
		{"taken over, without the item", func(w *world) { w.plant(holder("other", "v", "99")) }, lockkit.ReasonTakenOver, true},
		{"freed", func(w *world) { _ = locktest.SimulateRelease(w.t.Context(), w.client, table, name) }, lockkit.ReasonTakenOver, false},
		{"deleted", func(w *world) { _ = w.db.Delete(table, key()) }, lockkit.ReasonDeleted, false},
		{"unreadable", func(w *world) {
			w.plant(holder("other", "v", "99"))
			w.db.Inject(locktest.Fault{Operation: "GetItem", Kind: locktest.FaultFailBefore, Count: -1})
		}, lockkit.ReasonTakenOver, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.through(func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
					if c.strip {
						in.TransactItems[0].ConditionCheck.ReturnValuesOnConditionCheckFailure = ""
					}
					return w.client.TransactWriteItems(ctx, in, o...)
				}))
				work, cancel := l.Context(t.Context())
				defer cancel()
				c.lose(w)
				err := l.Write(t.Context(), count())
				ended, ok := errors.AsType[*lockkit.EndedError](err)
				if !ok || !errors.Is(err, lockkit.ErrLeaseLost) || errors.Is(err, lockkit.ErrUnknownOutcome) || ended.Reason != c.want || w.counted() != "0" {
					t.Errorf("got %v, counted %s", err, w.counted())
				}
				if !errors.Is(l.Err(), err) || !errors.Is(context.Cause(work), lockkit.ErrLeaseLost) {
					t.Errorf("the lease goes on: %v, %v", l.Err(), context.Cause(work))
				}
				w.db.ResetRequests()
				if err := l.Write(t.Context(), count()); !errors.Is(err, lockkit.ErrLeaseLost) || len(w.db.Requests()) != 0 {
					t.Errorf("a second time: %v with %d requests", err, len(w.db.Requests()))
				}
			})
		})
	}
}

func TestWriteAfterTheRelease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.release(l)
		w.db.ResetRequests()
		if err := l.Write(t.Context(), count()); !errors.Is(err, lockkit.ErrReleased) || errors.Is(err, lockkit.ErrLeaseLost) || len(w.db.Requests()) != 0 {
			t.Errorf("got %v with %d requests", err, len(w.db.Requests()))
		}
	})
}

func TestWriteReportsTheCallersCondition(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.db.ResetRequests()
		own := count()
		own.Update.ConditionExpression = aws.String("attribute_exists(pk)")
		err := l.Write(t.Context(), own)
		if lockkit.WhyCancelled(err, 0) != lockkit.CancelledByCondition || errors.Is(err, lockkit.ErrUnknownOutcome) || l.Err() != nil {
			t.Errorf("got %v, lease %v", err, l.Err())
		}
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); !ok || aws.ToString(cancelled.CancellationReasons[1].Code) != "ConditionalCheckFailed" || len(w.db.Requests()) != 1 {
			t.Errorf("got %v after %d requests, want the reason of the item at index 1 after one", err, len(w.db.Requests()))
		}
		w.release(l)
	})
}

func TestWriteChecksItems(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.db.ResetRequests()
		arn := "arn:aws:dynamodb:eu-west-1:123456789012:table/" + table
		var many []types.TransactWriteItem
		for range 100 {
			many = append(many, count())
		}
		for _, c := range []struct {
			items []types.TransactWriteItem
			want  string
		}{
			{many, "100 items: expected at most 99"},
			{[]types.TransactWriteItem{count(), l.ConditionCheck()}, "item 2 of 2 (index 1) is on the lock's own key"},
			{[]types.TransactWriteItem{{Put: &types.Put{TableName: aws.String(table), Item: with(key(), "x", n("1"))}}}, "item 1 of 1 (index 0)"},
			{[]types.TransactWriteItem{{Delete: &types.Delete{TableName: aws.String(arn), Key: key()}}}, "item 1 of 1 (index 0)"},
			{[]types.TransactWriteItem{{Update: &types.Update{TableName: aws.String(table), Key: key()}}}, "item 1 of 1 (index 0)"},
		} {
			if err := l.Write(t.Context(), c.items...); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		}
		if len(w.db.Requests()) != 0 {
			t.Error("it was sent")
		}
		var puts []types.TransactWriteItem
		for i := range 99 { // the same key in another table, and all the places there are
			puts = append(puts, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("other"), Item: map[string]types.AttributeValue{"pk": s("LOCK#" + name), "sk": s(strings.Repeat("x", i+1))}}})
		}
		puts[0].Put.Item["sk"] = s("LOCK")
		if err := locktest.CreateTable(t.Context(), w.client, "other", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		if err := l.Write(t.Context(), puts...); err != nil {
			t.Errorf("99 items: %v", err)
		}
		w.release(l)
	})
}

func TestWriteOnAMissingTable(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		item := count()
		item.Update.TableName = aws.String("nowhere")
		w.db.ResetRequests()
		if err := l.Write(t.Context(), count(), item); err == nil || !strings.Contains(err.Error(), `"nowhere"`) || errors.Is(err, lockkit.ErrUnknownOutcome) || l.Err() != nil || len(w.db.Requests()) != 1 {
			t.Errorf("got %v after %d requests, lease %v", err, len(w.db.Requests()), l.Err())
		}
		w.release(l)
	})
}

// A client that is wrapped may answer nothing at all.
func TestAClientThatAnswersNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.through(func(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
			return nil, nil
		}))
		if err := l.Write(t.Context(), count()); err != nil {
			t.Errorf("write: %v", err)
		}
		w.release(l)
		locks, err := lockkit.New(mute{w.client}, table)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := locks.Acquire(t.Context(), name, lease); err == nil || !strings.Contains(err.Error(), "neither an output nor an error") {
			t.Errorf("acquire: %v", err)
		}
		if _, err := locks.State(t.Context(), name); err == nil || !strings.Contains(err.Error(), "neither an output nor an error") {
			t.Errorf("state: %v", err)
		}
	})
}

type mute struct{ *dynamodb.Client }

func (mute) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return nil, nil
}

func (mute) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return nil, nil
}

// All writes of a lease go one after the other, and the heartbeat gets its turn:
// sixty writers would keep a lease of a second from its renewals for longer than
// it lasts.
func TestManyWritersAndTheHeartbeat(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.db.Inject(locktest.Fault{Kind: locktest.FaultDelayAnswer, Wait: 25 * time.Millisecond, Count: -1})
		l, err := w.process().Acquire(t.Context(), name, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		w.db.ResetRequests()
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() {
				for range 3 {
					if err := l.Write(t.Context(), count()); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if err := l.Err(); err != nil || w.counted() != "180" {
			t.Errorf("lease %v, counted %s", err, w.counted())
		}
		var last locktest.Request
		for _, r := range w.db.Requests() {
			if d := r.At.Sub(last.At); last.Seq > 0 && d < 25*time.Millisecond {
				t.Fatalf("%s came %s after %s: they overlap", r.Operation, d, last.Operation)
			}
			last = r
		}
		w.release(l)
	})
}
