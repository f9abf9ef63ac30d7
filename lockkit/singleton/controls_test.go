package singleton_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

func m(attrs lockkit.Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: attrs} }

// pause puts a pause on the item of a job that may never have run.
func (w *world) pause(more lockkit.Item) {
	w.Helper()
	p := lockkit.Item{"id": s("p1"), "by": s("jane"), "why": s("the database moves"), "at": n(time.Now().UnixMilli())}
	maps.Copy(p, more)
	w.put(lockkit.Item{"_type": s("LOCK"), "fence": n(7), "paused": m(p)})
	w.db.ResetRequests()
}

// askToStop puts a stop for the holder with this token on the item.
func (w *world) askToStop(token int64) {
	w.Helper()
	w.put(lockkit.Item{"stop": m(lockkit.Item{"token": n(token), "by": s("jane")})})
}

func TestGuaranteePausedJobDoesNotRun(t *testing.T) {
	inWorld(t, func(w *world) {
		var log lines
		w.pause(nil)
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t), log.option())
		w.want(res, err, singleton.Paused)
		w.requests("w")
		if p := res.Paused; p == nil || p.ID != "p1" || p.By != "jane" || p.Why != "the database moves" || p.At.IsZero() || !p.Until.IsZero() || res.WaitedMS != 0 || !w.doneTick().IsZero() {
			t.Errorf("%+v, paused %+v", res, res.Paused)
		}
		line := log.one(t)
		if p, _ := line["paused"].(map[string]any); line["outcome"] != "paused" || line["level"] != "INFO" || p["by"] != "jane" || p["id"] != "p1" {
			t.Errorf("line %v", line)
		}
		// A person's invoke is a run like any other.
		for _, tick := range manual(w) {
			res, err := w.invoke(w.process("a"), spec, tick, mustNotRun(t))
			w.want(res, err, singleton.Paused)
		}
		w.put(lockkit.Item{"paused": nil})
		res, err = w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if res.Token != 8 {
			t.Errorf("token %d, want 8", res.Token)
		}
	})
}

func TestPauseEndsByItself(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pause(lockkit.Item{"until": n(time.Now().Add(time.Hour).UnixMilli())})
		time.Sleep(time.Hour - time.Millisecond)
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Paused)
		if !res.Paused.Until.Equal(time.Now().Add(time.Millisecond)) {
			t.Errorf("until %v", res.Paused.Until)
		}
		time.Sleep(time.Millisecond)
		w.db.ResetRequests()
		res, err = w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		w.requests("WW")
	})
}

func TestPauseThatCannotBeUnderstoodRunsNothing(t *testing.T) {
	for name, v := range map[string]types.AttributeValue{
		"no map": s("yes"), "no id": m(lockkit.Item{"by": s("jane")}), "odd end": m(lockkit.Item{"id": s("p1"), "until": s("tomorrow")}),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.put(lockkit.Item{"_type": s("LOCK"), "fence": n(7), "paused": v})
				w.db.ResetRequests()
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
				w.want(res, err, singleton.Blocked)
				w.requests("w")
				if !strings.Contains(err.Error(), "attribute paused") || !strings.Contains(err.Error(), "remove the attribute") {
					t.Error(err)
				}
			})
		})
	}
}

func TestDoneTickIsDoneDuringAPauseToo(t *testing.T) {
	inWorld(t, func(w *world) {
		_, _ = w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
		w.pause(nil)
		for after, want := range map[time.Duration]singleton.Outcome{0: singleton.Duplicate, -time.Minute: singleton.Superseded} {
			res, err := w.invoke(w.process("a"), spec, w.scheduled(after), mustNotRun(t))
			w.want(res, err, want)
			if res.Paused != nil {
				t.Errorf("%+v", res)
			}
		}
	})
}

func TestPauseStopsNoRunningHolder(t *testing.T) {
	inWorld(t, func(w *world) {
		holder := w.hold("pod-1", 0, time.Minute)
		time.Sleep(time.Second)
		w.put(lockkit.Item{"paused": m(lockkit.Item{"id": s("p1")})})
		w.db.ResetRequests()
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(time.Second), mustNotRun(t))
		w.want(res, err, singleton.Paused) // and is not watched
		w.requests("w")
		if res := <-holder; res.Outcome != singleton.Completed || !res.Marked {
			t.Errorf("holder: %+v", res)
		}
		if w.item()["paused"] == nil {
			t.Error("the run ended the pause")
		}
	})
}

func TestPauseIsSeenWhileADeadHolderIsWatched(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		time.AfterFunc(12*time.Second, func() { w.put(lockkit.Item{"paused": m(lockkit.Item{"id": s("p1")})}) })
		begin := time.Now()
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Paused)
		if waited := time.Since(begin); waited < 12*time.Second || waited > spec.Lease {
			t.Errorf("after %s", waited)
		}
	})
}

