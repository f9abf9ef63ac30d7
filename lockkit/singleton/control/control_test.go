package control_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/control"
)

func TestSecondPauseNamesTheFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.pause(rest)
		w.db.ResetRequests()
		_, err := w.ctl.Pause(w.Context(), report.Name, control.Pause{By: "joe", Why: "his own reason"})
		already, ok := errors.AsType[*control.PausedError](err)
		if !ok || !errors.Is(err, control.ErrPaused) || already.Pause != first || !strings.Contains(err.Error(), `"jane"`) || !strings.Contains(err.Error(), first.ID) {
			t.Errorf("got %v", err)
		}
		w.requests("w")
		second, err := w.ctl.Replace(w.Context(), report.Name, first.ID, control.Pause{By: "joe", Why: "longer", Until: time.Now().Add(time.Hour)})
		if err != nil || second.ID == first.ID {
			t.Fatal(second, err)
		}
		if now := w.look(); *now.Paused != second || second.Until.IsZero() {
			t.Errorf("%+v, want %+v", now.Paused, second)
		}
	})
}

func TestPauseThatHasEndedIsOverwritten(t *testing.T) {
	inWorld(t, func(w *world) {
		until := time.Now().Add(time.Hour)
		first := w.pause(control.Pause{By: "jane", Why: "an hour", Until: until})
		time.Sleep(time.Hour - time.Millisecond)
		if _, err := w.ctl.Pause(w.Context(), report.Name, rest); !errors.Is(err, control.ErrPaused) {
			t.Errorf("before its end: %v", err)
		}
		time.Sleep(time.Millisecond)
		if now := w.look(); *now.Paused != first {
			t.Errorf("%+v", now)
		}
		w.pause(rest)
	})
}

func TestPauseThatCannotBeUnderstoodIsSeenAndOverwritten(t *testing.T) {
	for name, attribute := range map[string]lockkit.Item{
		"no map": {"paused": s("yes")}, "no id": {"paused": m(lockkit.Item{"by": s("x")})}, "odd id": {"paused": m(lockkit.Item{"id": n("1")})},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.put(lockkit.Item{"_type": s("LOCK"), "fence": n("7"), "paused": attribute["paused"]})
				if now := w.look(); len(now.Faults) != 1 || !strings.Contains(now.Faults[0], "paused") || now.Paused != nil {
					t.Errorf("%+v", now)
				}
				p := w.pause(rest)
				if now := w.look(); *now.Paused != p || now.Token != 7 {
					t.Errorf("%+v", now)
				}
			})
		})
	}
	inWorld(t, func(w *world) { // its id is known, so it takes the one who names it
		w.put(lockkit.Item{"_type": s("LOCK"), "fence": n("7"), "paused": m(lockkit.Item{"id": s("p1"), "until": s("tomorrow")})})
		if _, err := w.ctl.Pause(w.Context(), report.Name, rest); !errors.Is(err, control.ErrPaused) {
			t.Errorf("got %v", err)
		}
		if _, err := w.ctl.Replace(w.Context(), report.Name, "p1", rest); err != nil {
			t.Error(err)
		}
	})
}

func TestPauseTakesTheTimeToLiveOff(t *testing.T) {
	inWorld(t, func(w *world) {
		lease, err := w.locks(lockkit.WithTTL("expires", 0)).Acquire(w.Context(), report.Name, report.Lease)
		if err != nil || lease.Release(w.Context()) != nil || w.item()["expires"] == nil {
			t.Fatal("no item with a time to live", err)
		}
		w.pause(rest)
		if it := w.item(); it["expires"] != nil {
			t.Errorf("item %v", it)
		}
	}, lockkit.WithTTL("expires", 0))
}

