package singleton

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// release gives the lock back and, for a completed run, marks its tick with the
// same write. It may change the outcome: a lease that turns out to have been
// taken over is lost, whatever the work returned, and the tick is not marked.
func (a *attempt) release(ctx context.Context, lease *lockkit.Lease, outcome Outcome, cause error) (Outcome, error) {
	end := ending{at: time.Now(), outcome: outcome}
	if cause != nil {
		end.err = cause.Error()
	}
	a.ext.ends(end)
	err := a.free(ctx, lease)
	ended, gone := errors.AsType[*lockkit.EndedError](err)
	tick := !a.tick.Time.IsZero()
	switch {
	case err == nil:
		a.res.Marked = outcome == Completed && tick
	case outcome == Completed && gone:
		return Lost, fmt.Errorf("the work returned nil, and then the release found the lease gone: %w", ended)
	case outcome == Completed && tick:
		a.res.Warning = "the work is done, and the release that marks its tick had no answer: if it was not applied, another delivery of the tick runs it again: " + err.Error()
	case !gone:
		a.res.Warning = "the lock was not given back, it is free after one lease: " + err.Error()
	}
	return outcome, cause
}

// free sends the release until it is answered or the time for it is over.
func (a *attempt) free(ctx context.Context, lease *lockkit.Lease) error {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), a.budget.releaseEnd(time.Now()))
	defer cancel()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		err := lease.Release(ctx)
		if _, gone := errors.AsType[*lockkit.EndedError](err); err == nil || gone {
			return err
		}
		pause.Reset(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return err
		}
	}
}
