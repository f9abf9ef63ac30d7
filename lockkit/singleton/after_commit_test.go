package singleton_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

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

func TestReleaseWithoutAnAnswerAfterACommitChangesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			err := commits(ctx, run)
			w.db.Inject(locktest.Fault{Count: -1, Kind: locktest.FaultBlackHole})
			return err
		})
		w.want(res, err, singleton.Completed)
		if !res.Marked || !res.Committed || !strings.Contains(res.Warning, "was not given back") || !w.held() {
			t.Errorf("%+v", res)
		}
		w.wantSum("1", w.due)
	})
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
