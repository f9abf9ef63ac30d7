package singleton_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

// pages is a work of some pages that each raise its counter: it goes on where the
// cursor is, and ends as last says after as many pages as it may do.
func pages(total, most int, last func(context.Context, *singleton.Run) error) singleton.Work {
	return func(ctx context.Context, run *singleton.Run) error {
		page, _ := strconv.Atoi(run.Cursor)
		for did := 0; page < total; did++ {
			if did == most {
				return last(ctx, run)
			}
			page++
			if err := run.Checkpoint(ctx, strconv.Itoa(page), add("page"+strconv.Itoa(page))); err != nil {
				return err
			}
		}
		return commits(ctx, run)
	}
}

func yields(_ context.Context, run *singleton.Run) error { return run.Yield() }

// wantPages checks that each of the pages was written once.
func (w *world) wantPages(total int) {
	w.Helper()
	for i := range total {
		if got := w.added("page" + strconv.Itoa(i+1)); got != "1" {
			w.Errorf("page %d was written %s times", i+1, got)
		}
	}
}

// cursor is what the item has: data and tick.
func (w *world) cursor() (data string, tick time.Time) {
	m, ok := w.item()["cursor"].(*types.AttributeValueMemberM)
	if !ok {
		return "", time.Time{}
	}
	ms, _ := strconv.ParseInt(m.Value["tick"].(*types.AttributeValueMemberN).Value, 10, 64)
	return m.Value["data"].(*types.AttributeValueMemberS).Value, time.UnixMilli(ms).UTC()
}

func TestGuaranteeLongJobGoesOnAtItsCursor(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		for i := range 2 {
			res, err := w.invoke(p, spec, w.scheduled(0), pages(5, 2, yields))
			w.want(res, err, singleton.OutOfTime)
			data, tick := w.cursor()
			if want := strconv.Itoa(2*i + 2); data != want || !tick.Equal(w.due) || w.held() || !w.doneTick().IsZero() || !strings.Contains(err.Error(), "yielded") {
				t.Errorf("cursor %q of %v, want %s; %v", data, tick, want, err)
			}
		}
		res, err := w.invoke(p, spec, w.scheduled(0), pages(5, 2, yields))
		w.want(res, err, singleton.Completed)
		w.wantPages(5)
		w.wantSum("1", w.due)
		if data, _ := w.cursor(); data != "" {
			t.Errorf("the completed tick left the cursor %q", data)
		}
	})
}

func TestNextTickGetsTheCursorOfAnUnfinishedOne(t *testing.T) {
	for name, end := range map[string]func(context.Context, *singleton.Run) error{
		"yielded": yields,
		"failed":  func(context.Context, *singleton.Run) error { return errBoom },
		"out of time": func(ctx context.Context, _ *singleton.Run) error {
			<-ctx.Done()
			return nil
		},
		"yielded, and returned nil": func(_ context.Context, run *singleton.Run) error { _ = run.Yield(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.process("a")
				_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
				res, err := w.invoke(p, spec, w.scheduled(time.Minute), pages(3, 2, end))
				if err == nil {
					t.Fatalf("%+v", res)
				}
				var got singleton.Run
				res, err = w.invoke(p, spec, w.scheduled(2*time.Minute), func(ctx context.Context, run *singleton.Run) error {
					got.Tick, got.Since, got.Cursor, got.CursorTick = run.Tick, run.Since, run.Cursor, run.CursorTick
					return pages(3, 2, yields)(ctx, run)
				})
				w.want(res, err, singleton.Completed)
				if !got.Tick.Equal(w.due.Add(2*time.Minute)) || !got.Since.Equal(w.due) || got.Cursor != "2" || !got.CursorTick.Equal(w.due.Add(time.Minute)) {
					t.Errorf("tick %v since %v cursor %q of %v", got.Tick, got.Since, got.Cursor, got.CursorTick)
				}
				w.wantPages(3)
			})
		})
	}
}

// A tick that comes late, after a newer one was begun, finishes that one: its
// pages are written already.
func TestLateTickFinishesANewerOneThatWasBegun(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(2*time.Minute), pages(3, 2, yields))
		var log lines
		res, err := w.invoke(p, spec, w.scheduled(time.Minute), pages(3, 2, yields), log.option())
		w.want(res, err, singleton.Completed)
		w.wantPages(3)
		newer := w.due.Add(2 * time.Minute)
		if prev := w.item()["prev"].(*types.AttributeValueMemberM).Value["t"].(*types.AttributeValueMemberN).Value; prev != strconv.FormatInt(newer.UnixMilli(), 10) {
			t.Errorf("the record is of tick %s, want the one that was run", prev)
		}
		w.wantSum("1", newer)
		if !res.Tick.Equal(w.due.Add(time.Minute)) || !res.RunsTick.Equal(newer) || log.one(t)["runs_tick"] == nil {
			t.Errorf("%+v", res)
		}
		res, err = w.invoke(p, spec, w.scheduled(2*time.Minute), mustNotRun(t))
		w.want(res, err, singleton.Duplicate)
	})
}

func TestPlainCompletionClearsTheCursor(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			return run.Checkpoint(ctx, "p1", add("page1"))
		})
		w.want(res, err, singleton.Completed)
		w.requests("WWW")
		if data, _ := w.cursor(); data != "" || !w.doneTick().Equal(w.due) {
			t.Errorf("cursor %q, done %v", data, w.doneTick())
		}
	})
}

