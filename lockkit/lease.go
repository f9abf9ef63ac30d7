package lockkit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Lease is a held lock. It renews itself every third of its duration until it
// is released or lost; one that is never released is renewed for as long as the
// process runs. Losing it is final. It waits for its next renewal on a timer, so
// an idle lease costs no goroutine. All methods are safe for concurrent use.
type Lease struct {
	t           *LockTable
	name, owner string
	token       int64
	duration    time.Duration
	former      *Former // whom it was taken over from; nil: nobody
	ext         Extension
	until       time.Time       // of Until; zero: none
	origin      context.Context // of the acquire, without its end: what logs and links name
	requests    *atomic.Int64   // of CountRequests; nil: nobody counts

	// lane is held by whoever sends a write of this lease, so that no two of
	// them overlap. It is a channel because it is held across the request.
	lane chan struct{}
	done chan struct{} // closed when the lease ends

	mu       sync.Mutex    // never held across I/O
	turn     chan struct{} // held by the transaction whose turn it is; made for the first
	chain    chain
	sent     moment // first send of the newest version known to be on the item
	seen     Item   // newest item returned, with an extension only
	failure  error  // the last of them
	ended    *EndedError
	failures int32 // renewals failed in a row; as narrow as this, and beside the flags, it keeps a lease within 352 bytes
	noTTL    bool  // from the start: the item must not expire
	stopped  bool  // a release is under way: the heartbeat rests
	freed    bool  // a release has had its definite answer
	lost     bool  // a release was sent and had no answer: it may have been applied
	freedErr error
	watchers map[*watcher]struct{}

	beat    timer          // the next renewal
	alarm   timer          // the loss signal
	beating sync.WaitGroup // heartbeats armed or running
	cancel  func()         // ends the heartbeat's request under way
}

// Former is the holder that a lock was taken over from: it stopped renewing
// without a release.
type Former struct {
	Owner  string // its owner id
	Holder string // its label, "" without one
	Token  int64  // its fencing token
	Lease  time.Duration
}

type watcher struct{ cancel context.CancelCauseFunc }

func newLease(c *contender, token int64, version string, sent moment) *Lease {
	l := &Lease{
		t: c.t, name: c.name, owner: c.owner, token: token, duration: c.lease,
		ext: c.ext, noTTL: c.noTTL, until: c.until, requests: c.requests,
		lane: make(chan struct{}, 1), done: make(chan struct{}),
		sent: sent,
	}
	if o := c.over; o.owner != "" {
		l.former = &Former{Owner: o.owner, Holder: o.holder, Token: o.token, Lease: o.lease}
	}
	l.chain.add(version, sent)
	return l
}

// start sets the timers of a new lease.
func (l *Lease) start(ctx context.Context) {
	l.origin = context.WithoutCancel(ctx)
	now := l.t.clock.now()
	l.mu.Lock()
	l.alarm = l.t.clock.afterFunc(l.left(now), l.expire)
	l.arm(l.untilBeat(now))
	l.mu.Unlock()
}

// Name returns the name of the lock.
func (l *Lease) Name() string { return l.name }

// Token returns the fencing token: unique for this lock, and higher than that of
// every holder before. Send it with every write to a resource that can refuse a
// lower one.
func (l *Lease) Token() int64 { return l.token }

// Owner returns the id that this acquire put on the item.
func (l *Lease) Owner() string { return l.owner }

// Duration returns the lease's duration as it was asked for.
func (l *Lease) Duration() time.Duration { return l.duration }

// Takeover returns the holder that this lease was taken over from; ok is false
// for a lock that was free.
func (l *Lease) Takeover() (former Former, ok bool) {
	if l.former == nil {
		return Former{}, false
	}
	return *l.former, true
}

// Done returns a channel that is closed when the lease ends. The signal for a
// lease that could not be renewed is a local timer: it comes the safety margin
// before the lease's end, also when DynamoDB cannot be reached. A process that
// was suspended may be told late; Err is exact.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Err returns nil while the lease is held, and the [EndedError] afterwards. It
// reads this process's clocks, sends nothing, and is old when it returns: only a
// check inside the write itself protects a resource.
func (l *Lease) Err() error {
	if err := l.check(l.t.clock.now()); err != nil {
		return err
	}
	return nil
}

// check ends a lease whose time is over by either clock, and returns why the
// lease has ended, or nil.
func (l *Lease) check(now moment) *EndedError {
	l.mu.Lock()
	ended, over := l.ended, l.left(now) <= 0
	l.mu.Unlock()
	if ended == nil && over {
		return l.expired(now)
	}
	return ended
}

