// Package job holds the numbers of a scheduled job as pure data, with the
// standard library only: the handler runs by them, an infrastructure program
// deploys by them, and both refuse the same mistakes.
//
//	var NightlyReport = job.Spec{
//		Name:     "nightly-report",
//		Schedule: "cron(0 2 * * ? *)",
//		TimeZone: "Europe/Berlin",
//		Lease:    30 * time.Second,
//		Timeout:  5 * time.Minute,
//		MaxAge:   time.Hour,
//	}
//
// # How the numbers hang together
//
// A run that finds the lock held must watch its holder for the whole of the
// holder's lease before it may take over, and it is billed meanwhile. So of a
// function's timeout, Lease and ContendMargin can go by before the work starts,
// and Reserve is kept free at the end for giving the lock back:
//
//	|<-- Lease -->|<- ContendMargin ->|<------ work ------>|<- Reserve ->|
//	|<----------------------------- Timeout ---------------------------->|
//
// The work must get WorkTime of that at least. A run whose Policy waits for a
// live holder contends until no more than WorkTime is left.
//
// A short lease leaves more for the work and brings a crashed job back sooner;
// it costs a renewal every third of it, and has to outlast the pauses of the
// process and of DynamoDB.
package job

import (
	"time"
)

// Policy says what a run does that finds another one at work.
type Policy string

// The policies. With each of them a holder that stays silent for its whole lease
// is taken over, and a tick that is done already is not run.
const (
	// SkipWhenAlive watches the holder until it proves alive, and then skips the
	// tick. It is the default.
	SkipWhenAlive Policy = "skip_when_alive"
	// SkipAtOnce skips the tick without watching when the holder has written
	// within the last half of its lease, by its own time stamp. What may be the
	// retry of a crashed run watches all the same.
	SkipAtOnce Policy = "skip_at_once"
	// Wait contends until only WorkTime is left for the work, also with a live
	// holder, and skips the tick only then.
	Wait Policy = "wait"
	// Queue leaves the tick for the live holder to run before it gives the lock
	// back, if WorkTime is left then; otherwise the next run covers it. Of several
	// ticks that wait the newest is run: its interval covers the others.
	Queue Policy = "queue"
	// Supersede asks the run of an older tick to stop, contends until only WorkTime
	// is left, and fails when that run does not stop in time. Any other live holder
	// makes it skip, and so does one whose predecessor was stopped, so that under a
	// steady overlap at least every second run ends by itself.
	Supersede Policy = "supersede"
)

// The bounds of a Spec's numbers. Those of Lease are the lock's own, those of
// the others are set by AWS Lambda or EventBridge where a bound is not a matter
// of sense.
const (
	MinLease    = time.Second
	MaxLease    = 24 * time.Hour
	MinMargin   = time.Second // of the default ContendMargin only
	MinReserve  = 100 * time.Millisecond
	MinWork     = time.Second // the least WorkTime
	MinTimeout  = time.Second
	MaxTimeout  = 15 * time.Minute
	MinMemoryMB = 128
	MaxMemoryMB = 10240
	MaxRetries  = 2
	MinAge      = time.Minute
	MaxAge      = 6 * time.Hour
	MinInterval = time.Minute
	MaxName     = 2043 // bytes: a DynamoDB partition key, less "LOCK#"
	// MaxCursorLimit bounds MaxCursor, in bytes.
	MaxCursorLimit = 4096
)

// Defaults of a Spec's zero values. The default of ContendMargin is a third of
// the lease, at least MinMargin.
const (
	DefaultReserve  = 2 * time.Second
	DefaultMemoryMB = 128
	// DefaultMaxCursor is in bytes.
	DefaultMaxCursor = 512
	DefaultPolicy    = SkipWhenAlive
)

