package singleton

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/solotick/solotick/events"
)

// Result says what became of one run. It is the response of the invocation,
// except for outcomes that are errors: of those Lambda sends the error only, and
// the log line has the result. A run that was refused before it began (an input
// that is no tick, a deadline that leaves no time) has no outcome.
type Result struct {
	Job      string      `json:"job"`
	Tick     time.Time   `json:"tick,omitzero"`         // the due time; absent for a manual run without one
	RunsTick time.Time   `json:"runs_tick,omitzero"`    // the tick that was run, if another: a newer one that was begun before, or waited on the item (Queue)
	Since    time.Time   `json:"since,omitzero"`        // where the run's interval began
	Gap      *Gap        `json:"gap,omitempty"`         // a time that this run did not cover, and no other will
	Source   events.Kind `json:"tick_source,omitempty"` // who asked for the run; "source" is slog's own key
	Attempt  int         `json:"attempt,omitempty"`     // Scheduler's count of deliveries, where it counts
	Forced   bool        `json:"forced,omitempty"`      // a done tick was to be run again
	Queued   bool        `json:"queued,omitempty"`      // the tick had waited for the run before it, and ran under the same lease, or was too old then
	Outcome  Outcome     `json:"outcome,omitempty"`     // how it ended
	Marked   bool        `json:"marked"`                // the lock's item is known to say that this run completed its tick
	// Committed: the tick was completed by [Run.Commit], or the items of a run
	// without a tick were written by it. Error is then what came after.
	Committed bool      `json:"committed,omitempty"`
	Token     int64     `json:"token,omitempty"`     // the fencing token; absent for a run without a lease
	Holder    string    `json:"holder,omitempty"`    // label of the other holder that was met
	HeldSince time.Time `json:"held_since,omitzero"` // when its run acquired the lock, or took a tick on that had waited, by its clock; absent for a client that is no run
	DoneTick  time.Time `json:"done_tick,omitzero"`  // duplicate and superseded: the newest tick that is done
	WaitedMS  int64     `json:"waited_ms"`           // until the lock was acquired or given up
	WorkedMS  int64     `json:"worked_ms"`           // in the work
	Takeover  *Takeover `json:"takeover,omitempty"`  // the dead holder whose lock this run took over
	Paused    *Pause    `json:"paused,omitempty"`    // paused: who paused the job, and why
	Stopped   *Stop     `json:"stopped,omitempty"`   // stopped: who asked for it
	Requests  int       `json:"requests"`            // sent to DynamoDB for the lock, each try counted
	// Counts are what the work counted with [Run.Count].
	Counts    map[string]int64 `json:"counts,omitempty"`
	RequestID string           `json:"request_id,omitempty"`
	Warning   string           `json:"warning,omitempty"`
	// Error is what ended a run whose outcome is an error, or came after a Commit:
	// up to 2048 bytes of it. The record on the lock's item has up to 120 bytes of
	// its cause.
	Error string `json:"error,omitempty"`
}

// Takeover describes the holder that a lock was taken over from: it stopped
// renewing its lease without a release. What comes after Token is from the
// record that its run left on the item.
type Takeover struct {
	Holder        string    `json:"holder,omitempty"`         // its label
	Token         int64     `json:"token"`                    // its fencing token
	UnknownClient bool      `json:"unknown_client,omitempty"` // it was no run of this package, so it left no record
	Tick          time.Time `json:"tick,omitzero"`            // the tick it ran
	Cursor        string    `json:"cursor,omitempty"`         // how far it had come, at most 120 bytes of it
	Started       time.Time `json:"started,omitzero"`         // when it acquired the lock, or took the tick on that had waited (Queue), by its clock
	RequestID     string    `json:"request_id,omitempty"`     // its Lambda request
	LogStream     string    `json:"log_stream,omitempty"`     // where its log is; absent when the name was too long to keep
}

// log writes the one line of a run; stack is that of a work that panicked.
func (r *Result) log(ctx context.Context, logger *slog.Logger, stack string) {
	level := slog.LevelInfo
	switch {
	case r.Outcome.Err(), r.Outcome == "":
		level = slog.LevelError
	case r.Warning != "", r.Error != "", r.Gap != nil:
		level = slog.LevelWarn
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 21)
	attrs = append(attrs, slog.String("job", r.Job))
	text := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	if !r.Tick.IsZero() {
		attrs = append(attrs, slog.Time("tick", r.Tick))
	}
	if !r.RunsTick.IsZero() {
		attrs = append(attrs, slog.Time("runs_tick", r.RunsTick))
	}
	if !r.Since.IsZero() {
		attrs = append(attrs, slog.Time("since", r.Since))
	}
	if r.Gap != nil {
		attrs = append(attrs, r.Gap.attr())
	}
	text("tick_source", string(r.Source))
	if r.Attempt != 0 {
		attrs = append(attrs, slog.Int("attempt", r.Attempt))
	}
	if r.Forced {
		attrs = append(attrs, slog.Bool("forced", true))
	}
	if r.Queued {
		attrs = append(attrs, slog.Bool("queued", true))
	}
	text("outcome", string(r.Outcome))
	attrs = append(attrs, slog.Bool("marked", r.Marked))
	if r.Committed {
		attrs = append(attrs, slog.Bool("committed", true))
	}
	if r.Token != 0 {
		attrs = append(attrs, slog.Int64("token", r.Token))
	}
	text("holder", r.Holder)
	if !r.HeldSince.IsZero() {
		attrs = append(attrs, slog.Time("held_since", r.HeldSince))
	}
	if !r.DoneTick.IsZero() {
		attrs = append(attrs, slog.Time("done_tick", r.DoneTick))
	}
	attrs = append(attrs, slog.Int64("waited_ms", r.WaitedMS), slog.Int64("worked_ms", r.WorkedMS))
	if r.Takeover != nil {
		attrs = append(attrs, r.Takeover.attr())
	}
	if r.Paused != nil {
		attrs = append(attrs, r.Paused.attr())
	}
	if r.Stopped != nil {
		attrs = append(attrs, r.Stopped.attr())
	}
	attrs = append(attrs, slog.Int("requests", r.Requests))
	if len(r.Counts) > 0 {
		group := make([]slog.Attr, 0, len(r.Counts))
		for _, name := range slices.Sorted(maps.Keys(r.Counts)) {
			group = append(group, slog.Int64(name, r.Counts[name]))
		}
		attrs = append(attrs, slog.GroupAttrs("counts", group...))
	}
	text("request_id", r.RequestID)
	text("warning", r.Warning)
	text("error", r.Error)
	text("stack", stack)
	logger.LogAttrs(ctx, level, "run ended", attrs...)
}

func (t *Takeover) attr() slog.Attr {
	attrs := []slog.Attr{slog.Int64("token", t.Token)}
	text := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	text("holder", t.Holder)
	if t.UnknownClient {
		attrs = append(attrs, slog.Bool("unknown_client", true))
	}
	if !t.Tick.IsZero() {
		attrs = append(attrs, slog.Time("tick", t.Tick))
	}
	text("cursor", t.Cursor)
	if !t.Started.IsZero() {
		attrs = append(attrs, slog.Time("started", t.Started))
	}
	text("request_id", t.RequestID)
	text("log_stream", t.LogStream)
	return slog.GroupAttrs("takeover", attrs...)
}