func TestStopEndsTheRunThatWasSeen(t *testing.T) {
	inWorld(t, func(w *world) {
		was, result := w.hold()
		if was.Run == nil || !was.Run.Tick.Equal(w.due) || was.Holder != "pod" || was.Lease != report.Lease {
			t.Fatalf("%+v", was)
		}
		time.Sleep(time.Second)
		asked := time.Now()
		for range 2 { // again changes nothing
			if err := w.ctl.Stop(w.Context(), report.Name, was.Token, "jane"); err != nil {
				t.Fatal(err)
			}
		}
		w.requests("WW")
		if now := w.look(); now.Stop == nil || *now.Stop != (control.Stop{Token: was.Token, By: "jane"}) {
			t.Errorf("%+v", now.Stop)
		}
		res := <-result
		if res.Outcome != singleton.Stopped || res.Stopped.By != "jane" || time.Since(asked) > report.Lease/3 {
			t.Errorf("after %s: %+v", time.Since(asked), res)
		}
		if now := w.look(); now.Held() || now.Run != nil || now.Prev.Outcome != "stopped" {
			t.Errorf("%+v", now)
		}
		w.run(0, func(context.Context, *singleton.Run) error {
			if now := w.look(); now.Stop != nil {
				t.Errorf("the next run finds the stop: %+v", now.Stop)
			}
			return nil
		})
	})
}

func TestStopOfAnotherClientSaysThatItWouldNotNotice(t *testing.T) {
	inWorld(t, func(w *world) {
		was := w.dead(time.Minute)
		err := w.ctl.Stop(w.Context(), report.Name, was.Token, "jane")
		if err == nil || errors.Is(err, control.ErrChanged) || !strings.Contains(err.Error(), "another client") || !strings.Contains(err.Error(), `"pod"`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestReleaseFreesTheLockAndFencesItsHolderOff(t *testing.T) {
	inWorld(t, func(w *world) {
		was, result := w.hold()
		before := w.item()
		check := func() error {
			_, err := w.db.Client().TransactWriteItems(w.Context(), held(was))
			return err
		}
		if check() != nil {
			t.Fatal("the holder's check fails before the release")
		}
		w.db.ResetRequests()
		if err := w.ctl.Release(w.Context(), was, "jane", "the host is gone"); err != nil {
			t.Fatal(err)
		}
		w.requests("W")
		if check() == nil {
			t.Error("the holder's check succeeds after the release")
		}
		now := w.look()
		want := *was.Run
		want.Ended, want.Outcome, want.Err = time.Now().UTC().Truncate(time.Millisecond), "released", "jane: the host is gone"
		if now.Held() || now.Token != was.Token+1 || now.Run != nil || *now.Prev != want || now.Holder != "" || now.Lease != 0 || !now.Renewed.IsZero() {
			t.Errorf("%+v, prev %+v, want %+v", now, now.Prev, want)
		}
		if it := w.item(); !reflect.DeepEqual(it["rvn"], before["rvn"]) || it["at"] != nil || it["until"] != nil {
			t.Errorf("item %v", it)
		}
		// It was not dead: it notices at its next renewal, and does not take the
		// record for one of its own.
		if res := w.run(time.Second, nothing); res.Outcome != singleton.Completed || res.Token != was.Token+2 || res.WaitedMS != 0 || res.Takeover != nil {
			t.Errorf("next: %+v", res)
		}
		if res := <-result; res.Outcome != singleton.Lost {
			t.Errorf("released: %+v", res)
		}
	})
}

func TestReleaseOfAnotherClientLeavesARecordToo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(0, nothing)
		was := w.dead(24 * time.Hour)
		if err := w.ctl.Release(w.Context(), was, "jane", "it left a day's lease"); err != nil {
			t.Fatal(err)
		}
		if now := w.look(); now.Prev.Owner != was.Owner || now.Prev.Outcome != "released" || !now.Prev.Tick.IsZero() || !now.Tick.Equal(w.due) {
			t.Errorf("%+v, prev %+v", now, now.Prev)
		}
	})
}

func TestLostAnswerToAReleaseIsRecognisedUnderASuccessor(t *testing.T) {
	inWorld(t, func(w *world) {
		was := w.dead(24 * time.Hour)
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Wait: 2 * time.Second})
		go func() {
			time.Sleep(time.Second)
			if res := w.run(0, func(context.Context, *singleton.Run) error { time.Sleep(time.Minute); return nil }); res.Outcome != singleton.Completed {
				t.Errorf("%+v", res)
			}
		}()
		if err := w.ctl.Release(w.Context(), was, "jane", "gone"); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
	})
}

