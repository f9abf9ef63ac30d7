package lockkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Release gives the lock back. It stops the heartbeat and waits for it first,
// then sends one conditional write that frees the lock if it is still this
// lease's and touches no successor's. It works when ctx has been cancelled: only
// a deadline that still lies ahead bounds it, and so do five seconds. It is
// idempotent: a call after one that was answered returns that answer.
//
// A lease that had ended, but that nobody has taken over, is freed as well, so
// that nobody waits out a lock that nobody uses; that is a success. When the
// lock was taken over or deleted meanwhile, the error is the [EndedError]. When
// no answer came in time, the error says why; the lock is then free after one
// lease. When an extension refuses the release, the error is its own, and the
// lease goes on.
func (l *Lease) Release(ctx context.Context) error {
	bound := readBound
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil {
		bound = min(bound, time.Until(deadline))
	}
	ctx, deadline := context.WithoutCancel(ctx), time.Now().Add(bound)

	l.rest() // before the lane, to get a renewal under way out of it
	if err := l.enterBy(ctx, deadline); err != nil {
		// A transaction of this lease hangs in the lane. The holder is done all the
		// same, and nothing renews the lease any more.
		return l.unreleased(ctx, err)
	}
	defer l.leave()
	l.rest() // in the lane, where nobody starts another
	l.beating.Wait()
	l.mu.Lock()
	freed, err, ended := l.freed, l.freedErr, l.ended
	l.mu.Unlock()
	switch {
	case freed:
		return err
	case ended != nil && ended.Reason != ReasonExpired && ended.Reason != ReasonReleased:
		return ended // not ours any more: nothing to give back
	}
	traced := l.t.traceStart(ctx, TraceStart{Operation: OpRelease, Lock: l.name})
	verdict, err := l.free(traced, bound, deadline)
	l.t.traceEnd(traced, TraceEnd{Operation: OpRelease, Lock: l.name, Err: err})
	if verdict == refusedByExtension {
		l.mu.Lock()
		l.stopped = false
		l.arm(l.untilBeat(l.t.clock.now()))
		l.mu.Unlock()
		return l.wrap("release", err)
	}
	if verdict == unanswered {
		return l.unreleased(ctx, err)
	}
	_ = l.end(ReasonReleased, "", nil)
	l.mu.Lock()
	l.freed, l.freedErr = true, err
	l.mu.Unlock()
	return l.wrap("release", err)
}

// unreleased ends a lease whose release had no answer.
func (l *Lease) unreleased(ctx context.Context, err error) error {
	_ = l.end(ReasonReleased, "", nil)
	l.t.log(ctx, eventReleaseFailed, l.name, slog.Any("error", err), slog.Int64("token", l.token))
	return l.wrap("release", fmt.Errorf("the lock is free once its lease is over: %w", err))
}

// rest stops the heartbeat, and ends the request of one that is running.
func (l *Lease) rest() {
	l.mu.Lock()
	l.stopped = true
	l.disarm()
	cancel := l.cancel
	l.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// enterBy takes the lane. A free one, which is the rule, needs no timer.
func (l *Lease) enterBy(ctx context.Context, deadline time.Time) error {
	select {
	case l.lane <- struct{}{}:
		return nil
	default:
	}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, errTimeout)
	defer cancel()
	return l.enter(ctx)
}

type verdict int

const (
	unanswered verdict = iota
	definite
	refusedByExtension
)

// free sends the release until it has an answer. The body is the same in every
// try, so a try that meets an earlier one's success can tell.
func (l *Lease) free(ctx context.Context, bound time.Duration, deadline time.Time) (verdict, error) {
	w := l.about(VerbRelease, l.t.clock.now())
	in, err := l.composeRelease(w)
	if err != nil {
		return unanswered, err
	}
	each := max(bound/3, 100*time.Millisecond)
	out, err := l.t.update(ctx, in, min(each, time.Until(deadline)), l.requests)
	if err != nil { // only further tries need a limit for all of them
		var cancel func()
		ctx, cancel = context.WithDeadlineCause(ctx, deadline, errTimeout)
		defer cancel()
	}
	for pause := 50 * time.Millisecond; err != nil; pause *= 2 {
		if noTable(err) {
			return definite, l.end(ReasonTableNotFound, fmt.Sprintf("table %q does not exist", l.t.table), err)
		}
		item, brought, ok := refused(err)
		if ok && !brought {
			item, err = l.t.read(ctx, l.name, bound, l.requests)
			ok = err == nil
		}
		if ok {
			var v verdict
			if v, err = l.settleRelease(w, item); v != unanswered {
				return v, err
			}
		} else {
			l.mu.Lock()
			l.lost = true
			l.mu.Unlock()
		}
		if !ok && !transient(err) || !l.t.clock.sleep(ctx, pause) {
			return unanswered, err
		}
		out, err = l.t.update(ctx, in, each, l.requests)
	}
	l.wrote(w, out.Attributes)
	return definite, nil
}

// settleRelease decides what a refused release means from the item in its way.
func (l *Lease) settleRelease(w Write, item Item) (verdict, error) {
	rec, err := decode(item)
	ours := rec.owner == l.owner && rec.token == l.token
	if err == nil && rec.exists && !ours && l.landed(w, item, rec) {
		l.wrote(w, item)
		return definite, nil
	}
	if _, ended := l.mine(item); ended != nil {
		return definite, ended
	}
	if l.ext != nil {
		if err := l.ext.Refuse(w, item); err != nil {
			return refusedByExtension, err
		}
	}
	return unanswered, errors.New("DynamoDB refused the release, although owner, token and record version were this lease's")
}

// landed reports whether the item proves that this release was applied. Without
// an extension the release carried nothing of its own: then a free lock with our
// token was freed by us. So was one with a later token, if an earlier send had no
// answer and the lease would still run: nobody may take over a lease that runs.
func (l *Lease) landed(w Write, item Item, rec record) bool {
	if l.ext != nil {
		return l.ext.Landed(w, item)
	}
	if !rec.held() && rec.token == l.token {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	running := l.ended == nil || l.ended.Reason == ReasonReleased
	return l.lost && running && rec.token > l.token && l.left(l.t.clock.now()) > 0
}

func (l *Lease) composeRelease(w Write) (*dynamodb.UpdateItemInput, error) {
	values := make(Item, 4)
	l.t.expiry(values, w.Sent, l.noTTL)
	versions := l.mineValues(values)
	f, err := l.t.form(shape{verb: VerbRelease, extended: l.ext != nil, noTTL: l.noTTL, versions: versions}).extend(l.ext, w, values)
	if err != nil {
		return nil, err
	}
	returns := types.ReturnValueNone
	if l.ext != nil {
		returns = types.ReturnValueAllOld
	}
	return f.input(l.t, l.name, values, returns), nil
}

func (w *words) release(c *config, s shape) {
	w.mine(s.versions)
	w.vacate()
	w.expire(c, s.noTTL)
	if !s.extended {
		w.drop("#lkr", AttrRun)
	}
}
