package singleton

import (
	"context"
	"fmt"
	"time"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

// budget divides a run's time. The points are zero for a run without a deadline.
//
//	contending, then the work        | the work returns | log, answer
//	---------------------------------|------------------|------|-----> deadline
//	                              workEnd            zombie  released
type budget struct {
	reserve  time.Duration
	work     time.Duration // the least time for the work that is worth starting with
	workEnd  time.Time     // the work's ctx ends
	zombie   time.Time     // a work that has not returned by now never will
	released time.Time     // the last moment of the release
}

// newBudget refuses a deadline that waiting out a dead holder could use up: a run
// would take over and have no time to work, at each of its ticks.
func newBudget(ctx context.Context, spec job.Spec, takeoverDelay time.Duration, now time.Time) (budget, error) {
	b := budget{reserve: spec.Reserve, work: spec.WorkTime}
	deadline, ok := ctx.Deadline()
	if ok && !deadline.After(now) {
		return b, fmt.Errorf("singleton: job %q: the deadline passed %s ago, so nothing was started: %w", spec.Name, now.Sub(deadline), context.DeadlineExceeded)
	}
	if ctx.Err() != nil {
		return b, fmt.Errorf("singleton: job %q: the context has ended, so nothing was started: %w", spec.Name, context.Cause(ctx))
	}
	if !ok {
		return b, nil
	}
	// MinWork less than the work is to have: it is the room for an invocation that
	// begins a little after its deadline was set.
	work := spec.WorkTime - job.MinWork
	need, left := spec.Overhead()+takeoverDelay+work, deadline.Sub(now)
	if left <= need {
		return b, fmt.Errorf("singleton: job %q: the deadline is %s away, and waiting out a dead holder can take lease %s + takeover delay %s + contend margin %s, giving the lock back reserve %s, and the work needs %s of its work time, %s in all: raise the function's timeout above that, or shorten the lease",
			spec.Name, left.Round(time.Millisecond), spec.Lease, takeoverDelay, spec.ContendMargin, spec.Reserve, work, need)
	}
	b.workEnd = deadline.Add(-b.reserve)
	b.zombie = deadline.Add(-b.reserve / 4)
	b.released = deadline.Add(-b.reserve / 8)
	return b, nil
}

// bound returns a context that ends when the work's time does.
func (b budget) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.workEnd.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, b.workEnd, ErrOutOfTime)
}

// contending returns a context that ends when contending has to: for the patient,
// while there is still time to work.
func (b budget) contending(ctx context.Context, patient bool) (context.Context, context.CancelFunc) {
	if patient && !b.workEnd.IsZero() {
		return context.WithDeadlineCause(ctx, b.workEnd.Add(-b.work), ErrOutOfTime)
	}
	return b.bound(ctx)
}

// over reports whether the work's time has passed; after a freeze the timer
// that says so comes late.
func (b budget) over(now time.Time) bool {
	return !b.workEnd.IsZero() && !now.Before(b.workEnd)
}

// alarm returns a timer channel for the moment when a work counts as one that
// ignores its ctx; without a deadline it never fires, and the run waits.
func (b budget) alarm(now time.Time) (fires <-chan time.Time, stop func()) {
	if b.zombie.IsZero() {
		return nil, func() {}
	}
	timer := time.NewTimer(b.zombie.Sub(now))
	return timer.C, func() { timer.Stop() }
}

// releaseEnd is when to give up on an answer to the release: one reserve from
// now, and early enough for the log line and the response.
func (b budget) releaseEnd(now time.Time) time.Time {
	end := now.Add(b.reserve)
	if !b.released.IsZero() && b.released.Before(end) {
		return b.released
	}
	return end
}
