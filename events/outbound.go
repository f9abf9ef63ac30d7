package events

import (
	"time"
)

// Source is the source of every event that solotick publishes. No rule of ours
// that starts a job may match it, or jobs would start each other for ever.
const Source = "solotick"

// SchemaVersion is the version in every detail. It rises when a field is added.
// A field never changes its meaning and is never removed: a new meaning is a new
// detail-type, so that a consumer may ignore what it does not know.
const SchemaVersion = 1

// The detail-types of the events that solotick publishes. They are the wire
// form, which rules match, and cannot change.
const (
	TypeRunStarted     = "run started"
	TypeRunEnded       = "run ended"
	TypeLockTakenOver  = "lock taken over"
	TypeControlChanged = "control changed"
	TypeGap            = "gap"
)

// Detail is one of [RunStarted], [RunEnded], [LockTakenOver], [ControlChanged]
// and [Gap]: what an event says, without the envelope that EventBridge puts
// around it.
type Detail interface {
	// DetailType returns the detail-type of the event.
	DetailType() string
	// About returns what every detail has.
	About() Header
	// bounded returns the detail as it is sent, with every text within its bound.
	bounded() Detail
}

// Header is what every detail has. Fields that do not apply are absent.
type Header struct {
	Version   int       `json:"version"`              // SchemaVersion; EncodeDetail sets it
	Job       string    `json:"job"`                  // name of the job and of its lock
	Tick      time.Time `json:"tick,omitzero"`        // the due time; absent for a manual run without one
	Token     int64     `json:"token,omitempty"`      // the fencing token, where there was a lease
	Holder    string    `json:"holder,omitempty"`     // label of the process that the event is about
	RequestID string    `json:"request_id,omitempty"` // Lambda's; a retry has the same one
	RunID     string    `json:"run_id,omitempty"`     // one for each run, a retry's is another
	At        time.Time `json:"at"`                   // when it happened, by the clock of who says so
}

// RunStarted says that a run acquired its job's lock and begins to work.
type RunStarted struct {
	Header
	Began      time.Time `json:"began"`                 // when the run began to contend; the same in both events of a run
	TickSource Kind      `json:"tick_source,omitempty"` // who asked for the run
	Attempt    int       `json:"attempt,omitempty"`     // Scheduler's count of deliveries, where it counts
	Forced     bool      `json:"forced,omitempty"`      // a done tick is run again
	Since      time.Time `json:"since,omitzero"`        // the interval of the run is (since, tick]
}

// RunEnded says how a run ended, also one that never had the lock.
type RunEnded struct {
	Header
	Began      time.Time        `json:"began"`
	Outcome    string           `json:"outcome"` // one of package singleton's outcomes
	TickSource Kind             `json:"tick_source,omitempty"`
	Attempt    int              `json:"attempt,omitempty"`
	Forced     bool             `json:"forced,omitempty"`
	Since      time.Time        `json:"since,omitzero"`
	Marked     bool             `json:"marked"`              // the lock's item is known to say that the tick is done
	HeldBy     string           `json:"held_by,omitempty"`   // label of the other holder, for a run that met one
	DoneTick   time.Time        `json:"done_tick,omitzero"`  // the newest tick that was done already
	PausedBy   string           `json:"paused_by,omitempty"` // who paused the job, for a run that was refused by that
	WaitedMS   int64            `json:"waited_ms"`           // until the lock was acquired or given up
	WorkedMS   int64            `json:"worked_ms"`           // in the work
	Requests   int              `json:"requests"`            // sent to DynamoDB for the lock
	Counts     map[string]int64 `json:"counts,omitempty"`    // what the job counted
	Warning    string           `json:"warning,omitempty"`
	Error      string           `json:"error,omitempty"`
}

// LockTakenOver says that a run took the lock from a holder that had been silent
// for its whole lease. What comes after FormerToken is from the record that the
// dead run left, and absent where another client held the lock.
type LockTakenOver struct {
	Header
	FormerHolder    string    `json:"former_holder,omitempty"`
	FormerToken     int64     `json:"former_token"`
	UnknownClient   bool      `json:"unknown_client,omitempty"` // it was no run, so it left no record
	FormerTick      time.Time `json:"former_tick,omitzero"`
	FormerStarted   time.Time `json:"former_started,omitzero"`
	FormerRequestID string    `json:"former_request_id,omitempty"`
	FormerLogStream string    `json:"former_log_stream,omitempty"`
}

// Control names what an operator did to a job.
type Control string

// The controls of a job.
const (
	ControlPause   Control = "pause"
	ControlResume  Control = "resume"
	ControlStop    Control = "stop"
	ControlRelease Control = "release"
)

// ControlChanged says that an operator changed a control of a job.
type ControlChanged struct {
	Header
	Control   Control   `json:"control"`
	ControlID string    `json:"control_id,omitempty"` // of the pause that was set or lifted
	By        string    `json:"by"`
	Why       string    `json:"why,omitempty"`
	Until     time.Time `json:"until,omitzero"` // when a pause ends by itself
}

// Gap says that no run has covered the ticks in (From, To], and none will: the
// job's limit for catching up cut them off.
type Gap struct {
	Header
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// About returns what every detail has.
func (h Header) About() Header { return h }

// DetailType returns [TypeRunStarted].
func (RunStarted) DetailType() string { return TypeRunStarted }

// DetailType returns [TypeRunEnded].
func (RunEnded) DetailType() string { return TypeRunEnded }

// DetailType returns [TypeLockTakenOver].
func (LockTakenOver) DetailType() string { return TypeLockTakenOver }

// DetailType returns [TypeControlChanged].
func (ControlChanged) DetailType() string { return TypeControlChanged }

// DetailType returns [TypeGap].
func (Gap) DetailType() string { return TypeGap }
