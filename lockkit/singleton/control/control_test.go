package control_test

import (
	"context"
	"errors"
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
		w.run(0, func(ctx context.Context, _ *singleton.Run) error {
			if now := w.lookIn(ctx); now.Stop != nil {
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

// The record that a client of another language leaves in place is not its own.
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
