package singleton_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

// faultDrop applies one request of the operation, after skipping some, and loses
// its answer.
func faultDrop(operation string, skip int) locktest.Fault {
	return locktest.Fault{Operation: operation, Skip: skip, Kind: locktest.FaultDropAnswer}
}

func TestLostAnswerToTheAcquireIsOneRun(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(faultDrop("UpdateItem", 0))
		calls := 0
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error { calls++; return nil })
		w.want(res, err, singleton.Completed)
		if calls != 1 || !res.Marked || res.Takeover != nil {
			t.Errorf("%d calls, %+v", calls, res)
		}
	})
}

func TestLostAnswerToTheReleaseIsRecognised(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(faultDrop("UpdateItem", 1))
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if !res.Marked || res.Warning != "" {
			t.Errorf("%+v", res)
		}
	})
}

func TestLostAnswerToTheReleaseIsRecognisedUnderASuccessor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Skip: 1, Kind: locktest.FaultDropAnswer, Wait: 2 * time.Second})
		first := make(chan singleton.Result, 1)
		go func() {
			res, _ := w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
			first <- res
		}()
		time.Sleep(time.Second) // the release is applied, its answer is still out
		second := w.hold("b", time.Second, 10*time.Second)
		if res := <-first; res.Outcome != singleton.Completed || !res.Marked {
			t.Errorf("first: %+v", res)
		}
		if res := <-second; res.Outcome != singleton.Completed {
			t.Errorf("second: %+v", res)
		}
	})
}

// The answer to the release is lost, and before it is sent again a successor has
// come and gone: nothing shows any more whose release it was, but the tick is done,
// and nobody need run it again.
func TestLostAnswerToTheReleaseWhenASuccessorHasGone(t *testing.T) {
	for name, c := range map[string]struct {
		fails error
		next  singleton.Outcome
	}{
		"having completed a newer tick": {nil, singleton.Completed},
		"having failed":                 {errBoom, singleton.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.db.Inject(locktest.Fault{Operation: "UpdateItem", Skip: 1, Kind: locktest.FaultDropAnswer, Wait: time.Second})
				next := make(chan singleton.Outcome, 1)
				go func() {
					time.Sleep(100 * time.Millisecond)
					res, _ := w.invoke(w.process("b"), spec, w.scheduled(time.Second), func(context.Context, *singleton.Run) error { return c.fails })
					next <- res.Outcome
				}()
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
				w.want(res, err, singleton.Completed)
				if res.Marked || !strings.Contains(res.Warning, "its tick is completed, by this run's release") {
					t.Errorf("%+v", res)
				}
				if got := <-next; got != c.next {
					t.Errorf("the successor ended as %s, want %s", got, c.next)
				}
			})
		})
	}
}

// Whoever finds the lock another's at the first try of the release has not
// completed the tick: it was somebody else.
func TestReleaseThatComesTooLateIsLostAlthoughTheTickIsDone(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error {
			w.put(lockkit.Item{"owner": nil, "run": nil, "rvn": s("v9"), "fence": n(1 << 50), "tick": n(w.due.UnixMilli())})
			return nil
		})
		w.want(res, err, singleton.Lost)
	})
}

func TestReleaseWithoutAnyAnswerIsCompletedAndNotMarked(t *testing.T) {
	inWorld(t, func(w *world) {
		var log lines
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Skip: 1, Count: -1, Kind: locktest.FaultBlackHole})
		begin := time.Now()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), does(0), log.option())
		w.want(res, err, singleton.Completed)
		if res.Marked || !strings.Contains(res.Warning, "another delivery") {
			t.Errorf("%+v", res)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("tried for %s, want the reserve", took)
		}
		if line := log.one(t); line["level"] != "WARN" || line["marked"] != false || line["warning"] == "" {
			t.Errorf("line %v", line)
		}
		if !w.held() || !w.doneTick().IsZero() {
			t.Errorf("item %v", w.item())
		}
	})
}

func TestReleaseTriesAsLongAsTheReserve(t *testing.T) {
	inWorld(t, func(w *world) {
		remove := w.db.Inject(locktest.Fault{Operation: "UpdateItem", Skip: 1, Count: -1, Kind: locktest.FaultError, Code: "AccessDeniedException"})
		time.AfterFunc(1500*time.Millisecond, remove)
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if !res.Marked || !w.doneTick().Equal(w.due) {
			t.Errorf("%+v", res)
		}
	})
}

