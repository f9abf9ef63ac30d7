package singleton_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

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
