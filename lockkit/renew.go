package lockkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Renew renews the lease now, before a step that must not start on a short one.
// It sends one renewal, bounded by ctx and by the time the lease has left. When
// the lease has ended, or the renewal finds out that it has, the error is the
// [EndedError]; any other error leaves the lease to its heartbeat.
func (l *Lease) Renew(ctx context.Context) error {
	if err := l.enter(ctx); err != nil {
		return l.wrap("renew", err)
	}
	defer l.leave()
	now := l.t.clock.now()
	if ended := l.check(now); ended != nil {
		return ended
	}
	l.mu.Lock()
	full, left := l.chain.full(maxCallChain), l.left(now)
	l.mu.Unlock()
	if full {
		return l.wrap("renew", fmt.Errorf("%d renewals in a row had no answer: leave it to the heartbeat, or release the lease", maxCallChain))
	}
	ctx = l.t.traceStart(ctx, TraceStart{Operation: OpRenew, Lock: l.name})
	err := l.wrap("renew", l.renew(ctx, min(left, readBound)))
	l.t.traceEnd(ctx, TraceEnd{Operation: OpRenew, Lock: l.name, Err: err})
	return err
}

// wrap names operation, lock and table where the error does not.
func (l *Lease) wrap(operation string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*EndedError](err); ok {
		return err
	}
	return fmt.Errorf("lockkit: %s %q in table %q: %w", operation, l.name, l.t.table, err)
}

// untilBeat is how long until the next renewal is due: a third of the lease after
// the send of the last that succeeded, so that a slow DynamoDB does not push the
// renewals towards the lease's end. Callers hold mu.
func (l *Lease) untilBeat(now moment) time.Duration {
	return max(l.duration/3-now.mono.Sub(l.sent.mono), 0)
}

// arm sets the heartbeat's timer. Callers hold mu.
func (l *Lease) arm(d time.Duration) {
	if l.ended != nil || l.stopped {
		return
	}
	l.disarm()
	l.beating.Add(1)
	l.beat = l.t.clock.afterFunc(d, l.heartbeat)
}

// disarm stops the heartbeat's timer. Callers hold mu.
func (l *Lease) disarm() {
	if l.beat != nil && l.beat.Stop() {
		l.beating.Done()
	}
	l.beat = nil
}