// Spec is one job. Only Name and Lease are required everywhere; deploying a job
// needs Schedule and Timeout as well. A Spec is a value: copy it freely, change
// a copy for a test.
type Spec struct {
	// Name names the job and its lock: 1 to MaxName bytes of UTF-8 without
	// control characters. Up to 64 bytes the lock's item stays under 1 KB, which
	// is one write unit. Renaming a job forgets which ticks it has completed.
	Name string

	// Schedule is an EventBridge expression: rate(5 minutes), cron(0 2 * * ? *)
	// or at(2026-12-01T02:00:00). Empty: something else starts the job.
	Schedule string

	// TimeZone is the IANA name of the zone that Schedule is read in, such as
	// Europe/Berlin. Empty: UTC.
	TimeZone string

	// Lease is how long the lock outlives its holder's last sign of life, and so
	// how long a crashed job blocks the next run. MinLease to MaxLease, in whole
	// milliseconds.
	Lease time.Duration

	// ContendMargin is how much longer than the holder's lease a run contends
	// for the lock: room for the requests. 0: a third of the lease, at least
	// MinMargin.
	ContendMargin time.Duration

	// Timeout is the function's: MinTimeout to MaxTimeout, in whole seconds. It
	// must leave WorkTime for the work beside Lease, ContendMargin and Reserve. 0:
	// unknown; then only the deadline that a run is given counts.
	Timeout time.Duration

	// Reserve is how long before the deadline the work's context ends, so that
	// there is time to return and to give the lock back. At least MinReserve.
	// 0: DefaultReserve.
	Reserve time.Duration

	// MemoryMB is the function's memory in MB: MinMemoryMB to MaxMemoryMB. 0:
	// DefaultMemoryMB.
	MemoryMB int

	// Retries is how often Lambda tries a failed run again, after one and after
	// two minutes: 0 to MaxRetries. 0 leaves a failed tick to the next one.
	Retries int

	// MaxAge is how old a tick may be to be run at all: MinAge to MaxAge. 0: no
	// limit. Manual runs have none.
	MaxAge time.Duration

	// ExpectedInterval is the longest time that should pass between two
	// completed ticks; at least MinInterval. 0: unknown, so nobody is told when
	// the job stops completing.
	ExpectedInterval time.Duration

	// CatchUp is how far before a run's tick its interval may begin, so that a job
	// that has not completed for long does not drown in what it missed: what lies
	// further back is reported as a gap and covered by nobody. It is also where
	// the interval of the first run begins. At least MinInterval, and not less
	// than ExpectedInterval. 0: three times ExpectedInterval; without that, there
	// is no limit.
	CatchUp time.Duration

	// MaxCursor is how many bytes the cursor of a checkpoint may have: 1 to
	// MaxCursorLimit. It lies on the lock's item, and every write of the lock, the
	// renewals too, costs one write unit for each KB of that, and a transaction
	// two: with the default of DefaultMaxCursor that is up to 2 units for a write,
	// with MaxCursorLimit up to 5. 0: DefaultMaxCursor.
	MaxCursor int

	// Policy says what a run does that finds another one at work. "":
	// SkipWhenAlive.
	Policy Policy

	// WorkTime is the least time for the work with which it is worth starting:
	// Timeout must leave it beside everything else, and a run with a Policy that
	// waits for a live holder stops waiting when no more than that is left. MinWork
	// to MaxTimeout. 0: MinWork.
	WorkTime time.Duration
}

// WithDefaults returns the spec with the defaults in the place of the zero
// values that have one. It does not validate.
func (s Spec) WithDefaults() Spec {
	if s.ContendMargin == 0 {
		s.ContendMargin = max(s.Lease/3, MinMargin)
	}
	if s.Reserve == 0 {
		s.Reserve = DefaultReserve
	}
	if s.MemoryMB == 0 {
		s.MemoryMB = DefaultMemoryMB
	}
	if s.CatchUp == 0 {
		s.CatchUp = 3 * s.ExpectedInterval
	}
	if s.MaxCursor == 0 {
		s.MaxCursor = DefaultMaxCursor
	}
	if s.Policy == "" {
		s.Policy = DefaultPolicy
	}
	if s.WorkTime == 0 {
		s.WorkTime = MinWork
	}
	return s
}

// Contend is how long a run contends for a lock whose holder has this spec's
// lease: Lease and ContendMargin. The lock table's takeover delay, if it has
// one, comes on top.
func (s Spec) Contend() time.Duration {
	s = s.WithDefaults()
	return s.Lease + s.ContendMargin
}

// Overhead is the part of a run's time that the work cannot count on: Contend
// and Reserve. A run whose deadline is no further away than that, and than what
// WorkTime has more than MinWork, is refused.
func (s Spec) Overhead() time.Duration {
	return s.Contend() + s.WithDefaults().Reserve
}
