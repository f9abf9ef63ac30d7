package control_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton/control"
)

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
				begin := time.Now()
				_, err := w.ctl.Pause(w.Context(), report.Name, rest)
				if (err == nil) != c.ok || errors.Is(err, control.ErrNoAnswer) != c.unknown || len(w.db.Requests()) != c.requests {
					t.Errorf("%v after %d requests", err, len(w.db.Requests()))
				}
				if took := time.Since(begin); took > 13*time.Second {
					t.Errorf("it took %s", took)
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

func TestControlsSayThatTheySentNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		_, paused := w.ctl.Pause(ctx, report.Name, rest)
		_, looked := w.ctl.Look(ctx, report.Name)
		for _, err := range []error{
			paused, looked, w.ctl.Resume(ctx, report.Name, "p1"), w.ctl.Stop(ctx, report.Name, 7, "jane"),
			w.ctl.Release(ctx, control.State{Job: report.Name, Table: table, Owner: "o", Token: 7}, "jane", "dead"),
		} {
			if !errors.Is(err, context.Canceled) || errors.Is(err, control.ErrNoAnswer) || !strings.Contains(err.Error(), "nothing was sent") {
				t.Errorf("got %v", err)
			}
		}
		w.requests("")
	})
}

// The bounds that the package comment states.
func TestControlsWithoutADeadlineAreBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		defer w.db.Inject(locktest.Fault{Kind: locktest.FaultBlackHole, Count: -1})()
		begin := time.Now()
		_, paused := w.ctl.Pause(w.Context(), report.Name, rest)
		took := time.Since(begin)
		_, looked := w.ctl.Look(w.Context(), report.Name)
		if paused == nil || looked == nil || took > 13*time.Second || time.Since(begin)-took > 13*time.Second {
			t.Errorf("%v after %s, %v after %s", paused, took, looked, time.Since(begin)-took)
		}
	})
}

func TestNamesOfJobsAreShownSafely(t *testing.T) {
	inWorld(t, func(w *world) {
		for name, words := range map[string]string{"a\x1b[2Jb": "control character", strings.Repeat("n", 3000): "… (3000 bytes)"} {
			_, paused := w.ctl.Pause(w.Context(), name, rest)
			_, looked := w.ctl.Look(w.Context(), name)
			for _, err := range []error{paused, looked, w.ctl.Resume(w.Context(), name, "p1"), w.ctl.Stop(w.Context(), name, 7, "jane")} {
				if err == nil || !strings.Contains(err.Error(), words) || len(err.Error()) > 500 || strings.Contains(err.Error(), "\x1b") {
					t.Errorf("got %.1000v, want an error about %q", err, words)
				}
			}
		}
		w.requests("")
		long := strings.Repeat("n", 1000) // a name that a job can have
		w.pause(rest)
		if err := w.ctl.Resume(w.Context(), long, "p1"); !errors.Is(err, control.ErrChanged) || len(err.Error()) > 500 {
			t.Errorf("got %.2000v", err)
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