func TestLook(t *testing.T) {
	inWorld(t, func(w *world) {
		if got := w.look(); !reflect.DeepEqual(got, control.State{Job: report.Name, Table: table}) {
			t.Errorf("without an item: %+v", got)
		}
		w.requests("R")
		w.run(0, func(ctx context.Context, run *singleton.Run) error {
			if err := run.Checkpoint(ctx, "page 2"); err != nil {
				t.Error(err)
			}
			got := w.look()
			if got.Run == nil || got.Run.Owner != got.Owner || got.Prev != nil || got.Cursor != "page 2" || !got.CursorTick.Equal(w.due) || got.Step != 1 || got.Token != run.Token() || got.Renewed.IsZero() {
				t.Errorf("%+v", got)
			}
			return errors.New("boom")
		})
		got := w.look()
		if got.Held() || got.Run != nil || got.Prev == nil || got.Prev.Outcome != "failed" || got.Prev.Err != "boom" || !got.Tick.IsZero() {
			t.Errorf("%+v, prev %+v", got, got.Prev)
		}
		w.run(0, nothing)
		if got := w.look(); !got.Tick.Equal(w.due) || got.Cursor != "" || got.Prev.Outcome != "completed" || got.Faults != nil {
			t.Errorf("%+v", got)
		}
		it := w.item()
		it["tick"], it["step"], it["cursor"], it["pending"] = s("x"), s("x"), s("x"), n("1764554400123")
		w.put(it)
		if got := w.look(); len(got.Faults) != 3 || got.Pending.UnixMilli() != 1764554400123 {
			t.Errorf("faults %q, %+v", got.Faults, got)
		}
	})
}

// The record that a client of another language leaves in place is not its own.
func TestLookTellsTheHoldersRecordFromAnOlderOne(t *testing.T) {
	inWorld(t, func(w *world) {
		was, result := w.hold()
		it := w.item()
		it["owner"], it["rvn"] = s("foreign"), s("v1")
		w.put(it)
		if got := w.look(); got.Run != nil || got.Prev == nil || got.Prev.Owner != was.Owner {
			t.Errorf("%+v", got)
		}
		<-result
	})
}

func TestBadInputSendsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := w.Context()
		pause := func(p control.Pause) func() error {
			return func() error { _, err := w.ctl.Pause(ctx, report.Name, p); return err }
		}
		held := control.State{Job: report.Name, Table: table, Owner: "o", Token: 7}
		release := func(change func(*control.State), by, why string) func() error {
			seen := held
			change(&seen)
			return func() error { return w.ctl.Release(ctx, seen, by, why) }
		}
		same := func(*control.State) {}
		for words, do := range map[string]func() error{
			"who pauses is empty":                     pause(control.Pause{Why: "x"}),
			"reason for the pause is empty":           pause(control.Pause{By: "jane", Why: " "}),
			"has 129 bytes, expected at most 128":     pause(control.Pause{By: "jane", Why: strings.Repeat("x", 129)}),
			"has 33 bytes, expected at most 32":       pause(control.Pause{By: strings.Repeat("x", 33), Why: "x"}),
			"not valid UTF-8":                         pause(control.Pause{By: "a\xff", Why: "x"}),
			"control character":                       pause(control.Pause{By: "jane", Why: "a\nb"}),
			"would end at":                            pause(control.Pause{By: "jane", Why: "x", Until: time.Now()}),
			"lock name is empty":                      func() error { _, err := w.ctl.Pause(ctx, "", rest); return err },
			"look at the item of job \"\"":            func() error { _, err := w.ctl.Look(ctx, ""); return err },
			"id of the pause is empty":                func() error { return w.ctl.Resume(ctx, report.Name, "") },
			"id is empty":                             func() error { _, err := w.ctl.Replace(ctx, report.Name, "", rest); return err },
			"who stops the run is empty":              func() error { return w.ctl.Stop(ctx, report.Name, 7, "") },
			"who releases the lock is empty":          release(same, "", "x"),
			"reason for the release is empty":         release(same, "jane", ""),
			"has 81 bytes, expected at most 80":       release(same, "jane", strings.Repeat("x", 81)),
			"nothing to release":                      release(func(s *control.State) { s.Owner = "" }, "jane", "x"),
			`seen in table "other"`:                   release(func(s *control.State) { s.Table = "other" }, "jane", "x"),
			"9223372036854775807 cannot be raised":    release(func(s *control.State) { s.Token = math.MaxInt64 }, "jane", "x"),
			"the lock name is empty: expected 1 byte": release(func(s *control.State) { s.Job = "" }, "jane", "x"),
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("got %v, want an error about %q", err, words)
			}
		}
		w.requests("")
	})
}