func TestCheckpointsAreWrittenOnceThroughFaults(t *testing.T) {
	for name, faults := range disturbances {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.process("a")
				for _, f := range faults {
					w.db.Inject(f)
				}
				res, err := w.invoke(p, spec, w.scheduled(0), pages(3, 3, yields))
				w.want(res, err, singleton.Completed)
				time.Sleep(2 * time.Minute)
				w.wantPages(3)
				w.wantSum("1", w.due)
			})
		})
	}
}

// A checkpoint whose answer never came stops the run's further transactions, so
// that nobody writes its page a second time, and the next run begins at what is
// stored.
func TestGuaranteeLateCheckpointIsNeitherDoubledNorBroughtBack(t *testing.T) {
	for name, c := range map[string]struct {
		fault  locktest.Fault
		cursor string // that the next run gets
		page   string // times that the page is there before the next run
	}{
		"applied":             {locktest.Fault{Operation: transaction, Kind: locktest.FaultDropAnswer, Wait: time.Minute}, "1", "1"},
		"never applied":       {locktest.Fault{Operation: transaction, Kind: locktest.FaultBlackHole, Count: -1}, "", "0"},
		"on its way for long": {locktest.Fault{Operation: transaction, Kind: locktest.FaultLate, Count: -1, Wait: time.Minute}, "", "0"},
		"arrives meanwhile":   {locktest.Fault{Operation: transaction, Kind: locktest.FaultLate, Count: -1, Wait: 3 * time.Second}, "1", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.process("a")
				remove := w.db.Inject(c.fault)
				res, err := w.invoke(p, spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					short, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					if err := run.Checkpoint(short, "1", add("page1")); !errors.Is(err, lockkit.ErrUnknownOutcome) {
						t.Errorf("error %v", err)
					}
					remove()
					if err := run.Checkpoint(ctx, "1", add("page1")); err == nil || !strings.Contains(err.Error(), "may have been applied") {
						t.Errorf("the page could be written twice: %v", err)
					}
					if err := run.Commit(ctx, add("sum")); err == nil || !strings.Contains(err.Error(), "may have been applied") {
						t.Errorf("committed after it: %v", err)
					}
					time.Sleep(4 * time.Second)
					return run.Yield()
				})
				w.want(res, err, singleton.OutOfTime)
				time.Sleep(2 * time.Minute)
				if got := w.added("page1"); got != c.page {
					t.Errorf("the page is there %s times, want %s", got, c.page)
				}
				res, err = w.invoke(p, spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					if run.Cursor != c.cursor {
						t.Errorf("cursor %q, want %q", run.Cursor, c.cursor)
					}
					return pages(3, 3, yields)(ctx, run)
				})
				w.want(res, err, singleton.Completed)
				w.wantPages(3)
				w.wantSum("1", w.due)
			})
		})
	}
}

// A work that returns nil after a checkpoint whose page was not written has not
// done its tick; after one that turns out to have been written it has.
func TestNilAfterACheckpointWithoutAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		kind    locktest.FaultKind
		outcome singleton.Outcome
	}{
		"applied":     {locktest.FaultDropAnswer, singleton.Completed},
		"not applied": {locktest.FaultBlackHole, singleton.OutOfTime},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.db.Inject(locktest.Fault{Operation: transaction, Kind: c.kind, Wait: time.Minute, Count: -1})
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					ctx, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					_ = run.Checkpoint(ctx, "1", add("page1"))
					return nil
				})
				w.want(res, err, c.outcome)
			})
		})
	}
}

// TestGuaranteeCheckpointThatFailedIsNotPassedOver is about works that ignore the
// error of a Checkpoint and return nil.
func TestGuaranteeCheckpointThatFailedIsNotPassedOver(t *testing.T) {
	fails := func(ctx context.Context, run *singleton.Run) error { return run.Checkpoint(ctx, "1", fresh("taken")) }
	for name, c := range map[string]struct {
		first, then func(ctx context.Context, run *singleton.Run) error
		want        singleton.Outcome
	}{
		"its own condition failed": {fails, nil, singleton.Failed},
		"no cursor":                {func(ctx context.Context, run *singleton.Run) error { return run.Checkpoint(ctx, "") }, nil, singleton.Failed},
		"its ctx had ended": {func(ctx context.Context, run *singleton.Run) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return run.Checkpoint(ctx, "1")
		}, nil, singleton.Failed},
		"corrected":      {fails, func(ctx context.Context, run *singleton.Run) error { return run.Checkpoint(ctx, "1") }, singleton.Completed},
		"then committed": {fails, func(ctx context.Context, run *singleton.Run) error { return run.Commit(ctx) }, singleton.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if err := w.db.Put(table, map[string]av{"pk": s("taken"), "sk": s("counter")}); err != nil {
					t.Fatal(err)
				}
				res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					if c.first(ctx, run) == nil {
						t.Error("Checkpoint succeeded")
					}
					if c.then != nil {
						return c.then(ctx, run)
					}
					return nil
				})
				w.want(res, err, c.want)
				if (err == nil) != res.Marked || w.doneTick().IsZero() == res.Marked {
					t.Errorf("%+v, done %v", res, w.doneTick())
				}
			})
		})
	}
}
