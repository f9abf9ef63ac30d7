package singleton_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
)

func TestGuaranteeLateNilCompletesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		begin := time.Now()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error {
			<-ctx.Done()
			if got := time.Since(begin); got != spec.Timeout-2*time.Second {
				t.Errorf("the work's time ended after %s, want the reserve before the deadline", got)
			}
			if !errors.Is(context.Cause(ctx), singleton.ErrOutOfTime) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			return nil
		})
		w.want(res, err, singleton.OutOfTime)
		if w.held() || !w.doneTick().IsZero() || !errors.Is(err, singleton.ErrOutOfTime) {
			t.Errorf("%v, item %v", err, w.item())
		}
	})
}

func TestWorkMayReturnWithinTheReserve(t *testing.T) {
	inWorld(t, func(w *world) {
		begin := time.Now()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error {
			<-ctx.Done()
			time.Sleep(1500*time.Millisecond - time.Nanosecond)
			return errBoom
		})
		w.want(res, err, singleton.OutOfTime)
		if w.held() || !errors.Is(err, errBoom) || time.Since(begin) >= spec.Timeout {
			t.Errorf("%v, item %v", err, w.item())
		}
	})
}

func TestGuaranteeStubbornWorkEndsTheProcess(t *testing.T) {
	inWorld(t, func(w *world) {
		var log lines
		p, begin := w.process("a"), time.Now()
		free := make(chan struct{})
		defer close(free)
		value := func() (v any) {
			defer func() { v = recover() }()
			_, _ = w.invoke(p, spec, w.scheduled(0), func(context.Context, *singleton.Run) error {
				<-free
				return nil
			}, log.option())
			return nil
		}()
		if got := time.Since(begin); got != spec.Timeout-500*time.Millisecond {
			t.Errorf("given up after %s, want a quarter of the reserve before the deadline", got)
		}
		err, _ := value.(error)
		if out, ok := errors.AsType[*singleton.OutcomeError](err); !ok || out.Outcome != singleton.OutOfTime || !strings.Contains(err.Error(), "ignores its context") {
			t.Fatalf("panicked with %v", value)
		}
		if line := log.one(t); line["outcome"] != "out_of_time" || line["worked_ms"] != float64(299500) || !strings.Contains(line["error"].(string), "ignores") {
			t.Errorf("line %v", line)
		}
		if !w.held() || !w.doneTick().IsZero() {
			t.Errorf("item %v", w.item())
		}
		// Nothing ended this process, so the lease is kept while the work runs.
		time.Sleep(2 * spec.Lease)
		if res, err := w.invoke(w.process("b"), spec, w.scheduled(0), mustNotRun(t)); res.Outcome != singleton.Duplicate {
			t.Errorf("%+v, %v", res, err)
		}
		// The end of the process, which is what aws-lambda-go makes of a panic.
		p.kill()
		res, err := w.invoke(w.process("b"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if res.WaitedMS < 30_000 || res.WaitedMS > 42_000 {
			t.Errorf("took over after %d ms", res.WaitedMS)
		}
	})
}

func TestPanicReleasesAndGoesOn(t *testing.T) {
	inWorld(t, func(w *world) {
		var log lines
		type custom struct{ n int }
		value := func() (v any) {
			defer func() { v = recover() }()
			_, _ = w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error {
				explode(custom{7})
				return nil
			}, log.option())
			return nil
		}()
		if value != any(custom{7}) {
			t.Errorf("panicked with %v, want the work's own value", value)
		}
		if w.held() || !w.doneTick().IsZero() {
			t.Errorf("item %v", w.item())
		}
		line := log.one(t)
		if line["outcome"] != "failed" || !strings.Contains(line["stack"].(string), "explode") || !strings.Contains(line["error"].(string), "panicked: {7}") {
			t.Errorf("line %v", line)
		}
		res, err := w.invoke(w.process("b"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if res.WaitedMS != 0 || res.Takeover != nil {
			t.Errorf("%+v", res)
		}
	})
}

//go:noinline
func explode(v any) { panic(v) }

func TestGoexitInTheWorkIsAFailure(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error {
			runtime.Goexit()
			return nil
		})
		w.want(res, err, singleton.Failed)
		if w.held() {
			t.Error("not released")
		}
	})
}

