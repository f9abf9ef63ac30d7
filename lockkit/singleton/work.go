package singleton

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// errZombie is the cause of a run whose work did not return.
var errZombie = errors.New("singleton: the work ignores its context and still runs: the process ends, so that no frozen environment can thaw it into a later invocation; the lock is free after one lease")

// returned is how a work ended.
type returned struct {
	err      error
	panicked bool
	value    any    // what it panicked with
	stack    string // where
}

// start runs the work on a goroutine of its own, so that the run can outlive a
// work that does not return. The channel gets exactly one value.
func start(ctx context.Context, work Work, run *Run) <-chan returned {
	out := make(chan returned, 1)
	go func() {
		normal := false
		var r returned
		defer func() {
			if !normal {
				// recover returns nil for runtime.Goexit, which t.FailNow calls.
				if v := recover(); v != nil {
					r = returned{panicked: true, value: v, stack: string(debug.Stack()), err: fmt.Errorf("the work panicked: %v", v)}
				} else {
					r = returned{err: errors.New("the work ended its goroutine with runtime.Goexit")}
				}
			}
			out <- r
		}()
		r.err = work(ctx, run)
		normal = true
	}()
	return out
}

// underLease runs the work and releases the lease; where another tick waits for
// the run, it does so for that one first. The answer is of the last tick.
func (a *attempt) underLease(ctx context.Context, lease *lockkit.Lease) (Result, error) {
	for {
		res, takenOn, err := a.oneTick(ctx, lease)
		if !takenOn {
			return res, err
		}
		a.next()
	}
}

// oneTick runs the work for one tick. The order at the end is fixed: the work has
// returned, what its transactions came to is known, the release is answered, the
// line is logged.
func (a *attempt) oneTick(ctx context.Context, lease *lockkit.Lease) (_ Result, takenOn bool, _ error) {
	bounded, cancel := a.budget.bound(ctx)
	defer cancel()
	asked, ask := context.WithCancelCause(bounded)
	defer ask(nil)
	a.ext.onStop(ask)
	working, stop := lease.Context(asked)
	defer stop()
	var r returned
	covers, err := a.ext.begins(a.spec)
	a.covers(covers)
	run := a.newRun(lease, covers)
	switch {
	case err != nil:
		r.err = err
	case working.Err() == nil && ended(lease) == nil: // the acquire's answer may have come late
		begin := time.Now()
		alarm, disarm := a.budget.alarm(begin)
		done := start(working, a.work, run)
		select {
		case r = <-done:
			disarm()
		case <-alarm:
			select {
			case r = <-done:
			default:
				a.worked(begin, run)
				a.abandon(ctx, lease, run)
			}
		}
		a.worked(begin, run)
	}
	a.settle(ctx, lease, run)
	outcome, err := a.judge(working, lease, run, r)
	outcome, takenOn, err = a.release(ctx, lease, run, outcome, err, r.panicked)
	res, err := a.finishWith(ctx, outcome, err, r.stack)
	a.logExpired(ctx)
	if r.panicked {
		panic(r.value) // as if nothing had recovered it; the stack is in the log
	}
	return res, takenOn, err
}

// covers notes what the run is to cover.
func (a *attempt) covers(c interval) {
	a.res.Since, a.res.Gap = c.since, c.gap
	if !c.tick.Equal(a.tick.Time) {
		a.res.RunsTick = c.tick
	}
}

// worked notes what the work took and counted so far.
func (a *attempt) worked(begin time.Time, run *Run) {
	a.res.WorkedMS = time.Since(begin).Milliseconds()
	a.res.Counts = run.counts.copy()
}

// ended returns why a lease has ended, or nil: by the clocks and exactly, where
// its context may be told late. It takes an interface because what a lease logs
// about its own loss belongs to no request, so there is no ctx to pass on.
func ended(lease interface{ Err() error }) error { return lease.Err() }

// judge says how the work ended. A Commit that was applied has completed the
// tick, whatever came after it. Otherwise the end of its ctx counts more than
// what it returned: a work that returns nil because it was told to stop has not
// done the tick.
func (a *attempt) judge(working context.Context, lease *lockkit.Lease, run *Run, r returned) (Outcome, error) {
	with := func(cause error) error { return joined(cause, r.err) }
	switch {
	case run.did.isCommitted():
		if lost := ended(lease); lost != nil && !r.panicked {
			return Completed, with(lost)
		}
		return Completed, r.err
	case r.panicked:
		return Failed, r.err
	case ended(lease) != nil:
		return Lost, with(ended(lease))
	case errors.Is(context.Cause(working), ErrStopped):
		a.res.Stopped = a.ext.stoppedBy()
		if errors.Is(r.err, context.Canceled) || errors.Is(r.err, ErrStopped) {
			return Stopped, nil // it says no more than that it stopped
		}
		return Stopped, r.err
	case working.Err() != nil:
		return OutOfTime, with(context.Cause(working))
	case a.budget.over(time.Now()):
		return OutOfTime, with(ErrOutOfTime)
	case run.did.unknown() != nil:
		return OutOfTime, with(run.did.unknown())
	case errors.Is(r.err, errYielded):
		return OutOfTime, r.err
	case r.err != nil:
		return Failed, r.err
	}
	if outcome, err := run.did.incomplete(); err != nil {
		return outcome, err
	}
	return Completed, nil
}

// abandon ends a run whose work did not return: it does not release, because the
// work may still write, and it panics, which aws-lambda-go reports and ends the
// process on. With the process ends the lease's heartbeat. Where somebody
// recovers the panic, work and heartbeat both go on, so the lock stays held
// while the work runs.
func (a *attempt) abandon(ctx context.Context, lease *lockkit.Lease, run *Run) {
	outcome, cause := OutOfTime, errZombie
	if err := ended(lease); err != nil {
		outcome, cause = Lost, fmt.Errorf("%w; %w", err, errZombie)
	}
	if run.did.isCommitted() {
		outcome = Completed
		a.committed()
	}
	_, err := a.finish(ctx, outcome, cause)
	if err == nil {
		err = cause
	}
	panic(err)
}