// heartbeat is one renewal on the timer's goroutine. It arms the next one.
func (l *Lease) heartbeat() {
	defer l.beating.Done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.mu.Lock()
	if l.ended != nil || l.stopped {
		l.mu.Unlock()
		return
	}
	l.cancel = cancel
	l.mu.Unlock()
	if l.enter(ctx) != nil {
		return
	}
	defer l.leave()
	now := l.t.clock.now()
	if l.check(now) != nil {
		return
	}
	l.mu.Lock()
	early, full, left := l.untilBeat(now), l.chain.full(maxChain), l.left(now)
	if early > 0 || full {
		// Somebody else's renewal came first, or there is nothing more to try:
		// then the alarm ends the lease.
		if !full {
			l.arm(early)
		}
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()

	// A call that is never answered must leave time for another.
	traced := l.t.traceStart(ctx, TraceStart{Operation: OpRenew, Lock: l.name, Acquired: l.origin})
	err := l.renew(traced, min(max(left/2, 20*time.Millisecond), left, readBound))
	l.mu.Lock()
	cut := err != nil && l.stopped
	l.mu.Unlock()
	l.t.traceEnd(traced, TraceEnd{Operation: OpRenew, Lock: l.name, Err: err, Benign: cut})
	if err == nil || l.check(l.t.clock.now()) != nil {
		return
	}
	l.mu.Lock()
	l.failures++
	l.failure = err
	pause, stopped := l.pause(), l.stopped
	l.arm(pause)
	l.mu.Unlock()
	if !stopped { // else a release has cut it off
		l.t.log(l.origin, eventRenewalFailed, l.name, slog.Any("error", err), slog.Duration("again_in", pause), slog.Int64("token", l.token))
	}
}

// pause is how long after a failed renewal to try again: 100 ms, doubling, up to
// a sixth of the lease. Callers hold mu.
func (l *Lease) pause() time.Duration {
	pause, most := 100*time.Millisecond, l.duration/6
	for i := int32(1); i < l.failures && pause < most; i++ {
		pause *= 2
	}
	return min(pause, most)
}

// renew sends one renewal and settles what it means. Callers are in the lane.
func (l *Lease) renew(ctx context.Context, bound time.Duration) error {
	version, sent := rand.Text(), l.t.clock.now()
	w := l.about(VerbRenew, sent)
	in, err := l.composeRenewal(version, sent, w)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.chain.add(version, sent)
	l.mu.Unlock()
	out, err := l.t.update(ctx, in, bound, l.requests)
	if err == nil {
		if ended := l.confirm(version, sent); ended != nil {
			return ended
		}
		l.wrote(w, out.Attributes)
		return nil
	}
	if noTable(err) {
		return l.end(ReasonTableNotFound, fmt.Sprintf("table %q does not exist", l.t.table), err)
	}
	item, brought, ok := refused(err)
	if !ok {
		return err
	}
	if !brought {
		if item, err = l.t.read(ctx, l.name, bound, l.requests); err != nil {
			return err
		}
	}
	return l.settle(w, item)
}

// settle decides what a refused renewal means from the item in its way.
func (l *Lease) settle(w Write, item Item) error {
	version, ended := l.mine(item)
	if ended != nil {
		return ended
	}
	l.mu.Lock()
	sent, _ := l.chain.sent(version)
	newest := l.chain.tries[len(l.chain.tries)-1].version
	l.mu.Unlock()
	if ended := l.confirm(version, sent); ended != nil {
		return ended
	}
	if version == newest {
		l.wrote(w, item) // this very renewal, whose first answer was lost
		return nil
	}
	if l.ext != nil {
		if err := l.ext.Refuse(w, item); err != nil {
			return err
		}
	}
	return errors.New("DynamoDB refused the write, although owner, token and record version were this lease's")
}

// mine returns the record version of an item that still shows this lease, and
// ends the lease if it shows anything else.
func (l *Lease) mine(item Item) (string, *EndedError) {
	rec, err := decode(item)
	switch {
	case err != nil:
		return "", l.end(ReasonTakenOver, "the item is not a lock any more: "+err.Error(), nil)
	case !rec.exists:
		return "", l.end(ReasonDeleted, "the item is gone", nil)
	case !rec.held():
		return "", l.end(ReasonTakenOver, "the lock is free: somebody released it", nil)
	case rec.owner != l.owner || rec.token != l.token:
		return "", l.end(ReasonTakenOver, fmt.Sprintf("held by %s with token %d", labelled(rec.holder), rec.token), nil)
	}
	l.mu.Lock()
	_, known := l.chain.sent(rec.version)
	l.mu.Unlock()
	if !known {
		return "", l.end(ReasonTakenOver, "its record version is none that this lease wrote", nil)
	}
	return rec.version, nil
}

// confirm notes that a version is on the item: the lease counts from its first
// send. It never counts from an earlier one than before, and it does not bring
// back a lease that has ended meanwhile.
func (l *Lease) confirm(version string, sent moment) *EndedError {
	now := l.t.clock.now()
	if ended := l.check(now); ended != nil {
		return ended
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return l.ended
	}
	l.chain.confirm(version)
	if sent.mono.After(l.sent.mono) {
		l.sent = sent
	}
	l.failures, l.failure = 0, nil
	l.alarm.Reset(l.left(now))
	l.arm(l.untilBeat(now))
	return nil
}

func (l *Lease) wrote(w Write, item Item) {
	if l.ext == nil {
		return
	}
	l.mu.Lock()
	l.seen = item
	l.mu.Unlock()
	l.ext.Wrote(w, item)
}

func (l *Lease) about(verb Verb, sent moment) Write {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Write{Verb: verb, Lock: l.name, Owner: l.owner, Token: l.token, Sent: sent.wall, Seen: l.seen}
}

func (l *Lease) composeRenewal(version string, sent moment, w Write) (*dynamodb.UpdateItemInput, error) {
	values := make(Item, 6)
	versions := l.mineValues(values)
	values[":lkv"], values[":lka"] = stringValue(version), stampValue(values[":lko"], numberValue(sent.wall.UnixMilli()))
	l.t.expiry(values, sent.wall, l.noTTL)
	f, err := l.t.form(shape{verb: VerbRenew, extended: l.ext != nil, noTTL: l.noTTL, versions: versions}).extend(l.ext, w, values)
	if err != nil {
		return nil, err
	}
	returns := types.ReturnValueNone
	if l.ext != nil {
		returns = types.ReturnValueAllNew // what others put on the item arrives with it
	}
	return f.input(l.t, l.name, values, returns), nil
}

func (w *words) renew(c *config, s shape) {
	w.mine(s.versions)
	w.assign("#lkv", AttrVersion, ":lkv")
	w.assign("#lka", AttrAt, ":lka")
	w.expire(c, s.noTTL)
}
