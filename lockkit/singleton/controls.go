package singleton

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// Operators pause and stop a job by attributes of the lock's item; package
// control writes them. Here is how a run honours them.

// ErrStopped is the cause of the work's context when the run was asked to stop;
// see [context.Cause].
var ErrStopped = errors.New("singleton: the run was asked to stop")

// Pause is the pause of a job that refused a run.
type Pause struct {
	ID    string    `json:"id"`
	By    string    `json:"by,omitempty"`
	Why   string    `json:"why,omitempty"`
	At    time.Time `json:"at,omitzero"`
	Until time.Time `json:"until,omitzero"` // zero: until somebody resumes the job
}

// Stop says who asked a run to stop.
type Stop struct {
	By   string    `json:"by,omitempty"`  // the operator; "" when a newer run did
	Tick time.Time `json:"tick,omitzero"` // of the newer run
}

// String names who asked.
func (s *Stop) String() string {
	if s.Tick.IsZero() {
		return fmt.Sprintf("by %q", s.By)
	}
	return "by the run of tick " + s.Tick.Format(time.RFC3339Nano)
}

// pausedError refuses a run of a paused job.
type pausedError struct{ pause wire.Pause }

func (e *pausedError) Error() string {
	return fmt.Sprintf("singleton: the job is paused by %q (%s): %s", e.pause.By, e.pause.ID, e.pause.Why)
}

// refusePaused adds the condition to an acquire that the job is not paused. The
// time of a pause's end is compared with this process's wall clock, which decides
// only when runs begin again. What is no pause at all is refused too: the path
// leads nowhere then, and the comparison is false.
func refusePaused(add *lockkit.Addition, now time.Time) {
	const resting = "attribute_not_exists(#paused) OR #paused.#until <= :now"
	if add.Condition == "" {
		add.Condition = resting
	} else { // DynamoDB takes no parentheses that are not needed
		add.Condition = "(" + add.Condition + ") AND (" + resting + ")"
	}
	add.Names["#paused"], add.Names["#until"] = lockkit.AttrPaused, wire.KeyUntil
	add.Values[":now"] = wire.Number(now.UnixMilli())
}

// checkPaused is refusePaused's judgement of an item.
func checkPaused(item lockkit.Item, now time.Time) error {
	pause, on, err := wire.Resting(item[lockkit.AttrPaused], now)
	if err != nil {
		return fmt.Errorf("singleton: %w", err)
	}
	if on {
		return &pausedError{pause: pause}
	}
	return nil
}

// heed notes a stop that is addressed to this lease, on an item that a write of
// the lease was shown. A stop outlives the run it was meant for until the next
// acquire removes it, so only the token tells whom it is for. Once a Commit is
// under way it changes nothing: ending the ctx could only cost its answer.
func (e *extension) heed(w lockkit.Write, item lockkit.Item) {
	s, err := wire.ReadStop(item[lockkit.AttrStop])
	if err != nil || s.Token != w.Token || e.stopped != nil || e.over || e.tx != nil && e.tx.commit {
		return
	}
	e.stopped = &Stop{By: s.By, Tick: s.Tick}
	if e.stop != nil {
		e.stop(fmt.Errorf("%w %s", ErrStopped, e.stopped))
	}
}

// onStop has stop called once, with the cause, when the run is asked to stop, or
// has been already.
func (e *extension) onStop(stop func(cause error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stop = stop
	if e.stopped != nil {
		stop(fmt.Errorf("%w %s", ErrStopped, e.stopped))
	}
}

// stoppedBy returns who asked the run to stop, nil when nobody did.
func (e *extension) stoppedBy() *Stop {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stopped
}

func (p *Pause) attr() slog.Attr {
	attrs := []slog.Attr{slog.String("id", p.ID)}
	if p.By != "" {
		attrs = append(attrs, slog.String("by", p.By))
	}
	if p.Why != "" {
		attrs = append(attrs, slog.String("why", p.Why))
	}
	if !p.At.IsZero() {
		attrs = append(attrs, slog.Time("at", p.At))
	}
	if !p.Until.IsZero() {
		attrs = append(attrs, slog.Time("until", p.Until))
	}
	return slog.GroupAttrs("paused", attrs...)
}

func (s *Stop) attr() slog.Attr {
	attrs := make([]slog.Attr, 0, 2)
	if s.By != "" {
		attrs = append(attrs, slog.String("by", s.By))
	}
	if !s.Tick.IsZero() {
		attrs = append(attrs, slog.Time("tick", s.Tick))
	}
	return slog.GroupAttrs("stopped", attrs...)
}
