package lockkit

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// AcquireOption changes one acquire.
type AcquireOption func(*contender)

// GiveUpWhenAlive makes Acquire return a [HeldError] with Alive set as soon as a
// look sees the record version change: the holder has proved that it lives. A
// short-lived process stops waiting then, and still takes over from a holder
// that stays silent for a whole lease. It changes nothing for TryAcquire.
func GiveUpWhenAlive() AcquireOption { return func(c *contender) { c.giveUpAlive = true } }

// GiveUpOnSchedule is GiveUpWhenAlive that does not even watch a holder whose
// newest write, by its own stamp, is younger than half its lease and not in the
// future. Giving up is always safe; a clock that is wrong costs liveness until
// that stamp is half a lease old, and then the contender watches.
func GiveUpOnSchedule() AcquireOption {
	return func(c *contender) { c.giveUpAlive, c.giveUpOnSchedule = true, true }
}

// Extend has ext take part in every write of the lease.
func Extend(ext Extension) AcquireOption { return func(c *contender) { c.ext = ext } }

// WithoutTTL makes the writes of this lease remove the attribute of [WithTTL]
// instead of setting it, for an item that must not go away.
func WithoutTTL() AcquireOption { return func(c *contender) { c.noTTL = true } }

// KeepTrying makes Acquire go on through failures that may pass (see
// [IsTransient]), with a pause of up to a second between tries, until ctx ends.
// Give ctx a deadline then. It changes nothing for TryAcquire.
func KeepTrying() AcquireOption { return func(c *contender) { c.keepTrying = true } }

// CountRequests adds to n every request to DynamoDB that the acquire and then its
// lease send for the lock, each try counted. The transactions of [Lease.Write] are
// the caller's own, and do not count.
func CountRequests(n *atomic.Int64) AcquireOption { return func(c *contender) { c.requests = n } }

// Until says when this process is certainly gone: the end of an invocation, say,
// that the platform enforces. It is written to the item, the lease ends there at
// the latest by this process's wall clock, and a contender with
// [WithMaxClockSkew] takes over then without waiting. It must be at least one
// lease away. It is never taken from a context's deadline, which a process can
// outlive.
func Until(t time.Time) AcquireOption { return func(c *contender) { c.until = t.Round(0) } }

// TryAcquire tries once and never waits. A held lock is a [HeldError]. It takes
// over from a dead holder only when this LockTable has seen the same record
// version for a whole lease over earlier calls; a process that calls it once
// and ends never does, and wants [LockTable.Acquire].
func (t *LockTable) TryAcquire(ctx context.Context, name string, lease time.Duration, opts ...AcquireOption) (*Lease, error) {
	c, err := t.contender(name, lease, opts)
	if err != nil {
		return nil, err
	}
	ctx = t.traceStart(ctx, TraceStart{Operation: OpTryAcquire, Lock: name})
	l, err := c.try(ctx)
	return c.done(ctx, OpTryAcquire, l, err)
}

func (c *contender) try(ctx context.Context) (*Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, held, err := c.tryOnce(ctx)
	for refusals := 0; err == nil && l == nil && !held.held(); {
		l, held, err = c.writeAgain(ctx, &refusals)
	}
	if err != nil || l != nil {
		return l, err
	}
	return nil, c.heldError(held, c.giveUpOnSchedule && onSchedule(held, c.t.clock.now()))
}

// Acquire waits until it has the lock or ctx ends, and then returns an error
// that matches the ctx error, and the newest failure too when no request was
// answered after it. ctx bounds the wait only: once Acquire has
// returned a lease, the end of ctx stops neither the lease nor its renewals.
// Failures that may pass are tried again a few times within about a second and
// then returned, unless it is told to [KeepTrying].
//
// A lease whose answer took longer than the lease itself is returned as one that
// has ended already; its Err says so.
func (t *LockTable) Acquire(ctx context.Context, name string, lease time.Duration, opts ...AcquireOption) (*Lease, error) {
	c, err := t.contender(name, lease, opts)
	if err != nil {
		return nil, err
	}
	ctx = t.traceStart(ctx, TraceStart{Operation: OpAcquire, Lock: name})
	l, err := c.wait(ctx)
	return c.done(ctx, OpAcquire, l, err)
}

// done tells the tracer and the log how an acquire ended, and makes its answer.
// One that ends without knowing what became of its write gives back what it may
// have got.
func (c *contender) done(ctx context.Context, op Operation, l *Lease, err error) (*Lease, error) {
	if l == nil && c.unsure {
		c.abandon(ctx)
	}
	_, refusedByExtension := errors.AsType[*refusal](err)
	benign := err != nil && (refusedByExtension || errors.Is(err, ErrHeld) || ctx.Err() != nil)
	err = c.wrap(ctx, err)
	c.t.traceEnd(ctx, TraceEnd{Operation: op, Lock: c.name, Err: err, Benign: benign, Lease: l})
	if l == nil {
		return nil, err
	}
	if former, ok := l.Takeover(); ok {
		c.t.log(ctx, eventLockTakenOver, c.name, slog.Int64("token", l.token), slog.String("holder", c.t.cfg.label),
			slog.String("former_holder", former.Holder), slog.Int64("former_token", former.Token))
	}
	return l, err
}
