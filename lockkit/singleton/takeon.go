package singleton

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/pause"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// Under the policy Queue a run that has completed its tick runs the one that waits
// on the item before it gives the lock back. Its release is refused while a tick
// waits, so that none is left behind between a look and the release; then a
// renewal marks the finished tick and makes the waiting one the run's own, and
// the work is called again under the same lease.

// pendingError refuses the release of a run while a tick waits for it.
type pendingError struct {
	tick    time.Time // zero: it is to be left for the next run
	expired bool      // it is too old to be run
	odd     error     // instead of a tick: why what waits is none
}

func (e *pendingError) Error() string {
	if e.odd != nil {
		return e.odd.Error()
	}
	return fmt.Sprintf("singleton: tick %s waits to be run before the lock is released", e.tick.Format(time.RFC3339Nano))
}

// handover is the renewal from one tick to the next under one lease.
type handover struct {
	next    time.Time
	started time.Time
	item    lockkit.Item // as the renewal left it; nil: it is not known to be applied
}

// mayTakeOn reports whether the run is to look for a tick that waits: it has
// completed its own, and there is time for another. Then the finished tick's run
// sends no more transactions: they would count for the next tick.
func (a *attempt) mayTakeOn(run *Run, outcome Outcome, panicked bool) bool {
	return a.ext.queues && outcome == Completed && !panicked && a.fits() && run.did.close()
}

// close ends a run's transactions, unless one is under way.
func (d *did) close() (idle bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open != nil {
		return false
	}
	d.spent = true
	return true
}

// fits reports whether there is time for the work once more.
func (a *attempt) fits() bool {
	return a.budget.workEnd.IsZero() || !time.Now().Add(a.spec.WorkTime).After(a.budget.workEnd)
}

// refuseRelease adds the condition that no tick waits which is newer than what is
// done, and takes one off that is not.
func (e *extension) refuseRelease(add *lockkit.Addition) {
	add.Names["#pending"] = lockkit.AttrPending
	add.Remove = append(add.Remove, "#pending")
	if e.covers.tick.IsZero() && e.expired.IsZero() {
		add.Condition = "attribute_not_exists(#pending) OR #pending <= #tick"
		add.Names["#tick"] = lockkit.AttrTick
		return
	}
	add.Condition = "attribute_not_exists(#pending) OR #pending <= :done"
	add.Values[":done"] = wire.Number(e.settled().UnixMilli())
}

// settled is the newest tick of which nothing is left to do when this run's is
// completed: older ones that wait are taken off the item.
func (e *extension) settled() time.Time {
	if done := e.mark(); done.After(e.expired) {
		return done
	}
	return e.expired
}

// waiting is refuseRelease's judgement of an item: the tick that waits, unless
// somebody tells the run to stop, or the job to rest.
func (e *extension) waiting(item lockkit.Item) error {
	if !e.end.takesOn {
		return nil
	}
	now := time.Now()
	pending, err := pendingTick(item, now)
	switch {
	case err != nil:
		return &pendingError{odd: err}
	case !pending.After(e.settled()):
		return nil
	case tooOld(pending, e.maxAge, now):
		return &pendingError{tick: pending, expired: true}
	}
	if e.stopped != nil || checkPaused(item, now) != nil {
		pending = time.Time{}
	}
	return &pendingError{tick: pending}
}

// hand is what the renewal carries that ends one tick and begins the next.
func (e *extension) hand(w lockkit.Write) lockkit.Addition {
	if e.handing == nil || e.handing.item != nil {
		return lockkit.Addition{}
	}
	done := e.record(w.Owner)
	done.Tick, done.Ended, done.Outcome, done.Err = e.covers.tick, e.end.at, string(e.end.outcome), e.end.err
	next := e.record(w.Owner)
	next.Tick, next.Started = e.handing.next, e.handing.started
	add := lockkit.Addition{
		Set:    []string{"#prev = :prev", "#run = :run"},
		Names:  map[string]string{"#run": lockkit.AttrRun, "#prev": lockkit.AttrPrev},
		Values: map[string]types.AttributeValue{":prev": done.Value(), ":run": e.working(next)},
	}
	if !e.covers.tick.IsZero() {
		add.Set = append(add.Set, "#tick = :tick")
		add.Names["#tick"] = lockkit.AttrTick
		add.Values[":tick"] = wire.Number(e.mark().UnixMilli())
		e.dropCursor(&add)
	}
	return add
}

// handed notes a renewal that turns out to have carried the handover: the record
// on the item is of the next tick. Another's renewal may have come before it.
func (e *extension) handed(w lockkit.Write, item lockkit.Item) {
	run, ok := wire.ReadRecord(item[lockkit.AttrRun])
	if e.handing != nil && ok && run.Owner == w.Owner && run.Tick.Equal(e.handing.next) {
		e.handing.item = item
	}
}

// takeOn marks the finished tick and makes the next one the run's own, with one
// renewal. It reports whether that is known to be on the item.
func (a *attempt) takeOn(ctx context.Context, lease *lockkit.Lease, next time.Time) bool {
	if next.IsZero() || !a.fits() {
		return false
	}
	h := &handover{next: next, started: time.Now()}
	a.ext.mu.Lock()
	a.ext.handing = h
	a.ext.mu.Unlock()
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), a.budget.releaseEnd(time.Now()))
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		err := lease.Renew(ctx)
		a.ext.mu.Lock()
		done := h.item != nil
		a.ext.mu.Unlock()
		_, gone := errors.AsType[*lockkit.EndedError](err)
		if done || gone || ctx.Err() != nil {
			return done && !gone
		}
		pause.For(ctx, wait)
	}
}

// next makes the extension that of the next tick, after a handover.
func (e *extension) next() {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.handing
	e.old, e.started, e.began, e.handing = h.item, h.started, h.started, nil
	e.tick = events.Tick{Time: h.next, Source: e.tick.Source}
	e.end, e.over, e.tx, e.expired = ending{}, false, nil, time.Time{}
}

// expires has the release take the tick that waits off the item.
func (e *extension) expires(tick time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expired = tick
}

// leaves has the release leave the tick that waits on the item, and say what a
// handover was to say that is not known to have been applied.
func (e *extension) leaves() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handing, e.end.takesOn = nil, false
}

// next begins the run's result anew for the tick that waited.
func (a *attempt) next() {
	a.ext.next()
	a.tick = a.ext.tick
	a.counted = a.sent.Load()
	a.res = Result{
		Job: a.res.Job, Tick: a.tick.Time, Source: a.tick.Source, Token: a.res.Token, RequestID: a.res.RequestID, Queued: true,
	}
}

// logExpired writes the lines of the ticks that waited and were not run, because
// they were too old. The answer to the invocation stays that of the run's own.
func (a *attempt) logExpired(ctx context.Context) {
	for _, tick := range a.expired {
		res := Result{
			Job: a.res.Job, Tick: tick, Source: a.res.Source, Token: a.res.Token, RequestID: a.res.RequestID, Queued: true, Outcome: Expired,
		}
		res.log(ctx, a.logger, "")
	}
	a.expired = nil
}
