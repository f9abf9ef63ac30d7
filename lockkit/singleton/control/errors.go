package control

import (
	"errors"
	"fmt"
	"time"
)

// Errors to branch on with errors.Is. The values behind them carry the facts.
var (
	// ErrChanged says that the item is not what the caller saw; see [ChangedError].
	ErrChanged = errors.New("control: changed meanwhile")
	// ErrPaused says that the job is paused already; see [PausedError].
	ErrPaused = errors.New("control: paused already")
)

// ChangedError says that a control did nothing, because the item is not what its
// caller saw: somebody else, or the job itself, was there first. It matches
// [ErrChanged].
type ChangedError struct {
	Op   string // "resume", "stop" or "release"
	Want string // what the control was for
	Now  State  // what is there instead
}

// Error names the control, what it was for and what is there now.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("control: %s of job %s in table %q: it was for %s, and %s: nothing was changed; look again and decide anew", e.Op, named(e.Now.Job), e.Now.Table, e.Want, e.Now)
}

// Is matches [ErrChanged].
func (e *ChangedError) Is(target error) bool { return target == ErrChanged }

// PausedError says that the job is paused already. [Controls.Replace] changes a
// pause that is there. It matches [ErrPaused].
type PausedError struct {
	Job, Table string
	Pause      Pause // the one that is there
}

// Error names the job and who paused it.
func (e *PausedError) Error() string {
	return fmt.Sprintf("control: job %s in table %q is paused already, %s: replace that pause by its id, or leave it", named(e.Job), e.Table, e.Pause)
}

// Is matches [ErrPaused].
func (e *PausedError) Is(target error) bool { return target == ErrPaused }

// String says who paused the job, when, why and until when, as far as it is known.
func (p Pause) String() string {
	at, until := "", ""
	if !p.At.IsZero() {
		at = " at " + p.At.Format(time.RFC3339)
	}
	if !p.Until.IsZero() {
		until = " until " + p.Until.Format(time.RFC3339)
	}
	return fmt.Sprintf("by %q%s%s (%q, id %q)", p.By, at, until, p.Why, p.ID)
}