func TestPauseBindsRunsAndNotTheLock(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pause(nil)
		lease, err := w.process("a").locks.Acquire(w.Context(), spec.Name, spec.Lease)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(w.Context()); err != nil || w.item()["paused"] == nil {
			t.Errorf("%v, item %v", err, w.item())
		}
	})
}

func TestGuaranteeStopEndsTheWork(t *testing.T) {
	for name, c := range map[string]struct {
		returns func(ctx context.Context) error
		shows   string // in the result's error
	}{
		"its ctx's cause": {context.Cause, ""},
		"its ctx's error": {context.Context.Err, ""},
		"nil":             {func(context.Context) error { return nil }, ""},
		"its own error":   {func(context.Context) error { return errBoom }, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var log lines
				var began, ended time.Time
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					began = time.Now()
					time.AfterFunc(5*time.Second, func() { w.askToStop(run.Token()) })
					<-ctx.Done()
					ended = time.Now()
					if !errors.Is(context.Cause(ctx), singleton.ErrStopped) || !strings.Contains(context.Cause(ctx).Error(), `"jane"`) {
						t.Errorf("cause %v", context.Cause(ctx))
					}
					return c.returns(ctx)
				}, log.option())
				w.want(res, err, singleton.Stopped)
				w.requests("WWW") // acquire, the renewal that brings the stop, release
				if took := ended.Sub(began); took != spec.Lease/3 {
					t.Errorf("the work was told after %s, want the next renewal", took)
				}
				if res.Stopped == nil || res.Stopped.By != "jane" || res.Error != c.shows || res.Marked || w.held() || !w.doneTick().IsZero() {
					t.Errorf("%+v, stopped %+v, item %v", res, res.Stopped, w.item())
				}
				level := "INFO"
				if c.shows != "" {
					level = "WARN"
				}
				if line := log.one(t); line["outcome"] != "stopped" || line["level"] != level || line["stopped"].(map[string]any)["by"] != "jane" {
					t.Errorf("line %v", line)
				}
				// The next run is another holder, and its acquire has removed the stop.
				res, err = w.invoke(w.process("b"), spec, w.scheduled(0), does(35*time.Second))
				w.want(res, err, singleton.Completed)
			})
		})
	}
}

func TestStopForAnotherTokenIsNoStop(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			w.askToStop(run.Token() - 1)
			return does(time.Minute)(ctx, run)
		})
		w.want(res, err, singleton.Completed)
		if res.Stopped != nil {
			t.Errorf("%+v", res)
		}
	})
}

func TestRenewBringsAStopAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			w.askToStop(run.Token())
			if err := run.Renew(ctx); err != nil || !errors.Is(context.Cause(ctx), singleton.ErrStopped) {
				t.Errorf("%v, cause %v", err, context.Cause(ctx))
			}
			return nil
		})
		w.want(res, err, singleton.Stopped)
	})
}

// A work that returned before it was told has done its tick.
func TestStopAfterTheWorkChangesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(_ context.Context, run *singleton.Run) error {
			w.askToStop(run.Token())
			return nil
		})
		w.want(res, err, singleton.Completed)
		if !res.Marked || res.Stopped != nil {
			t.Errorf("%+v", res)
		}
	})
}

func TestStopAfterCommitChangesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			if err := run.Commit(ctx); err != nil {
				return err
			}
			w.askToStop(run.Token())
			return does(time.Minute)(ctx, run)
		})
		w.want(res, err, singleton.Completed)
		if !res.Committed || !res.Marked || res.Stopped != nil || res.WorkedMS != 60_000 || res.Error != "" {
			t.Errorf("%+v", res)
		}
	})
}

// A Commit that waits for its answer when the stop comes gets it, and counts.
func TestStopDuringCommitCostsNoAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultThrottle, Count: 60})
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			w.askToStop(run.Token())
			return run.Commit(ctx)
		})
		w.want(res, err, singleton.Completed)
		if !res.Committed || res.WorkedMS < 2*spec.Lease.Milliseconds()/3 || !w.doneTick().Equal(w.due) {
			t.Errorf("%+v", res)
		}
	})
}

func TestStopBetweenCheckpointsKeepsTheCursor(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			if err := run.Checkpoint(ctx, "page 2"); err != nil {
				return err
			}
			w.askToStop(run.Token())
			<-ctx.Done()
			return run.Checkpoint(ctx, "page 3")
		})
		w.want(res, err, singleton.Stopped)
		res, err = w.invoke(w.process("a"), spec, w.scheduled(time.Second), func(_ context.Context, run *singleton.Run) error {
			if run.Cursor != "page 2" {
				t.Errorf("cursor %q", run.Cursor)
			}
			return nil
		})
		w.want(res, err, singleton.Completed)
	})
}