// left is how long until the loss signal, by whichever clock says less: the
// monotonic clock stands still while a machine is suspended, the wall clock may
// be set. Callers hold mu.
func (l *Lease) left(now moment) time.Duration {
	left := l.leftBy(now.since(l.sent))
	if !l.until.IsZero() {
		left = min(left, l.until.Sub(now.wall)-l.margin())
	}
	return left
}

func (l *Lease) leftBy(monotonic, wall time.Duration) time.Duration {
	return l.duration - l.margin() - max(monotonic, wall)
}

func (l *Lease) margin() time.Duration {
	return time.Duration(l.t.cfg.margin * float64(l.duration))
}

// expire runs on the alarm's timer. Only a renewal that succeeded moves it.
func (l *Lease) expire() {
	now := l.t.clock.now()
	l.mu.Lock()
	left := l.left(now)
	if l.ended == nil && left > 0 {
		l.alarm.Reset(left)
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	_ = l.expired(now)
}

func (l *Lease) expired(now moment) *EndedError {
	l.mu.Lock()
	mono, wall := now.since(l.sent)
	detail := "the last renewal that succeeded was sent " + mono.Round(time.Millisecond).String() + " ago"
	if wall > mono+l.margin() {
		detail = "the wall clock has moved further than the monotonic one: this machine was suspended, or its clock was set"
	}
	failure := l.failure
	l.mu.Unlock()
	return l.end(ReasonExpired, detail, failure)
}

// end ends the lease once; later calls return the first reason.
func (l *Lease) end(reason Reason, detail string, err error) *EndedError {
	l.mu.Lock()
	if l.ended != nil {
		defer l.mu.Unlock()
		return l.ended
	}
	l.ended = &EndedError{Lock: l.name, Table: l.t.table, Token: l.token, Reason: reason, Detail: detail, Err: err}
	ended, watchers, cancel := l.ended, l.watchers, l.cancel
	l.watchers = nil
	l.disarm()
	l.alarm.Stop()
	close(l.done)
	l.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	for w := range watchers {
		w.cancel(ended)
	}
	if reason != ReasonReleased {
		l.report(ended)
	}
	return ended
}

// report tells the log and the tracer of a loss.
func (l *Lease) report(ended *EndedError) {
	attrs := []slog.Attr{slog.String("reason", string(ended.Reason)), slog.String("detail", ended.Detail), slog.Int64("token", l.token)}
	if ended.Err != nil {
		attrs = append(attrs, slog.Any("error", ended.Err))
	}
	l.t.log(l.origin, eventLeaseLost, l.name, attrs...)
	if l.t.cfg.tracer != nil {
		l.t.cfg.tracer.TraceLoss(l.origin, Loss{Lock: l.name, Table: l.t.table, Reason: ended.Reason})
	}
}

// Context returns a context that ends when parent does or when the lease ends,
// then with the lease's [EndedError] as its cause. It carries the lease for
// [ConditionCheckFromContext]. Give it to the work that the
// lock protects. Calling cancel frees what the context holds on to; the end of
// the lease does so too.
func (l *Lease) Context(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, stop := context.WithCancelCause(context.WithValue(parent, leaseKey{}, l))
	w := &watcher{cancel: stop}
	l.mu.Lock()
	ended := l.ended
	if ended == nil {
		if l.watchers == nil {
			l.watchers = map[*watcher]struct{}{}
		}
		l.watchers[w] = struct{}{}
	}
	l.mu.Unlock()
	if ended != nil {
		stop(ended)
		return ctx, func() {}
	}
	forget := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		delete(l.watchers, w)
		l.mu.Unlock()
	})
	return ctx, func() {
		if forget() {
			l.mu.Lock()
			delete(l.watchers, w)
			l.mu.Unlock()
		}
		stop(context.Canceled)
	}
}

// ConditionCheck returns the held check: an action for any TransactWriteItems of
// the same account and Region, which lets the transaction commit only while the
// lock item shows this owner and this token. It is what makes a write safe: the
// check happens when the transaction commits, not when it was sent. It is made
// from constants and works, by failing at DynamoDB, after the lease has ended.
//
// While such a transaction is under way, a renewal of the lease conflicts with it
// and is tried again a moment later: many goroutines that send checks all the time
// can keep a short lease from its renewals. Writes of [Lease.Write] cannot.
// [WhyCancelled] reads the errors.
func (l *Lease) ConditionCheck() types.TransactWriteItem {
	return l.t.conditionCheck(l.name, l.owner, l.token)
}

// enter takes the lane. It returns the ctx error when ctx ends first.
func (l *Lease) enter(ctx context.Context) error { return enter(ctx, l.lane) }

func (l *Lease) leave() { <-l.lane }

// enter takes a place that one can have at a time.
func enter(ctx context.Context, place chan struct{}) error {
	select {
	case place <- struct{}{}:
		return nil
	default:
	}
	select {
	case place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctxError(ctx)
	}
}
