package singleton_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

const transaction = "TransactWriteItems"

// add is an action that raises a counter: applied twice, it shows.
func add(name string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: new(table), Key: map[string]av{"pk": s(name), "sk": s("counter")},
		UpdateExpression:          new("ADD #n :one"),
		ExpressionAttributeNames:  map[string]string{"#n": "n"},
		ExpressionAttributeValues: map[string]av{":one": n(1)},
	}}
}

// fresh is an action that is applied once: its own condition fails the second time.
func fresh(name string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: new(table), Item: map[string]av{"pk": s(name), "sk": s("counter"), "n": n(1)}, ConditionExpression: new("attribute_not_exists(pk)"),
	}}
}

// added is how often add was applied.
func (w *world) added(name string) string {
	v, ok := w.db.Item(table, map[string]av{"pk": s(name), "sk": s("counter")})["n"].(*types.AttributeValueMemberN)
	if !ok {
		return "0"
	}
	return v.Value
}

// commits is a work that commits and returns what Commit did.
func commits(ctx context.Context, run *singleton.Run) error { return run.Commit(ctx, add("sum")) }

// wantSum checks that the effect is there as often as given and the tick done.
func (w *world) wantSum(times string, done time.Time) {
	w.Helper()
	if got := w.added("sum"); got != times || !w.doneTick().Equal(done) {
		w.Errorf("applied %s times, done %v, want %s and %v", got, w.doneTick(), times, done)
	}
}

func TestCommitWritesTheItemsAndCompletesTheTick(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		res, err := w.invoke(p, spec, w.scheduled(0), commits)
		w.want(res, err, singleton.Completed)
		w.requests("WWW") // acquire, transaction, release
		if !res.Committed || !res.Marked || res.Error != "" || res.Warning != "" || res.Requests != 3 || w.held() {
			t.Errorf("%+v", res)
		}
		w.wantSum("1", w.due)
		w.db.ResetRequests()
		res, err = w.invoke(p, spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Duplicate)
		w.requests("w")
		w.wantSum("1", w.due)
	})
}

// TestGuaranteeOnlyACommitThatSucceededCompletes is about works that ignore the
// error of their Commit and return nil.
func TestGuaranteeOnlyACommitThatSucceededCompletes(t *testing.T) {
	many := make([]types.TransactWriteItem, 100)
	for i := range many {
		many[i] = add("many" + string(rune('a'+i%26)) + string(rune('a'+i/26)))
	}
	onLock := func(w *world) types.TransactWriteItem {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: new(table), Key: w.key(), ConditionExpression: new("attribute_exists(pk)")}}
	}
	for name, c := range map[string]struct {
		work     func(w *world, ctx context.Context, run *singleton.Run) error // its Commit's error
		outcome  singleton.Outcome
		requests string
	}{
		"its own condition failed": {func(w *world, ctx context.Context, run *singleton.Run) error {
			w.put(nil) // so that the test's item below exists
			if err := w.db.Put(table, map[string]av{"pk": s("there"), "sk": s("counter")}); err != nil {
				w.Error(err)
			}
			err := run.Commit(ctx, add("sum"), fresh("there"))
			if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); !ok || *cancelled.CancellationReasons[2].Code != "ConditionalCheckFailed" {
				w.Errorf("error %v", err)
			}
			return err
		}, singleton.Failed, "WwW"},
		"too many items": {func(_ *world, ctx context.Context, run *singleton.Run) error { return run.Commit(ctx, many...) }, singleton.Failed, "WW"},
		"an item on the lock": {func(w *world, ctx context.Context, run *singleton.Run) error {
			return run.Commit(ctx, add("sum"), onLock(w))
		}, singleton.Failed, "WW"},
		"its ctx had ended": {func(_ *world, ctx context.Context, run *singleton.Run) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return run.Commit(ctx, add("sum"))
		}, singleton.Failed, "WW"},
		"access denied": {func(w *world, ctx context.Context, run *singleton.Run) error {
			w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultError, Code: "AccessDeniedException"})
			return run.Commit(ctx, add("sum"))
		}, singleton.Failed, "WwW"},
		"taken over": {func(w *world, ctx context.Context, run *singleton.Run) error {
			w.foreign(time.Minute)
			return run.Commit(ctx, add("sum"))
		}, singleton.Lost, "Ww"},
		"no answer, and then taken over": {func(w *world, ctx context.Context, run *singleton.Run) error {
			w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultBlackHole, Count: -1})
			time.AfterFunc(time.Second, func() { w.foreign(time.Minute) })
			return run.Commit(ctx, add("sum"))
		}, singleton.Lost, ""},
		"no answer until its time was over": {func(w *world, ctx context.Context, run *singleton.Run) error {
			w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultBlackHole, Count: -1})
			return run.Commit(ctx, add("sum"))
		}, singleton.OutOfTime, ""},
		"no answer in the time it was given": {func(w *world, ctx context.Context, run *singleton.Run) error {
			w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultBlackHole, Count: -1})
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return run.Commit(ctx, add("sum"))
		}, singleton.Failed, "WWWW"},
		"no answer to anything any more": {func(w *world, ctx context.Context, run *singleton.Run) error {
			w.db.Inject(locktest.Fault{Kind: locktest.FaultBlackHole, Count: -1})
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return run.Commit(ctx, add("sum"))
		}, singleton.OutOfTime, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					if err := c.work(w, ctx, run); err == nil {
						t.Error("Commit succeeded")
					}
					return nil
				})
				w.want(res, err, c.outcome)
				if c.requests != "" {
					w.requests(c.requests)
				}
				if res.Committed || res.Marked {
					t.Errorf("%+v", res)
				}
				w.wantSum("0", time.Time{})
			})
		})
	}
}

