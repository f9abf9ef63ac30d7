package singleton_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit/singleton"
)

func TestCursorIsCheckedBeforeAnyRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, c := range []struct {
			max    int
			cursor string
			word   string
		}{
			{0, "", "empty"}, {0, strings.Repeat("x", 513), "513 bytes"}, {0, "a\xff", "UTF-8"}, {4096, strings.Repeat("é", 2049), "4098 bytes"}, {7, "12345678", "at most 7"},
		} {
			j := spec
			j.MaxCursor = c.max
			res, err := w.invoke(w.process("a"), j, events.Tick{}, func(ctx context.Context, run *singleton.Run) error {
				w.db.ResetRequests()
				err := run.Checkpoint(ctx, c.cursor, add("page1"))
				w.requests("")
				return err
			})
			w.want(res, err, singleton.Failed)
			if !strings.Contains(err.Error(), c.word) {
				t.Errorf("%v does not say %q", err, c.word)
			}
		}
		for i, j := range []struct{ max, length int }{{0, 512}, {4096, 4096}, {1, 1}} {
			k := spec
			k.MaxCursor = j.max
			at := w.scheduled(time.Duration(i) * time.Second)
			text := strings.Repeat("x", j.length)
			res, err := w.invoke(w.process("a"), k, at, func(ctx context.Context, run *singleton.Run) error {
				return errors.Join(run.Checkpoint(ctx, text), run.Yield())
			})
			w.want(res, err, singleton.OutOfTime)
			if data, _ := w.cursor(); data != text {
				t.Errorf("stored %d bytes, want %d", len(data), j.length)
			}
		}
	})
}

func TestRunsOutsideTheTicksKeepNoCursor(t *testing.T) {
	for name, tick := range map[string]func(w *world) events.Tick{
		"without a tick":        func(*world) events.Tick { return events.Tick{} },
		"a done tick, forced":   func(w *world) events.Tick { return events.Tick{Time: w.due, Force: true} },
		"an older tick, forced": func(w *world) events.Tick { return events.Tick{Time: w.due.Add(-time.Hour), Force: true} },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.process("a")
				_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
				_, _ = w.invoke(p, spec, w.scheduled(time.Minute), pages(3, 2, yields)) // leaves a cursor
				for _, last := range []func(context.Context, *singleton.Run) error{yields, commits, func(context.Context, *singleton.Run) error { return nil }} {
					res, err := w.invoke(p, spec, tick(w), func(ctx context.Context, run *singleton.Run) error {
						if run.Cursor != "" || !run.CursorTick.IsZero() {
							t.Errorf("got the cursor %q", run.Cursor)
						}
						if err := run.Checkpoint(ctx, "other", add("aside")); err != nil {
							return err
						}
						return last(ctx, run)
					})
					if res.Outcome != singleton.Completed && res.Outcome != singleton.OutOfTime {
						t.Errorf("%+v, %v", res, err)
					}
				}
				if data, at := w.cursor(); data != "2" || !at.Equal(w.due.Add(time.Minute)) || !w.doneTick().Equal(w.due) {
					t.Errorf("the cursor became %q of %v, done %v", data, at, w.doneTick())
				}
				if got := w.added("aside"); got != "3" {
					t.Errorf("the items were written %s times, want 3", got)
				}
				res, err := w.invoke(p, spec, w.scheduled(time.Minute), pages(3, 3, yields))
				w.want(res, err, singleton.Completed)
				w.wantPages(3)
			})
		})
	}
}

func TestForcedRunOfADoneTickGoesOnAtItsOwnCursor(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
		forced := events.Tick{Time: w.due, Force: true}
		res, err := w.invoke(p, spec, forced, pages(3, 2, yields))
		w.want(res, err, singleton.OutOfTime)
		res, err = w.invoke(p, spec, forced, pages(3, 2, yields))
		w.want(res, err, singleton.Completed)
		w.wantPages(3)
		w.wantSum("1", w.due)
		// What such a run left is no cursor of the ticks after it.
		_, _ = w.invoke(p, spec, forced, pages(5, 1, yields))
		_, _ = w.invoke(p, spec, w.scheduled(time.Minute), func(_ context.Context, run *singleton.Run) error {
			if run.Cursor != "" {
				t.Errorf("got the cursor %q of %v", run.Cursor, run.CursorTick)
			}
			return nil
		})
		if data, _ := w.cursor(); data != "" {
			t.Errorf("left %q", data)
		}
	})
}

func TestTakeoverReportsTheDeadRunsCursor(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("pod-1")
		text := strings.Repeat("é", 100)
		gone := make(chan struct{})
		w.Cleanup(func() { <-gone })
		started := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = w.invoke(p, spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
				err := run.Checkpoint(ctx, text)
				p.kill()
				close(started)
				<-ctx.Done()
				return err
			})
		}()
		<-started
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), func(_ context.Context, run *singleton.Run) error {
			if run.Cursor != text || !run.CursorTick.Equal(w.due) {
				t.Errorf("cursor %q of %v", run.Cursor, run.CursorTick)
			}
			return nil
		})
		w.want(res, err, singleton.Completed)
		if res.Takeover == nil || res.Takeover.Cursor != text[:120] {
			t.Errorf("%+v", res.Takeover)
		}
	})
}

func TestCursorThatCannotBeReadFailsBeforeTheWork(t *testing.T) {
	for _, bad := range []av{s("x"), &types.AttributeValueMemberM{Value: map[string]av{"tick": n(1)}}, &types.AttributeValueMemberM{Value: map[string]av{"tick": s("1"), "data": s("x")}}} {
		inWorld(t, func(w *world) {
			p := w.process("a")
			_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
			w.put(map[string]av{"cursor": bad})
			res, err := w.invoke(p, spec, w.scheduled(time.Second), mustNotRun(t))
			w.want(res, err, singleton.Failed)
			if !strings.Contains(err.Error(), "attribute cursor") || w.held() {
				t.Error(err)
			}
		})
	}
}
