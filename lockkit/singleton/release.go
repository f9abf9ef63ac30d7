package singleton

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/pause"
)

// release gives the lock back and, for a run that completed without a Commit,
// marks its tick with the same write. It may change the outcome: a lease that
// turns out to have been taken over is lost, whatever the work returned, and the
// tick is not marked, unless a try of the release had no answer and the tick is
// done since; a Commit that turns out to have been applied has completed
// the tick. takenOn says that the lock is held on, for a tick that waited.
func (a *attempt) release(ctx context.Context, lease *lockkit.Lease, run *Run, outcome Outcome, cause error, panicked bool) (_ Outcome, takenOn bool, _ error) {
	committed := run.did.isCommitted()
	end := ending{at: time.Now(), outcome: outcome, committed: committed, takesOn: a.mayTakeOn(run, outcome, panicked)}
	if cause != nil {
		end.err = brief(cause)
	}
	a.ext.ends(end)
	sent := a.sent.Load()
	err := a.free(ctx, lease)
	var odd error
	for waits, ok := errors.AsType[*pendingError](err); ok && !takenOn; waits, ok = errors.AsType[*pendingError](err) {
		if waits.expired {
			a.ext.expires(waits.tick)
			a.expired = append(a.expired, waits.tick)
			err = a.free(ctx, lease)
			continue
		}
		if takenOn = a.takeOn(ctx, lease, waits.tick); takenOn {
			err = nil
			continue
		}
		odd = waits.odd
		a.ext.leaves()
		err = a.free(ctx, lease)
	}
	if err == nil {
		run.did.settle(a.ext.seenStep(), false)
	}
	ended, gone := errors.AsType[*lockkit.EndedError](err)
	tick := !run.Tick.IsZero()
	switch {
	case !committed && run.did.isCommitted():
		outcome, committed = Completed, true
		a.res.Warning = "the answer to the Commit was lost, and it was the release that found it applied: the record on the lock's item says otherwise"
	case err == nil:
		a.res.Marked = outcome == Completed && tick
		if odd != nil {
			a.res.Warning = "what waits on the lock's item to be run was left there: " + odd.Error()
		}
	case committed && gone:
		if cause == nil {
			cause = ended
		}
	case outcome == Completed && gone && a.sent.Load() > sent+1 && a.ext.passed():
		a.res.Warning = "the work is done and its tick is completed, by this run's release, whose answer was lost, or by a run that came after it: " + ended.Error()
	case outcome == Completed && gone:
		return Lost, false, fmt.Errorf("the work returned nil, and then the release found the lease gone: %w", ended)
	case outcome == Completed && tick && !committed:
		a.res.Warning = "the work is done, and the release that marks its tick had no answer: if it was not applied, another delivery of the tick runs it again: " + err.Error()
	case !gone:
		a.res.Warning = "the lock was not given back, it is free after one lease: " + err.Error()
	}
	if committed {
		a.committed()
	}
	return outcome, takenOn, cause
}

// passed reports whether a release that found the lock another's was shown that
// the run's tick, or a newer one, has been completed since the acquire. Where an
// earlier try of the release had no answer, that may have been it, and a successor
// that came and went has left no trace of who it was.
func (e *extension) passed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was, err := doneTick(e.old)
	return err == nil && e.marks() && was.Before(e.covers.tick) && !e.reached.Before(e.covers.tick)
}

// committed notes that a Commit was applied.
func (a *attempt) committed() {
	a.res.Committed = true
	a.res.Marked = !a.ext.covers.tick.IsZero()
}

// settle looks what became of a transaction whose answer never came, in half of
// the time that the release has. A renewal is what tells: it shows the item as it
// is, and no copy of the transaction is applied after it. A lease that has expired
// has no renewals; then a read may show that it was applied, and the release
// prevents what is still under way.
func (a *attempt) settle(ctx context.Context, lease *lockkit.Lease, run *Run) {
	now := time.Now()
	half := a.budget.releaseEnd(now).Sub(now) / 2
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), half)
	defer cancel()
	for wait := 50 * time.Millisecond; run.did.unknown() != nil && ctx.Err() == nil; wait *= 2 {
		once, stop := context.WithTimeout(ctx, half/2)
		over, err := ended(lease), error(nil)
		if over == nil {
			err = lease.Renew(once)
		} else if e, ok := errors.AsType[*lockkit.EndedError](over); ok && e.Reason == lockkit.ReasonExpired {
			err = a.look(once, lease)
		}
		stop()
		if err == nil {
			run.did.settle(a.ext.seenStep(), over == nil)
			return
		}
		pause.For(ctx, wait)
	}
}

// look reads the item for what it shows of this lease.
func (a *attempt) look(ctx context.Context, lease *lockkit.Lease) error {
	key, err := a.locks.Key(lease.Name())
	if err != nil {
		return err
	}
	a.sent.Add(1)
	out, err := a.locks.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: new(a.locks.Table()), Key: key, ConsistentRead: new(true)})
	if err != nil {
		return err
	}
	a.ext.found(lockkit.Write{Owner: lease.Owner(), Token: lease.Token()}, out.Item)
	return nil
}

// free sends the release until it is answered or the time for it is over.
func (a *attempt) free(ctx context.Context, lease *lockkit.Lease) error {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), a.budget.releaseEnd(time.Now()))
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		err := lease.Release(ctx)
		_, gone := errors.AsType[*lockkit.EndedError](err)
		if _, waits := errors.AsType[*pendingError](err); err == nil || gone || waits {
			return err
		}
		if !pause.For(ctx, wait) {
			return err
		}
	}
}
