package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions/history"
	"github.com/solotick/solotick/lockkit/singleton/control"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// checkInput is what the daily schedule sends.
const checkInput = `{"check":"overdue"}`

type observer struct {
	history  *history.Store
	controls *control.Controls
	jobs     []job.Spec
	logger   *slog.Logger
}

// handle stores an event, or makes the daily check. An event of a newer producer
// that has no name here yet is left out; every other failure is returned, so that
// the event comes again or ends in the dead-letter queue.
func (o *observer) handle(ctx context.Context, input json.RawMessage) error {
	var asked struct{ Check *string }
	if json.Unmarshal(input, &asked) == nil && asked.Check != nil {
		if *asked.Check != "overdue" {
			return fmt.Errorf("observer: check is %q: expected %s", *asked.Check, checkInput)
		}
		return o.check(ctx, time.Now())
	}
	e, err := events.DecodeOutbound(input)
	if errors.Is(err, events.ErrUnknownType) {
		o.logger.LogAttrs(ctx, slog.LevelWarn, "event left out", slog.String("error", err.Error()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("observer: %w; for the daily check send %s", err, checkInput)
	}
	kept, err := o.history.Put(ctx, e)
	if err != nil {
		return err
	}
	o.logger.LogAttrs(ctx, slog.LevelDebug, "event", slog.String("id", e.ID), slog.String("type", e.Detail.DetailType()),
		slog.String("job", e.Detail.About().Job), slog.Bool("kept", kept))
	return nil
}

// check logs each job that has not completed a tick within its expected interval,
// of those whose interval is longer than an alarm can look back. A paused job is
// shown and raises nothing. One that has never completed a tick has one interval
// from when it was first looked after.
func (o *observer) check(ctx context.Context, now time.Time) error {
	var faults []error
	for _, spec := range o.jobs {
		if spec.ExpectedInterval > job.LongestAlarm {
			faults = append(faults, o.checkJob(ctx, spec, now))
		}
	}
	return errors.Join(faults...)
}

func (o *observer) checkJob(ctx context.Context, spec job.Spec, now time.Time) error {
	watched, err := o.history.WatchedSince(ctx, spec.Name)
	if err != nil {
		return err
	}
	state, err := o.controls.Look(ctx, spec.Name)
	if err != nil {
		return err
	}
	last := state.Tick
	if watched.After(last) {
		last = watched
	}
	about := []slog.Attr{slog.String("job", spec.Name), slog.Time("last_completed", state.Tick), slog.Float64("expected_interval_s", spec.ExpectedInterval.Seconds())}
	switch p := state.Paused; {
	case p != nil && state.Rests:
		o.logger.LogAttrs(ctx, slog.LevelInfo, "job paused", append(about, slog.String("by", p.By), slog.Time("paused_at", p.At))...)
	case now.Sub(last) > spec.ExpectedInterval:
		o.logger.LogAttrs(ctx, slog.LevelError, "job overdue", about...)
	}
	return nil
}