func TestOneOfManyPausesWins(t *testing.T) {
	inWorld(t, func(w *world) {
		var all sync.WaitGroup
		var mu sync.Mutex
		var won []control.Pause
		for range 20 {
			all.Go(func() {
				p, err := w.ctl.Pause(w.Context(), report.Name, rest)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, p)
				} else if !errors.Is(err, control.ErrPaused) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if now := w.look(); len(won) != 1 || *now.Paused != won[0] {
			t.Errorf("%d pauses succeeded: %+v, and %+v is there", len(won), won, now.Paused)
		}
	})
}

func TestFailuresOfDynamoDB(t *testing.T) {
	for name, c := range map[string]struct {
		fault    locktest.Fault
		ok       bool
		unknown  bool
		requests int
	}{
		"passes":           {locktest.Fault{Kind: locktest.FaultThrottle, Count: 3}, true, false, 4},
		"conflict":         {locktest.Fault{Kind: locktest.FaultConflict, Count: 3}, true, false, 4},
		"stays":            {locktest.Fault{Kind: locktest.FaultFailBefore, Count: -1}, false, true, 4},
		"swallowed":        {locktest.Fault{Kind: locktest.FaultBlackHole, Count: 1}, true, false, 2},
		"swallowed always": {locktest.Fault{Kind: locktest.FaultBlackHole, Count: -1}, false, true, 4},
		"not allowed":      {locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1}, false, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				defer w.db.Inject(c.fault)()
				_, err := w.ctl.Pause(w.Context(), report.Name, rest)
				if (err == nil) != c.ok || errors.Is(err, control.ErrNoAnswer) != c.unknown || len(w.db.Requests()) != c.requests {
					t.Errorf("%v after %d requests", err, len(w.db.Requests()))
				}
				if err != nil && !strings.Contains(err.Error(), `"report" in table "locks"`) {
					t.Errorf("the error does not name job and table: %v", err)
				}
			})
		})
	}
}

func TestCancelledControlEndsAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		defer w.db.Inject(locktest.Fault{Kind: locktest.FaultBlackHole, Count: -1})()
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := w.ctl.Pause(ctx, report.Name, rest); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

func TestTableWithOtherKeys(t *testing.T) {
	inWorld(t, func(w *world) {
		if err := locktest.CreateTable(w.Context(), w.db.Client(), "others", "id", ""); err != nil {
			t.Fatal(err)
		}
		locks, err := lockkit.New(w.db.Client(), "others", lockkit.WithKeys("id", ""))
		if err != nil {
			t.Fatal(err)
		}
		ctl := control.New(locks)
		p, err := ctl.Pause(w.Context(), report.Name, rest)
		if err != nil {
			t.Fatal(err)
		}
		if err := ctl.Resume(w.Context(), report.Name, p.ID); err != nil {
			t.Error(err)
		}
	})
}
