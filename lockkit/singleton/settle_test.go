package singleton_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

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

// The release was applied and its answer lost, and the item that its second try
// meets is a successor's, who has committed meanwhile: that is no proof for the
// Commit that never arrived.
func TestSuccessorsCommitIsNotTakenForOnesOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		calm := w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultBlackHole, Count: -1})
		second := make(chan singleton.Result, 1)
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			err := commits(short, run)
			calm()
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultBlackHole, Count: 2}) // the looks
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Wait: 400 * time.Millisecond})
			go func() { //nolint:contextcheck // another invocation, which does not end with this one
				time.Sleep(1100 * time.Millisecond)
				res, _ := w.invoke(w.process("b"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					return errors.Join(commits(ctx, run), does(10*time.Second)(ctx, run))
				})
				second <- res
			}()
			return err
		})
		w.want(res, err, singleton.OutOfTime)
		if res.Committed || res.Marked || !errors.Is(err, lockkit.ErrUnknownOutcome) {
			t.Errorf("first: %+v", res)
		}
		if res := <-second; res.Outcome != singleton.Completed || !res.Committed || res.WaitedMS != 0 {
			t.Errorf("second: %+v", res)
		}
		w.wantSum("1", w.due)
	})
}