func TestRunProtectsItsWrites(t *testing.T) {
	inWorld(t, func(w *world) {
		client := w.db.Client()
		put := func(name string) types.TransactWriteItem {
			return types.TransactWriteItem{Put: &types.Put{TableName: new(table), Item: map[string]av{"pk": s(name), "sk": s("x")}}}
		}
		write := func(run *singleton.Run, name string) error {
			_, err := client.TransactWriteItems(w.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				run.ConditionCheck(), put(name),
			}})
			return err
		}
		var kept *singleton.Run
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			kept = run
			if run.Attempt != 1 || run.RequestID != "req-1" || run.Token() == 0 {
				t.Errorf("run %+v", run)
			}
			if check, err := lockkit.ConditionCheckFromContext(ctx); err != nil || !reflect.DeepEqual(check, run.ConditionCheck()) {
				t.Errorf("the ctx carries the check %+v, %v", check, err)
			}
			return errors.Join(run.Renew(ctx), write(run, "inside"), run.Write(ctx, put("by Write")))
		})
		w.want(res, err, singleton.Completed)
		if kept.Token() != res.Token {
			t.Errorf("token %d, %d in the result", kept.Token(), res.Token)
		}
		if write(kept, "outside") == nil {
			t.Error("a write after the run went through")
		}
		if w.db.Item(table, map[string]av{"pk": s("by Write"), "sk": s("x")}) == nil {
			t.Error("Write wrote nothing")
		}
		if err := kept.Write(w.Context(), put("late")); !errors.Is(err, lockkit.ErrReleased) || w.db.Item(table, map[string]av{"pk": s("late"), "sk": s("x")}) != nil {
			t.Errorf("Write after the run: %v", err)
		}
		if err := kept.Renew(w.Context()); !errors.Is(err, lockkit.ErrReleased) {
			t.Errorf("renewed after the run: %v", err)
		}
	})
}

func TestWithoutADeadlineTheRunWaitsForItsWork(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := singleton.Do(w.Context(), w.process("a").locks, spec, w.scheduled(0), does(3*time.Hour))
		w.want(res, err, singleton.Completed)
		if res.WorkedMS != (3 * time.Hour).Milliseconds() {
			t.Errorf("%+v", res)
		}
	})
}

func TestCallersCancelStopsTheWorkAndReleases(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx, cancel := context.WithCancelCause(w.Context())
		time.AfterFunc(time.Minute, func() { cancel(errBoom) })
		res, err := singleton.Do(ctx, w.process("a").locks, spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error {
			<-ctx.Done()
			time.Sleep(time.Minute) // slow to stop, and waited for
			return nil
		})
		w.want(res, err, singleton.OutOfTime)
		if !errors.Is(err, errBoom) || w.held() || res.WorkedMS != 120_000 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

func TestCallersCancelEndsTheWaitAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.foreign(spec.Lease)
		ctx, cancel := context.WithCancel(w.Context())
		time.AfterFunc(5*time.Second, cancel)
		begin := time.Now()
		res, err := singleton.Do(ctx, w.process("a").locks, spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.OutOfTime)
		if !errors.Is(err, context.Canceled) || time.Since(begin) != 5*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

// The counts of a work are in the result and in the log line, whatever the
// outcome.
func TestCounts(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(_ context.Context, run *singleton.Run) error {
			run.Count("closed", 2)
			run.Count("closed", 3)
			run.Count("skipped", 0)
			for i := range 30 {
				run.Count(fmt.Sprintf("n%02d", i), 1)
			}
			return errors.New("bad item")
		})
		if err == nil || res.Counts["closed"] != 5 || len(res.Counts) != 20 {
			w.Errorf("%v, counts %v", err, res.Counts)
		}
		if _, there := res.Counts["skipped"]; !there {
			w.Error("a count of 0 is missing")
		}
	})
}
