package singleton

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// errWatched is the cause of a wait that went past the holder's whole lease and
// the margin without an acquire: DynamoDB does not answer as it should.
var errWatched = errors.New("singleton: the holder's lease has passed without an answer that let this run take over")

// contend acquires the job's lock, or says what kept it from that. It gives up
// on a holder as soon as that one proves alive.
//
// The wait is bounded by the holder's lease as it stands on the item, not by the
// job's own: a holder deployed with other numbers, or another client, must be
// waited out by what it promised. Where that does not fit the run's time, it
// watches until the time for the work ends: a sign of life is still worth it.
func (a *attempt) contend(ctx context.Context) (*lockkit.Lease, Outcome, error) {
	bounded, cancel := a.budget.bound(ctx)
	defer cancel()
	waiting, give := context.WithCancelCause(bounded)
	defer give(nil)
	begin := time.Now()
	var timer *time.Timer
	var held time.Duration
	// Called by Acquire on this goroutine.
	a.ext.held = func(lease time.Duration) {
		held = lease
		timer = time.AfterFunc(lease+a.locks.TakeoverDelay()+a.spec.ContendMargin, func() { give(errWatched) })
	}
	lease, err := a.locks.Acquire(waiting, a.spec.Name, a.spec.Lease,
		lockkit.GiveUpWhenAlive(), lockkit.KeepTrying(), lockkit.WithoutTTL(), lockkit.Extend(a.ext), lockkit.CountRequests(&a.sent))
	if timer != nil {
		timer.Stop()
	}
	if err == nil {
		return lease, "", nil
	}
	if done, ok := errors.AsType[*doneError](err); ok {
		a.res.DoneTick = done.done
		return nil, done.outcome(), nil
	}
	if other, ok := errors.AsType[*lockkit.HeldError](err); ok && other.Alive {
		a.res.Holder = other.Holder
		if a.ext.runsSame() {
			return nil, Duplicate, nil
		}
		return nil, Skipped, nil
	}
	switch {
	case ctx.Err() != nil && !errors.Is(context.Cause(bounded), ErrOutOfTime):
		return nil, OutOfTime, fmt.Errorf("the caller's context ended while the run contended for the lock: %w", err)
	case held > 0 && errors.Is(err, ErrOutOfTime):
		return nil, Blocked, a.blocked(held, time.Since(begin), err)
	default:
		return nil, Blocked, fmt.Errorf("the lock could not be acquired: %w", err)
	}
}

// blocked says how to get past a holder that is silent and whose lease is longer
// than the run's time. Skipping would say "somebody works" for as long as that
// lease lasts, and then again at the next tick.
func (a *attempt) blocked(held, watched time.Duration, err error) error {
	need := held + a.locks.TakeoverDelay() + a.spec.ContendMargin + a.spec.Reserve
	return fmt.Errorf("the lock's holder gave no sign of life for the %s that this run could watch, and may be taken over only after its whole lease of %s: give a run more than %s (the function's timeout), or wait for the holder; if it is certainly dead, free the lock by removing the attribute %s from the item of lock %q in table %q: %w",
		watched.Round(time.Millisecond), held, need, lockkit.AttrOwner, a.spec.Name, a.locks.Table(), err)
}

// takeover describes the dead holder, if there was one. The record on the item
// is reported only if it is of that very holder: another client leaves the
// record of whoever ran before it in place.
func (a *attempt) takeover(lease *lockkit.Lease) *Takeover {
	former, ok := lease.Takeover()
	if !ok {
		return nil
	}
	t := &Takeover{Holder: former.Holder, Token: former.Token}
	r, known := a.ext.left(former.Owner)
	if !known {
		t.UnknownClient = true
		return t
	}
	t.Tick, t.Started, t.RequestID, t.LogStream = r.Tick, r.Started, r.RequestID, r.LogStream
	t.Cursor = a.ext.leftCursor()
	return t
}
