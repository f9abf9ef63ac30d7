package demo

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

func TestASwitchTakesOnlyWhatMakesSense(t *testing.T) {
	for _, test := range []struct {
		name, value string
		want        Switches // zero: refused
	}{
		{"SOLOTICK_DEMO_PAUSE", "300ms", Switches{Pause: 300 * time.Millisecond}},
		{"SOLOTICK_DEMO_PAUSE", "11s", Switches{}},
		{"SOLOTICK_DEMO_PAUSE", "300", Switches{}},
		{"SOLOTICK_DEMO_LEASE", "2s", Switches{Lease: 2 * time.Second}},
		{"SOLOTICK_DEMO_LEASE", "999ms", Switches{}},
		{"SOLOTICK_DEMO_LEASE", "31s", Switches{}},
		{"SOLOTICK_DEMO_UNFENCED", "1", Switches{Unfenced: true}},
		{"SOLOTICK_DEMO_UNFENCED", "yes", Switches{}},
		{"SOLOTICK_DEMO_PAGE", "4", Switches{Page: 4}},
		{"SOLOTICK_DEMO_PAGE", "0", Switches{}},
		{"SOLOTICK_DEMO_PAGE", "1001", Switches{}},
		{"SOLOTICK_DEMO_PAGE", "four", Switches{}},
	} {
		var s Switches
		known := false
		for _, v := range append(s.Variables(), s.UnfencedVariable(), s.PageVariable()) {
			if v.Name != test.name {
				continue
			}
			known = true
			err := v.Set(test.value)
			if (err == nil) != (test.want != Switches{}) || s != test.want || !v.Optional || v.Want == "" || v.Fix == "" {
				t.Errorf("%s=%s: %+v, %v", test.name, test.value, s, err)
			}
		}
		if !known {
			t.Errorf("%s is not read", test.name)
		}
	}
}

func TestSwitchesThatAreOffChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		spec := job.Spec{Name: "x", Lease: 30 * time.Second}
		begin := time.Now()
		var off Switches
		off.Work(t.Context(), logger, "something")
		if got := off.Apply(spec, logger); got != spec || log.Len() > 0 || time.Since(begin) != 0 {
			t.Errorf("%+v after %s, log:\n%s", got, time.Since(begin), &log)
		}
		on := Switches{Lease: 2 * time.Second, Pause: time.Second}
		spec.Lease = 2 * time.Second
		if got := on.Apply(job.Spec{Name: "x", Lease: 30 * time.Second}, logger); got != spec || !strings.Contains(log.String(), `level=WARN msg="demonstration switches are on"`) {
			t.Errorf("%+v, log:\n%s", got, &log)
		}
		on.Work(t.Context(), logger, "something")
		if time.Since(begin) != time.Second || !strings.Contains(log.String(), `level=DEBUG msg="at work" on=something`) {
			t.Errorf("after %s, log:\n%s", time.Since(begin), &log)
		}
	})
}
