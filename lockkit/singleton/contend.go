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

// contend acquires the job's lock, or says what kept it from that. Whether it
// gives up on a live holder is the policy's to say.
//
// The wait for a holder is bounded by its lease as it stands on the item, not by
// the job's own: a holder deployed with other numbers, or another client, must be
// waited out by what it promised. Where that does not fit the run's time, it
// watches until the time for the work ends: a sign of life is still worth it.
func (a *attempt) contend(ctx context.Context) (*lockkit.Lease, Outcome, error) {
	p := a.policy()
	bounded, cancel := a.budget.contending(ctx, p.patient())
	defer cancel()
	waiting, give := context.WithCancelCause(bounded)
	defer give(nil)
	begin := time.Now()
	var timer *time.Timer
	var held time.Duration
	// Called by Acquire on this goroutine.
	looks := func(ctx context.Context, s lockkit.Sighting) bool {
		if held == 0 {
			held = min(s.Lease, maxWatch)
			if !p.patient() {
				timer = time.AfterFunc(held+a.locks.TakeoverDelay()+a.spec.ContendMargin, func() { give(errWatched) })
			}
		}
		a.met(s)
		return p.looks(ctx, s)
	}
	lease, err := a.locks.Acquire(waiting, a.spec.Name, a.spec.Lease,
		lockkit.OnHeld(looks), lockkit.KeepTrying(), lockkit.WithoutTTL(), lockkit.Extend(a.ext), lockkit.CountRequests(&a.sent))
	if timer != nil {
		timer.Stop()
	}
	if err == nil {
		a.metNobody()
		return lease, "", nil
	}
	if done, ok := errors.AsType[*doneError](err); ok {
		a.metNobody()
		a.res.DoneTick = done.done
		return nil, done.outcome(), nil
	}
	if paused, ok := errors.AsType[*pausedError](err); ok {
		a.metNobody()
		a.res.Paused = new(Pause(paused.pause))
		return nil, Paused, nil
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(bounded), ErrOutOfTime) {
		return nil, OutOfTime, fmt.Errorf("the caller's context ended while the run contended for the lock: %w", err)
	}
	over := errors.Is(err, ErrOutOfTime)
	if errors.Is(err, lockkit.ErrHeld) || over || errors.Is(err, errWatched) {
		switch outcome := p.without(); {
		case outcome.Err():
			return nil, outcome, fmt.Errorf("%w: %w", p.why(), err)
		case outcome != "":
			return nil, outcome, nil
		}
	}
	if held > 0 && over {
		return nil, Blocked, a.blocked(held, time.Since(begin), err)
	}
	return nil, Blocked, fmt.Errorf("the lock could not be acquired: %w", err)
}

// met notes who holds the lock, and since when, where its record is there to tell:
// whoever asks later why the tick was not run finds the next run's records on the
// item.
func (a *attempt) met(s lockkit.Sighting) {
	run, _ := holderRun(s)
	a.res.Holder, a.res.HeldSince = s.Holder, run.Started
}

func (a *attempt) metNobody() { a.res.Holder, a.res.HeldSince = "", time.Time{} }

// maxWatch keeps sums of durations from overflowing: a lease of another client
// may be any number.
const maxWatch = 100 * 365 * 24 * time.Hour

// blocked says how to get past a holder that is silent and whose lease is longer
// than the run's time. Skipping would say "somebody works" for as long as that
// lease lasts, and then again at the next tick.
func (a *attempt) blocked(held, watched time.Duration, err error) error {
	need := held + a.locks.TakeoverDelay() + a.spec.ContendMargin + a.spec.Reserve
	return fmt.Errorf("the lock's holder gave no sign of life for the %s that this run could watch, and may be taken over only after its whole lease of %s: give a run more than %s (the function's timeout), or wait for the holder; if it is certainly dead, free lock %q in table %q with Release of package control: %w",
		watched.Round(time.Millisecond), held, need, a.spec.Name, a.locks.Table(), err)
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
	if !r.Ended.IsZero() {
		// It released just before the acquire that was to take the lock over was
		// applied, and that one's answer, which would have told, was lost.
		return nil
	}
	t.Tick, t.Started, t.RequestID, t.LogStream = r.Tick, r.Started, r.RequestID, r.LogStream
	t.Cursor = a.ext.leftCursor()
	return t
}
