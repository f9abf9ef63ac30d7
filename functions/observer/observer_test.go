package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions/history"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/control"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// weekly runs too seldom for an alarm, hourly does not.
var (
	weekly = job.Spec{Name: "weekly", Lease: 30 * time.Second, ExpectedInterval: 8 * 24 * time.Hour}
	hourly = job.Spec{Name: "hourly", Lease: 30 * time.Second, ExpectedInterval: time.Hour}
)

type world struct {
	*testing.T
	o     *observer
	locks *lockkit.LockTable
	log   bytes.Buffer
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client := locktest.New().Client()
		if err := locktest.CreateTable(t.Context(), client, "locks", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		locks, err := lockkit.New(client, "locks")
		if err != nil {
			t.Fatal(err)
		}
		store, err := history.New(client, history.Config{Table: "locks"})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, locks: locks}
		w.o = &observer{
			history: store, controls: control.New(locks), jobs: []job.Spec{weekly, hourly},
			logger: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		test(w)
	})
}

func (w *world) send(input string) error {
	w.log.Reset()
	return w.o.handle(w.Context(), json.RawMessage(input))
}

// complete runs a job to the end of a tick.
func (w *world) complete(spec job.Spec) {
	w.Helper()
	tick := events.Tick{Time: time.Now().Truncate(time.Second), Source: events.KindSchedule}
	res, err := singleton.Do(w.Context(), w.locks, spec, tick, func(context.Context, *singleton.Run) error { return nil })
	if err != nil || res.Outcome != singleton.Completed {
		w.Fatal(res, err)
	}
}

// daily makes the check and returns what it logged of the weekly job.
func (w *world) daily() string {
	w.Helper()
	if err := w.send(checkInput); err != nil {
		w.Fatal(err)
	}
	if strings.Contains(w.log.String(), "hourly") {
		w.Errorf("a job that an alarm watches is looked after: %s", w.log.String())
	}
	return w.log.String()
}

func TestEveryEventOnRecordIsKeptOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		files, err := filepath.Glob("../../events/testdata/outbound/*.json")
		if err != nil || len(files) != 5 {
			w.Fatalf("%v, %v", files, err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				w.Fatal(err)
			}
			for range 2 {
				if err := w.send(string(raw)); err != nil {
					w.Errorf("%s: %v", f, err)
				}
			}
			if !strings.Contains(w.log.String(), "kept=false") {
				w.Errorf("%s: the second time: %s", f, w.log.String())
			}
		}
		entries, err := w.o.history.List(w.Context(), "nightly-report", history.Query{})
		if err != nil || len(entries) != 4 { // the start of the run is in its end
			w.Errorf("%d entries, %v", len(entries), err)
		}
	})
}

func TestWhatIsNoEventOfOursIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		for input, want := range map[string]string{
			`{}`:                   `an event with source ""`,
			`{"source":"aws.s3"}`:  `an event with source "aws.s3"`,
			`{"check":"over due"}`: `check is "over due": expected {"check":"overdue"}`,
			`7`:                    "no EventBridge envelope",
		} {
			if err := w.send(input); err == nil || !strings.Contains(err.Error(), want) {
				w.Errorf("%s: got %v, expected %s", input, err, want)
			}
		}
		if err := w.send(`{"source":"solotick","id":"1","detail-type":"of tomorrow","detail":{}}`); err != nil || !strings.Contains(w.log.String(), "event left out") {
			w.Errorf("an event of a newer producer: %v, %s", err, w.log.String())
		}
	})
}

func TestAJobThatStoppedCompletingIsOverdue(t *testing.T) {
	inWorld(t, func(w *world) {
		w.complete(weekly)
		time.Sleep(7 * 24 * time.Hour)
		if got := w.daily(); got != "" {
			w.Errorf("after seven days of eight: %s", got)
		}
		// The first check counts as the beginning, so it takes eight days from there.
		time.Sleep(8 * 24 * time.Hour)
		if got := w.daily(); got != "" {
			w.Errorf("at eight days: %s", got)
		}
		time.Sleep(time.Hour)
		if got := w.daily(); !strings.Contains(got, `level=ERROR msg="job overdue" job=weekly`) || !strings.Contains(got, "expected_interval_s=691200") {
			w.Errorf("after eight days: %s", got)
		}
		w.complete(weekly)
		if got := w.daily(); got != "" {
			w.Errorf("after it has completed one: %s", got)
		}
	})
}

func TestAJobThatNeverRanHasOneIntervalOfGrace(t *testing.T) {
	inWorld(t, func(w *world) {
		for day := range 9 {
			if got := w.daily(); got != "" {
				w.Errorf("on day %d: %s", day, got)
			}
			time.Sleep(24 * time.Hour)
		}
		if got := w.daily(); !strings.Contains(got, "job overdue") {
			w.Errorf("on day 9: %s", got)
		}
	})
}

func TestAPausedJobIsShownAndRaisesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.daily()
		if _, err := w.o.controls.Pause(w.Context(), weekly.Name, control.Pause{By: "ana", Why: "moving", Until: time.Now().Add(20 * 24 * time.Hour)}); err != nil {
			w.Fatal(err)
		}
		time.Sleep(10 * 24 * time.Hour)
		if got := w.daily(); !strings.Contains(got, `level=INFO msg="job paused" job=weekly`) || !strings.Contains(got, "by=ana") || strings.Contains(got, "overdue") {
			w.Errorf("while it is paused: %s", got)
		}
		time.Sleep(11 * 24 * time.Hour)
		if got := w.daily(); !strings.Contains(got, "job overdue") {
			w.Errorf("after the pause has ended by itself: %s", got)
		}
	})
}