func TestReleaseEndsBeforeTheDeadline(t *testing.T) {
	inWorld(t, func(w *world) {
		begin := time.Now()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			w.db.Inject(locktest.Fault{Count: -1, Kind: locktest.FaultBlackHole})
			return nil
		})
		w.want(res, err, singleton.OutOfTime)
		if took := time.Since(begin); took != spec.Timeout-250*time.Millisecond || !strings.Contains(res.Warning, "after one lease") {
			t.Errorf("after %s: %+v", took, res)
		}
	})
}

func TestLeaseTakenOverWhileWorkingIsLost(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error {
			w.foreign(time.Minute)
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), lockkit.ErrLeaseLost) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			return nil
		})
		w.want(res, err, singleton.Lost)
		if !errors.Is(err, lockkit.ErrLeaseLost) || res.Marked {
			t.Errorf("%+v, %v", res, err)
		}
		if ended, ok := errors.AsType[*lockkit.EndedError](err); !ok || ended.Reason != lockkit.ReasonTakenOver {
			t.Error(err)
		}
	})
}

func TestLeaseFoundGoneByTheReleaseIsLost(t *testing.T) {
	for name, harm := range map[string]func(*world){
		"taken over": func(w *world) { w.foreign(time.Minute) },
		"deleted":    func(w *world) { _ = w.db.Delete(table, w.key()) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error {
					harm(w)
					return nil // before any renewal could notice
				})
				w.want(res, err, singleton.Lost)
				if !w.doneTick().IsZero() || !errors.Is(err, lockkit.ErrLeaseLost) {
					t.Errorf("%v, item %v", err, w.item())
				}
			})
		})
	}
}

func TestGuaranteeWorkEndsBeforeATakeover(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		begin := time.Now()
		res, err := w.invoke(p, spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error {
			p.kill()
			<-ctx.Done()
			if got := time.Since(begin); got != 27*time.Second {
				t.Errorf("told after %s, want 0.9 of the lease", got)
			}
			return errBoom
		})
		w.want(res, err, singleton.Lost)
		if !errors.Is(err, errBoom) || !errors.Is(err, lockkit.ErrLeaseLost) {
			t.Error(err)
		}
	})
}

func TestAccessDeniedBlocksAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Count: -1, Kind: locktest.FaultError, Code: "AccessDeniedException", Message: "not authorized to perform: dynamodb:UpdateItem"})
		begin := time.Now()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Blocked)
		if !strings.Contains(err.Error(), "not authorized") || time.Since(begin) > time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

func TestAcquireWhoseAnswerCameAfterAWholeLeaseStartsNoWork(t *testing.T) {
	inWorld(t, func(w *world) {
		s := spec
		s.Lease = time.Second
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Wait: 300 * time.Millisecond})
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Count: 2, Kind: locktest.FaultBlackHole})
		res, err := w.invoke(w.process("a"), s, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Lost)
		if w.held() || res.WorkedMS != 0 || res.WaitedMS < 1000 || res.Token == 0 {
			t.Errorf("%+v", res)
		}
	})
}

// A table that does not answer for a while costs a run time and no outcome.
func TestAnOutageWhileContendingIsRiddenOut(t *testing.T) {
	inWorld(t, func(w *world) {
		stop := w.db.Inject(locktest.Fault{Kind: locktest.FaultThrottle, Count: -1})
		time.AfterFunc(90*time.Second, stop)
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error { return nil })
		w.want(res, err, singleton.Completed)
		if waited := time.Duration(res.WaitedMS) * time.Millisecond; waited < 90*time.Second || waited > 92*time.Second {
			t.Errorf("waited %s for an outage of 90s", waited)
		}
		if got := len(w.db.Requests()); res.Requests != got {
			t.Errorf("reported %d requests, the endpoint saw %d", res.Requests, got)
		}
	})
}

// Credentials that have expired are ridden out as well, and named when time is up.
func TestAnOutageToTheEndIsNamed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "ExpiredTokenException", Message: "the security token is expired", Count: -1})
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Blocked)
		if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != "ExpiredTokenException" || !errors.Is(err, singleton.ErrOutOfTime) {
			t.Errorf("%v, want the end of the time and what was in the way", err)
		}
	})
}

// Every request is counted, also those of a run that never had the lock.
func TestRequestsAreCountedExactly(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1})
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error { return nil })
		w.want(res, err, singleton.Blocked)
		if got := len(w.db.Requests()); got == 0 || res.Requests != got {
			t.Errorf("reported %d requests, the endpoint saw %d", res.Requests, got)
		}
	})
}
