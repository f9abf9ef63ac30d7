package singleton_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
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

// disturbances are what may befall the transaction of a Commit that succeeds in
// the end.
var disturbances = map[string][]locktest.Fault{
	"nothing":                        nil,
	"lost answer":                    {{Operation: transaction, Kind: locktest.FaultDropAnswer}},
	"three lost answers":             {{Operation: transaction, Kind: locktest.FaultDropAnswer, Count: 3}},
	"lost, answered late":            {{Operation: transaction, Kind: locktest.FaultDropAnswer, Wait: 4 * time.Second}},
	"arrives late":                   {{Operation: transaction, Kind: locktest.FaultLate, Wait: time.Second}},
	"arrives after a lease":          {{Operation: transaction, Kind: locktest.FaultLate, Wait: 31 * time.Second}},
	"arrives late, then conflicts":   {{Operation: transaction, Kind: locktest.FaultLate, Wait: time.Second}, {Operation: transaction, Kind: locktest.FaultConflict, Count: 5}},
	"conflicts":                      {{Operation: transaction, Kind: locktest.FaultConflict, Count: 4}},
	"throttled":                      {{Operation: transaction, Kind: locktest.FaultThrottle, Count: 4}},
	"fails":                          {{Operation: transaction, Kind: locktest.FaultFailBefore, Count: 3}},
	"in progress":                    {{Operation: transaction, Kind: locktest.FaultDropAnswer}, {Operation: transaction, Kind: locktest.FaultError, Code: "TransactionInProgressException", Count: 3}},
	"lost, and the release's, too":   {{Operation: transaction, Kind: locktest.FaultDropAnswer}, {Operation: "UpdateItem", Skip: 1, Kind: locktest.FaultDropAnswer}},
	"a black hole":                   {{Operation: transaction, Kind: locktest.FaultBlackHole}},
	"everything is slow for a while": {{Kind: locktest.FaultDelay, Wait: 1500 * time.Millisecond, Count: 6}},
}

func TestGuaranteeExactlyOnceWithCommit(t *testing.T) {
	for name, faults := range disturbances {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				for _, f := range faults {
					w.db.Inject(f)
				}
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					time.Sleep(9 * time.Second) // a renewal comes between
					return commits(ctx, run)
				})
				w.want(res, err, singleton.Completed)
				if !res.Committed || !res.Marked {
					t.Errorf("%+v", res)
				}
				time.Sleep(2 * time.Minute)
				w.wantSum("1", w.due)
				res, err = w.invoke(w.process("b"), spec, w.scheduled(0), mustNotRun(t))
				w.want(res, err, singleton.Duplicate)
				res, err = w.invoke(w.process("b"), spec, w.scheduled(time.Minute), commits)
				w.want(res, err, singleton.Completed)
				w.wantSum("2", w.due.Add(time.Minute))
			})
		})
	}
	t.Run("crashed before", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.crash("a", spec, w.scheduled(0))
			res, err := w.invoke(w.process("b"), spec, w.scheduled(0), commits)
			w.want(res, err, singleton.Completed)
			w.wantSum("1", w.due)
		})
	})
	t.Run("crashed after", func(t *testing.T) {
		inWorld(t, func(w *world) {
			p := w.process("a")
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				_, _ = w.invoke(p, spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					defer p.kill()
					return commits(ctx, run)
				})
			}()
			<-gone
			res, err := w.invoke(w.process("b"), spec, w.scheduled(0), mustNotRun(t))
			w.want(res, err, singleton.Duplicate)
			w.wantSum("1", w.due)
		})
	})
}

// What a work returns or does after its Commit is reported and changes nothing.
func TestAfterACommitTheTickIsDone(t *testing.T) {
	for name, c := range map[string]struct {
		then  func(w *world, ctx context.Context, run *singleton.Run) error
		error string
	}{
		"nil":             {func(*world, context.Context, *singleton.Run) error { return nil }, ""},
		"an error":        {func(*world, context.Context, *singleton.Run) error { return errBoom }, "boom"},
		"a second Commit": {func(_ *world, ctx context.Context, run *singleton.Run) error { return run.Commit(ctx, add("sum")) }, "all items into one"},
		"a Checkpoint": {func(_ *world, ctx context.Context, run *singleton.Run) error {
			return run.Checkpoint(ctx, "p2", add("sum"))
		}, "which ends its tick"},
		"a Yield":       {func(_ *world, _ context.Context, run *singleton.Run) error { return run.Yield() }, "which ends its tick"},
		"out of time":   {func(_ *world, ctx context.Context, _ *singleton.Run) error { <-ctx.Done(); return ctx.Err() }, "context deadline exceeded"},
		"nil, too late": {func(_ *world, ctx context.Context, _ *singleton.Run) error { <-ctx.Done(); return nil }, ""},
		"taken over": {func(w *world, ctx context.Context, _ *singleton.Run) error {
			w.foreign(time.Minute)
			<-ctx.Done()
			return nil
		}, "taken_over"},
		"taken over, unnoticed": {func(w *world, _ context.Context, _ *singleton.Run) error { w.foreign(time.Minute); return nil }, "taken_over"},
		"goexit":                {func(*world, context.Context, *singleton.Run) error { runtime.Goexit(); return nil }, "Goexit"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var log lines
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					if err := commits(ctx, run); err != nil {
						t.Error(err)
					}
					return c.then(w, ctx, run)
				}, log.option())
				w.want(res, err, singleton.Completed)
				if !res.Committed || !res.Marked || !strings.Contains(res.Error, c.error) || (res.Error == "") != (c.error == "") {
					t.Errorf("%+v", res)
				}
				w.wantSum("1", w.due)
				level := "WARN"
				if c.error == "" {
					level = "INFO"
				}
				if line := log.one(t); line["level"] != level || line["committed"] != true {
					t.Errorf("line %v", line)
				}
			})
		})
	}
}

