package lockkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// ElectionError is an error of the election and not of the work: an acquire
// failed in a way that does not pass by itself, such as a missing table, a role
// without permission or an item that is not a lock. Contending again at once
// changes nothing: pause until somebody may have mended it, or stop.
type ElectionError struct {
	Lock  string // name of the lock
	Table string // name of the table
	Err   error
}

// Error names the lock, the table and the failure.
func (e *ElectionError) Error() string {
	return fmt.Sprintf("lockkit: election on %q in table %q: %v", e.Lock, e.Table, e.Err)
}

// Unwrap returns the failure.
func (e *ElectionError) Unwrap() error { return e.Err }

// TermEnd says why a term of a leader ended.
type TermEnd string

// The ends of a term.
const (
	TermLeaseLost    TermEnd = "lease_lost"
	TermCancelled    TermEnd = "cancelled"
	TermWorkReturned TermEnd = "work_returned"
	TermWorkFailed   TermEnd = "work_failed" // it returned an error or panicked
)

// LeaderOption changes one election.
type LeaderOption func(*election)

// OnLeading calls f when a term begins, before the work.
func OnLeading(f func(*Lease)) LeaderOption { return func(e *election) { e.onLeading = f } }

// OnNotLeading calls f when a term has ended, after the work has returned and
// before the lock is released. It is called once for each call of OnLeading,
// also when the work panics.
func OnNotLeading(f func(*Lease, TermEnd)) LeaderOption {
	return func(e *election) { e.onNotLeading = f }
}

// AcquireWith passes options to every acquire of the election.
func AcquireWith(opts ...AcquireOption) LeaderOption {
	return func(e *election) { e.acquire = append(e.acquire, opts...) }
}

// RunAsLeader contends for the lock until the work ends or ctx does, and runs
// the work while this process holds it. The work's context ends when ctx does or
// when the lease is lost, with the reason as its cause, and carries the lease
// for [ConditionCheckFromContext].
//
// A term ends in one of three ways. The lease is lost: whatever the work
// returns, the election waits for it and contends again. ctx ends: the election
// waits for the work, releases the lock and returns the ctx error. The work
// returns or panics by itself: the lock is released, and RunAsLeader returns its
// error unchanged, or panics on. The lock is never released while the work runs.
//
// An acquire that fails with an error that may pass, such as throttling, a
// network failure or credentials that are not there yet, is tried again after a
// third of the lease. Any other is returned as an [ElectionError].
func (t *LockTable) RunAsLeader(ctx context.Context, name string, lease time.Duration, work func(context.Context) error, opts ...LeaderOption) error {
	if err := errors.Join(checkName(name), checkLease(name, lease)); err != nil {
		return &ElectionError{Lock: name, Table: t.table, Err: err}
	}
	e := &election{t: t, name: name, lease: lease, work: work}
	for _, o := range opts {
		o(e)
	}
	for {
		l, err := e.contend(ctx)
		if err != nil {
			return err
		}
		if l.Err() != nil { // its acquire answered too late: no term, but give it back
			e.release(ctx, l)
			continue
		}
		if over, err := e.term(ctx, l); over {
			return err
		}
	}
}

// election is one RunAsLeader.
type election struct {
	t     *LockTable
	name  string
	lease time.Duration
	work  func(context.Context) error

	onLeading    func(*Lease)
	onNotLeading func(*Lease, TermEnd)
	acquire      []AcquireOption
}

// contend acquires the lock, through outages.
func (e *election) contend(ctx context.Context) (*Lease, error) {
	var failed time.Time
	retries := 0
	answered := func() {
		if retries > 0 {
			e.t.log(ctx, eventContendRecovered, e.name, slog.Duration("after", e.t.clock.now().mono.Sub(failed)), slog.Int("retries", retries))
			retries = 0
		}
	}
	for {
		l, err := e.t.Acquire(ctx, e.name, e.lease, append(e.acquire, onAnswer(answered))...)
		if err == nil {
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// One told to give up on a live holder contends again, too.
		if !IsTransient(err) && !errors.Is(err, ErrHeld) {
			return nil, &ElectionError{Lock: e.name, Table: e.t.table, Err: err}
		}
		if retries++; retries == 1 {
			failed = e.t.clock.now().mono
			e.t.log(ctx, eventContendFailed, e.name, slog.Any("error", err), slog.Duration("again_in", e.lease/3))
		}
		if e.t.cfg.tracer != nil {
			e.t.cfg.tracer.TraceContentionRetry(ctx, ContentionRetry{Lock: e.name, Table: e.t.table, Err: err})
		}
		if !e.t.clock.sleep(ctx, e.lease/3) {
			return nil, ctx.Err()
		}
	}
}

// onAnswer calls f when DynamoDB has answered a request of the acquire.
func onAnswer(f func()) AcquireOption { return func(c *contender) { c.answered = f } }

// term runs the work under a lease. over is false when the election goes on.
func (e *election) term(ctx context.Context, l *Lease) (over bool, err error) {
	t := e.t
	t.log(ctx, eventLeading, e.name, slog.Int64("token", l.token), slog.String("holder", t.cfg.label))
	if e.onLeading != nil {
		e.onLeading(l)
	}
	end := TermWorkFailed // what a panic leaves behind
	defer func() {
		t.log(ctx, eventNotLeading, e.name, slog.String("reason", string(end)), slog.Int64("token", l.token), slog.String("holder", t.cfg.label))
		if e.onNotLeading != nil {
			e.onNotLeading(l, end)
		}
		e.release(ctx, l)
	}()
	work, cancel := l.Context(ctx)
	defer cancel()
	err = e.work(work)
	switch {
	case ctx.Err() != nil:
		end = TermCancelled
		if err != nil && !errors.Is(err, ctx.Err()) {
			t.log(ctx, eventWorkErrorAfterCancel, e.name, slog.String("error_type", fmt.Sprintf("%T", err)))
		}
		return true, ctx.Err()
	case l.Err() != nil:
		end = TermLeaseLost
		if err != nil && !errors.Is(err, context.Canceled) {
			t.log(ctx, eventWorkErrorAfterLoss, e.name, slog.String("error_type", fmt.Sprintf("%T", err)))
		}
		return false, nil
	case err != nil:
		return true, err
	default:
		end = TermWorkReturned
		return true, nil
	}
}

// release gives a term's lock back. It has logged what went wrong; the term's end
// does not depend on it.
func (*election) release(ctx context.Context, l *Lease) { _ = l.Release(ctx) }
