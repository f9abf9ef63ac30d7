package control_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/control"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// deliver runs the tick as Lambda does and returns the run's log line.
func (w *world) deliver(spec job.Spec, tick time.Time, work singleton.Work) map[string]any {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), report.Timeout)
	defer cancel()
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
	var log bytes.Buffer
	_, _ = singleton.Do(ctx, w.locks(lockkit.WithHolderLabel("pod")), spec, events.Tick{Time: tick, Source: events.KindSchedule, Attempt: 1}, work,
		singleton.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))))
	line := map[string]any{}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		w.Errorf("line %q: %v", log.String(), err)
	}
	return line
}

// Why the tick of 02:00 was not run is told by the line of its run and by the item,
// until the next run: who paused the job and since when, who held the lock and since
// when, what it failed with, and in which request. A tick that has neither a line
// nor a record reached no acquire.
func TestWhyATickWasNotRunIsTold(t *testing.T) {
	waits := func(ctx context.Context, _ *singleton.Run) error { <-ctx.Done(); return nil }
	for name, c := range map[string]struct {
		happens func(w *world, tick time.Time) (line map[string]any)
		says    map[string]any                                  // what the line must say; any: whatever it is
		item    func(s control.State, tick, due time.Time) bool // due: of the tick before, which was completed
	}{
		"paused": {
			func(w *world, tick time.Time) map[string]any {
				w.pause(rest)
				return w.deliver(report, tick, nothing)
			},
			map[string]any{"outcome": "paused", "paused": []string{"at", "by", "id", "why"}},
			func(s control.State, _, due time.Time) bool {
				return s.Paused != nil && s.Paused.By == "jane" && !s.Paused.At.IsZero() && s.Tick.Equal(due)
			},
		},
		"another run held the lock": {
			func(w *world, tick time.Time) map[string]any {
				began := make(chan time.Time)
				go w.deliver(report, tick.Add(-time.Minute), func(ctx context.Context, run *singleton.Run) error {
					began <- time.Now()
					return waits(ctx, run)
				})
				since := (<-began).UTC().Format(time.RFC3339Nano)
				time.Sleep(time.Second)
				line := w.deliver(report, tick, nothing)
				if line["held_since"] != since {
					t.Errorf("held since %v, want %s", line["held_since"], since)
				}
				return line
			},
			map[string]any{"outcome": "skipped", "holder": "pod"},
			func(s control.State, tick, _ time.Time) bool {
				return s.Holder == "pod" && s.Run != nil && s.Run.Tick.Before(tick) && !s.Run.Started.IsZero() && time.Since(s.Renewed) < s.Lease
			},
		},
		"another client held the lock": {
			func(w *world, tick time.Time) map[string]any {
				// It took over from a run, whose record it leaves in place.
				var left lockkit.Item
				w.deliver(report, tick.Add(-time.Minute), func(context.Context, *singleton.Run) error { left = w.item(); return errors.New("gone") })
				left["owner"], left["rvn"], left["holder"], left["leaseMs"] = s("foreign"), s("v1"), s("dotnet"), n("86400000")
				w.put(left)
				line := w.deliver(report, tick, nothing)
				if line["held_since"] != nil { // by the run before, and not by this one
					t.Errorf("held since %v", line["held_since"])
				}
				return line
			},
			map[string]any{"outcome": "blocked", "holder": "dotnet", "error": any(nil)},
			func(s control.State, _, _ time.Time) bool {
				return s.Holder == "dotnet" && s.Run == nil && s.Lease == 24*time.Hour
			},
		},
		"failed": {
			func(w *world, tick time.Time) map[string]any {
				return w.deliver(report, tick, func(context.Context, *singleton.Run) error { return errors.New("no such table") })
			},
			map[string]any{"outcome": "failed", "error": "no such table", "request_id": "request-1"},
			func(s control.State, tick, due time.Time) bool {
				return !s.Held() && s.Tick.Equal(due) && s.Prev.Tick.Equal(tick) && s.Prev.Outcome == "failed" && s.Prev.Err == "no such table" && s.Prev.RequestID == "request-1"
			},
		},
		"stopped": {
			func(w *world, tick time.Time) map[string]any {
				return w.deliver(report, tick, func(ctx context.Context, run *singleton.Run) error {
					if err := w.ctl.Stop(ctx, report.Name, run.Token(), "jane"); err != nil {
						t.Error(err)
					}
					return waits(ctx, run)
				})
			},
			map[string]any{"outcome": "stopped", "stopped": []string{"by"}, "request_id": "request-1"},
			func(s control.State, tick, _ time.Time) bool {
				return s.Prev.Tick.Equal(tick) && s.Prev.Outcome == "stopped"
			},
		},
		"ran out of time": {
			func(w *world, tick time.Time) map[string]any { return w.deliver(report, tick, waits) },
			map[string]any{"outcome": "out_of_time", "error": any(nil), "worked_ms": any(nil)},
			func(s control.State, tick, _ time.Time) bool {
				return s.Prev.Tick.Equal(tick) && s.Prev.Outcome == "out_of_time"
			},
		},
		"delivered too late": {
			func(w *world, tick time.Time) map[string]any {
				time.Sleep(time.Hour)
				aged := report
				aged.MaxAge = time.Minute
				return w.deliver(aged, tick, nothing)
			},
			map[string]any{"outcome": "expired"},
			func(s control.State, _, due time.Time) bool { return s.Tick.Equal(due) && s.Prev.Tick.Equal(due) },
		},
		"killed at work": {
			func(w *world, tick time.Time) map[string]any {
				var left lockkit.Item // nothing is written after a kill -9
				w.deliver(report, tick, func(context.Context, *singleton.Run) error { left = w.item(); return nil })
				w.put(left)
				time.Sleep(time.Minute)
				return nil
			},
			nil,
			func(s control.State, tick, _ time.Time) bool {
				return s.Held() && s.Run.Tick.Equal(tick) && s.Run.RequestID == "request-1" && s.Run.Ended.IsZero() && time.Since(s.Renewed) > s.Lease
			},
		},
		"never delivered": {
			func(*world, time.Time) map[string]any { return nil },
			nil,
			func(s control.State, _, due time.Time) bool {
				return !s.Held() && s.Tick.Equal(due) && s.Prev.Tick.Equal(due) && s.Prev.Outcome == "completed" && s.Paused == nil && s.Pending.IsZero()
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.due = w.due.Truncate(time.Millisecond)
				w.deliver(report, w.due, nothing)
				tick := w.due.Add(time.Hour)
				time.Sleep(time.Until(tick))
				line := c.happens(w, tick)
				if line != nil && line["tick"] != tick.Format(time.RFC3339Nano) {
					t.Errorf("the line is of tick %v", line["tick"])
				}
				for key, want := range c.says {
					got, there := line[key]
					if group, ok := want.([]string); ok {
						fields, _ := got.(map[string]any)
						want, got = nil, nil
						if !slices.Equal(slices.Sorted(maps.Keys(fields)), group) {
							t.Errorf("%s has %v, want %v", key, fields, group)
						}
					}
					if !there || want != nil && got != want {
						t.Errorf("%s is %v, want %v", key, got, want)
					}
				}
				if s := w.look(); !c.item(s, tick, w.due) {
					t.Errorf("the item says %+v, run %+v, prev %+v", s, s.Run, s.Prev)
				}
			})
		})
	}
}
