package singleton

import (
	"errors"
	"fmt"
	"time"
)

// Outcome says how a run ended. The package comment has the table of them.
type Outcome string

// The outcomes of a run.
const (
	Completed  Outcome = "completed"   // the work returned nil in time, under the lease
	Skipped    Outcome = "skipped"     // another holder proved alive
	Queued     Outcome = "queued"      // another holder proved alive, and this tick waits for it on the lock's item
	Duplicate  Outcome = "duplicate"   // this very tick is done, or runs right now and its holder proved alive
	Superseded Outcome = "superseded"  // a newer tick is done
	Paused     Outcome = "paused"      // an operator has paused the job
	Expired    Outcome = "expired"     // the tick is older than the job's MaxAge
	Stopped    Outcome = "stopped"     // an operator or a newer run asked this one to stop
	Failed     Outcome = "failed"      // the work returned an error or panicked
	Lost       Outcome = "lost"        // the lease ended before the work was done
	OutOfTime  Outcome = "out_of_time" // the work's time, or the caller's context, ended before the work was done
	Blocked    Outcome = "blocked"     // no lease, and no proof that anybody else works
)

// Err reports whether an outcome is returned as an error, so that Lambda counts
// it and tries again: the tick is not done and nobody is known to be at it.
func (o Outcome) Err() bool {
	switch o {
	case Failed, Lost, OutOfTime, Blocked:
		return true
	default:
		return false
	}
}

// ErrOutOfTime is the cause of the work's context when the reserve before the
// deadline begins; see [context.Cause].
var ErrOutOfTime = errors.New("singleton: the time for the work is over")

// OutcomeError is the error of a run with one of the outcomes that are errors.
// What ended the run is behind it: the work's own error, the lease's
// [lockkit.EndedError], [ErrOutOfTime], or what DynamoDB answered.
type OutcomeError struct {
	Job     string
	Tick    time.Time // zero for a run without a tick
	Outcome Outcome
	Token   int64 // 0 for a run that had no lease
	Err     error
}

// Error names the job, the tick, the outcome and what caused it.
func (e *OutcomeError) Error() string {
	tick := ""
	if !e.Tick.IsZero() {
		tick = " tick " + e.Tick.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("singleton: job %q%s: %s: %v", e.Job, tick, e.Outcome, e.Err)
}

// Unwrap returns what ended the run.
func (e *OutcomeError) Unwrap() error { return e.Err }