func TestPanicAfterACommitIsCompletedAndGoesOn(t *testing.T) {
	inWorld(t, func(w *world) {
		var log lines
		value := func() (v any) {
			defer func() { v = recover() }()
			_, _ = w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
				_ = commits(ctx, run)
				panic("boom")
			}, log.option())
			return nil
		}()
		if line := log.one(t); value != any("boom") || line["outcome"] != "completed" || !strings.Contains(line["error"].(string), "panicked: boom") {
			t.Errorf("panicked with %v, line %v", value, line)
		}
		w.wantSum("1", w.due)
		if w.held() {
			t.Error("not released")
		}
	})
}

func TestStubbornWorkAfterACommitEndsTheProcess(t *testing.T) {
	inWorld(t, func(w *world) {
		var log lines
		free := make(chan struct{})
		defer close(free)
		value := func() (v any) {
			defer func() { v = recover() }()
			_, _ = w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
				_ = commits(ctx, run)
				<-free
				return nil
			}, log.option())
			return nil
		}()
		err, _ := value.(error)
		if line := log.one(t); err == nil || !strings.Contains(err.Error(), "ignores its context") || line["outcome"] != "completed" || line["committed"] != true || line["marked"] != true {
			t.Errorf("panicked with %v, line %v", value, line)
		}
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
		},
			singleton.Failed, "WW"},
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

// A Commit that was cut off before its answer is looked up before the outcome is
// decided.
func TestCommitWithoutAnAnswerIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		fault   locktest.Fault
		outcome singleton.Outcome
		sum     string
	}{
		"applied":     {locktest.Fault{Operation: transaction, Kind: locktest.FaultDropAnswer, Wait: time.Minute}, singleton.Completed, "1"},
		"not applied": {locktest.Fault{Operation: transaction, Kind: locktest.FaultBlackHole, Count: -1}, singleton.OutOfTime, "0"},
		"still to come, which the release prevents": {locktest.Fault{Operation: transaction, Kind: locktest.FaultLate, Count: -1, Wait: time.Minute}, singleton.OutOfTime, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.db.Inject(c.fault)
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					time.Sleep(spec.Timeout - 3*time.Second) // a second before its time is over
					err := commits(ctx, run)
					if !errors.Is(err, lockkit.ErrUnknownOutcome) {
						t.Errorf("error %v", err)
					}
					return err
				})
				w.want(res, err, c.outcome)
				time.Sleep(2 * time.Minute)
				done := time.Time{}
				if c.outcome == singleton.Completed {
					done = w.due
				}
				w.wantSum(c.sum, done)
				if res.Committed != (c.sum == "1") || w.held() {
					t.Errorf("%+v", res)
				}
			})
		})
	}
}

// The lease expires while the answer to an applied Commit is out, and nobody
// takes over: a read shows the step, or else the release does.
func TestCommitWhoseLeaseExpiredIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		then   locktest.Fault // once the lease has expired
		record string
	}{
		"by a read":      {locktest.Fault{Operation: "Scan"}, "completed"},
		"by the release": {locktest.Fault{Operation: "GetItem", Kind: locktest.FaultBlackHole, Count: -1}, "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				remove := w.db.Inject(locktest.Fault{Skip: 1, Count: -1, Kind: locktest.FaultDropAnswer, Wait: time.Hour})
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					err := commits(ctx, run)
					remove()
					w.db.Inject(c.then)
					return err
				})
				w.want(res, err, singleton.Completed)
				if !res.Committed || !res.Marked || !strings.Contains(res.Error, "expired") || (res.Warning == "") != (c.record == "completed") || w.held() {
					t.Errorf("%+v", res)
				}
				w.wantSum("1", w.due)
				if prev := w.item()["prev"].(*types.AttributeValueMemberM).Value["o"].(*types.AttributeValueMemberS).Value; prev != c.record {
					t.Errorf("the record says %q, want %q", prev, c.record)
				}
				if res.Requests != len(w.db.Requests()) {
					t.Errorf("%d requests reported, %d sent", res.Requests, len(w.db.Requests()))
				}
			})
		})
	}
}