func TestCommitThatWasRefusedBeforeSendingMayBeCorrected(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			if run.Commit(ctx, make([]types.TransactWriteItem, 100)...) == nil {
				t.Error("100 items are accepted")
			}
			return commits(ctx, run)
		})
		w.want(res, err, singleton.Completed)
		w.wantSum("1", w.due)
	})
}

func TestCommitOfARunWithoutATickLeavesTicksAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(0), commits)
		res, err := w.invoke(p, spec, events.Tick{}, commits)
		w.want(res, err, singleton.Completed)
		if !res.Committed || res.Marked {
			t.Errorf("%+v", res)
		}
		w.wantSum("2", w.due)
	})
}

func TestCommitOfAForcedRunNeverMovesTheTickBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(2*time.Second), commits)
		for i, at := range []time.Duration{0, 2 * time.Second} {
			res, err := w.invoke(p, spec, events.Tick{Time: w.due.Add(at), Force: true}, commits)
			w.want(res, err, singleton.Completed)
			if !res.Committed || !res.Marked {
				t.Errorf("%+v", res)
			}
			w.wantSum(string(rune('2'+i)), w.due.Add(2*time.Second))
		}
		res, err := w.invoke(p, spec, events.Tick{Time: w.due.Add(4 * time.Second), Force: true}, commits)
		w.want(res, err, singleton.Completed)
		w.wantSum("4", w.due.Add(4*time.Second))
	})
}

func TestCommitAfterSomebodyMovedTheTickIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			w.put(map[string]av{"tick": n(w.due.Add(time.Hour).UnixMilli())})
			return commits(ctx, run)
		})
		w.want(res, err, singleton.Failed)
		if !strings.Contains(err.Error(), "is not newer than the last completed one") {
			t.Error(err)
		}
		w.wantSum("0", w.due.Add(time.Hour))
	})
}

func TestStepThatIsNoNumberIsRefusedBeforeSending(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put(map[string]av{"_type": s("LOCK"), "fence": n(3), "rvn": s("v"), "step": s("x")})
		w.db.ResetRequests()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), commits)
		w.want(res, err, singleton.Failed)
		w.requests("WW")
		if !strings.Contains(err.Error(), "attribute step") {
			t.Error(err)
		}
	})
}

func TestTransactionsOfManyGoroutinesTakeTurns(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultDelayAnswer, Wait: 100 * time.Millisecond, Count: -1})
			var all sync.WaitGroup
			for i := range 10 {
				all.Go(func() {
					if err := run.Checkpoint(ctx, strconv.Itoa(i), add("page")); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			return commits(ctx, run)
		})
		w.want(res, err, singleton.Completed)
		if w.added("page") != "10" {
			t.Errorf("%s pages", w.added("page"))
		}
		w.wantSum("1", w.due)
	})
}

func TestStepThatSomebodyElseRaisedIsAnError(t *testing.T) {
	inWorld(t, func(w *world) {
		begin := time.Now()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			w.put(map[string]av{"step": n(99)})
			return commits(ctx, run)
		})
		w.want(res, err, singleton.Failed)
		if !strings.Contains(err.Error(), "is 99") || time.Since(begin) > time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		w.wantSum("0", time.Time{})
	})
}

func TestErrorNamesTheCommitThatFailedAndNotTheSecond(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultError, Code: "AccessDeniedException"})
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			if first, second := commits(ctx, run), commits(ctx, run); first == nil || second == nil {
				t.Error("a Commit succeeded")
			}
			return nil
		})
		w.want(res, err, singleton.Failed)
		if !strings.Contains(err.Error(), "AccessDenied") {
			t.Error(err)
		}
		w.wantSum("0", time.Time{})
	})
}