// A Commit was applied, its answer is lost, and another client takes the lock over
// before anybody can look: the run is lost, and the next delivery finds the tick
// done.
func TestCommitThatNobodyCouldLookUpIsFoundByTheNextDelivery(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultDropAnswer, Wait: time.Hour, Count: -1})
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			time.AfterFunc(time.Second, func() { w.foreign(spec.Lease) })
			return commits(ctx, run)
		})
		w.want(res, err, singleton.Lost)
		if !errors.Is(err, lockkit.ErrUnknownOutcome) || !errors.Is(err, lockkit.ErrLeaseLost) {
			t.Error(err)
		}
		res, err = w.invoke(w.process("b"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Duplicate)
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

// A body that was cancelled is delivered once more, as networks do, after the
// next body of the same call was made: the step lets one of them be applied, and
// the refusal of the other is read as the success that it shows.
func TestGuaranteeCopyOfACancelledBodyIsNoSecondEffect(t *testing.T) {
	for name, c := range map[string]struct {
		tick func(w *world) events.Tick
		work singleton.Work
	}{
		"commit":                {func(w *world) events.Tick { return w.scheduled(0) }, commits},
		"commit without a tick": {func(*world) events.Tick { return events.Tick{} }, commits},
		"checkpoint": {func(w *world) events.Tick { return w.scheduled(0) }, func(ctx context.Context, run *singleton.Run) error {
			return run.Checkpoint(ctx, "1", add("sum"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.process("a")
				var first *dynamodb.TransactWriteItemsInput
				copied := false
				p.transact = func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
					switch {
					case first == nil:
						first = in
						w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultConflict})
					case !copied:
						copied = true
						if *first.ClientRequestToken == *in.ClientRequestToken {
							t.Error("the cancelled body was sent again")
						}
						if _, err := p.Client.TransactWriteItems(ctx, first); err != nil {
							t.Errorf("the copy: %v", err)
						}
					}
					return p.Client.TransactWriteItems(ctx, in, o...)
				}
				tick := c.tick(w)
				res, err := w.invoke(p, spec, tick, c.work)
				w.want(res, err, singleton.Completed)
				if !copied {
					t.Error("there was no second body")
				}
				w.wantSum("1", tick.Time)
			})
		})
	}
}

// A checkpoint that was cancelled arrives once more after a newer one was
// applied, and is refused.
func TestGuaranteeOlderCheckpointDoesNotLandAfterANewerOne(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		if err := w.db.Put(table, map[string]av{"pk": s("page1"), "sk": s("counter")}); err != nil {
			t.Fatal(err)
		}
		var first *dynamodb.TransactWriteItemsInput
		p.transact = func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
			if first == nil {
				first = in
			}
			return p.Client.TransactWriteItems(ctx, in, o...)
		}
		res, err := w.invoke(p, spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			if err := run.Checkpoint(ctx, "1", fresh("page1")); err == nil {
				t.Error("its condition did not fail")
			}
			if err := w.db.Delete(table, map[string]av{"pk": s("page1"), "sk": s("counter")}); err != nil {
				t.Error(err)
			}
			if err := run.Checkpoint(ctx, "2", add("page2")); err != nil {
				return err
			}
			if _, err := p.Client.TransactWriteItems(ctx, first); err == nil {
				t.Error("the older checkpoint was applied")
			}
			return run.Yield()
		})
		w.want(res, err, singleton.OutOfTime)
		if data, _ := w.cursor(); data != "2" || w.added("page1") != "0" || w.added("page2") != "1" {
			t.Errorf("cursor %q, item %v", data, w.item())
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

func TestTransactionAfterTheRunIsRefusedWithoutARequest(t *testing.T) {
	inWorld(t, func(w *world) {
		var kept *singleton.Run
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(_ context.Context, run *singleton.Run) error { kept = run; return nil })
		w.want(res, err, singleton.Completed)
		w.db.ResetRequests()
		for _, err := range []error{kept.Checkpoint(w.Context(), "1", add("page")), kept.Commit(w.Context(), add("sum"))} {
			if !errors.Is(err, lockkit.ErrReleased) {
				t.Error(err)
			}
		}
		w.requests("")
	})
}

// A work that leaves its Commit under way and returns nil has not completed the
// tick by that; the run looks what became of it.
func TestCommitLeftUnderWayIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		kind    locktest.FaultKind
		outcome singleton.Outcome
	}{
		"applied":     {locktest.FaultDelayAnswer, singleton.Completed},
		"not applied": {locktest.FaultFailBefore, singleton.OutOfTime},
		"hanging":     {locktest.FaultBlackHole, singleton.OutOfTime},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.db.Inject(locktest.Fault{Operation: transaction, Kind: c.kind, Wait: time.Second, Count: -1})
				var stray sync.WaitGroup
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					stray.Go(func() { _ = commits(context.WithoutCancel(ctx), run) })
					time.Sleep(500 * time.Millisecond)
					return nil
				})
				stray.Wait()
				w.want(res, err, c.outcome)
				if got := w.added("sum"); (got == "1") != (c.outcome == singleton.Completed) || w.doneTick().IsZero() != (got == "0") {
					t.Errorf("applied %s times, %+v", got, res)
				}
			})
		})
	}
}
