package lockkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// contender is one acquire under way.
type contender struct {
	t           *LockTable
	name, owner string
	lease       time.Duration

	ext              Extension
	noTTL            bool
	until            time.Time
	answered         func() // called at each answer of DynamoDB; nil: nobody asks
	keepTrying       bool
	giveUpAlive      bool
	giveUpOnSchedule bool
	onHeld           func(context.Context, Sighting) bool // nil: nobody asks

	sent     chain         // every record version this acquire has sent
	unsure   bool          // a write had no answer, and nothing seen since tells what became of it
	failed   error         // the newest failure of a request, unless one was answered since
	requests *atomic.Int64 // of CountRequests; nil: nobody counts
	seen     Item          // newest item seen
	last     observation   // newest holder seen
	over     observation   // the holder that the newest write takes over from, if any
}

func (t *LockTable) contender(name string, lease time.Duration, opts []AcquireOption) (*contender, error) {
	if err := errors.Join(checkName(name), checkLease(name, lease)); err != nil {
		return nil, err
	}
	c := &contender{t: t, name: name, owner: rand.Text(), lease: lease}
	for _, o := range opts {
		o(c)
	}
	if c.until.IsZero() {
		return c, nil
	}
	if left := c.until.Sub(t.clock.now().wall); left < lease {
		return nil, fmt.Errorf("lockkit: acquire %q: this process is to be gone at %s, in %s: expected at least one lease, %s", name, c.until.Format(time.RFC3339Nano), left, lease)
	}
	return c, nil
}

// tryOnce sends at most one write that it expects to succeed. Where this
// LockTable knows the lock as held and not yet due, it reads instead, so that
// callers who come again and again cost no refused writes.
func (c *contender) tryOnce(ctx context.Context) (*Lease, record, error) {
	known, ok := c.t.memory.get(c.name)
	if ok && c.t.clock.now().mono.Before(c.due(known)) {
		l, rec, err := c.look(ctx)
		if err != nil || l != nil || rec.held() {
			return l, rec, err
		}
	}
	return c.write(ctx, known)
}

// wait looks and writes until the lock is this contender's, its holder proves
// alive to one who gives up then, or ctx ends.
func (c *contender) wait(ctx context.Context) (*Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, rec, err := c.tryOnce(ctx)
	var r *rhythm // made once there is somebody to wait for
	for refusals := 0; l == nil; {
		if err != nil {
			if !c.keepTrying || !IsTransient(err) || !c.t.clock.sleep(ctx, min(c.lease/3, time.Second)) {
				return nil, err
			}
			l, rec, err = c.lookAgain(ctx)
			continue
		}
		if !rec.held() {
			l, rec, err = c.writeAgain(ctx, &refusals)
			continue
		}
		refusals = 0
		now := c.t.clock.now()
		if r == nil {
			r = newRhythm(c.t.cfg.interval, c.t.clock.random)
		}
		alive := r.saw(rec, now)
		if c.giveUpAlive && alive || c.giveUpOnSchedule && onSchedule(rec, now) {
			return nil, c.heldError(rec, true)
		}
		if c.onHeld != nil {
			s := c.sighting(rec, alive, now)
			if c.onHeld(ctx, s) {
				return nil, c.heldError(rec, s.Alive || s.OnSchedule)
			}
			now = c.t.clock.now() // it may have taken its time
		}
		// The takeover itself is as good a look as one just before it.
		due := c.due(c.last)
		if at := r.next(now); at.Before(due.Add(-rec.lease / 6)) {
			if !c.t.clock.sleep(ctx, at.Sub(now.mono)) {
				return nil, ctx.Err()
			}
			l, rec, err = c.lookAgain(ctx)
			continue
		}
		if !c.t.clock.sleep(ctx, due.Sub(now.mono)) {
			return nil, ctx.Err()
		}
		l, rec, err = c.write(ctx, c.last)
	}
	return l, err
}

// lookAgain looks, and takes a lock that reads free.
func (c *contender) lookAgain(ctx context.Context) (*Lease, record, error) {
	l, rec, err := c.look(ctx)
	if err != nil || l != nil || rec.held() {
		return l, rec, err
	}
	return c.write(ctx, observation{})
}

const maxUnexplained = 5

// writeAgain is for a write that was refused although the lock reads free: a race
// was lost for a lock that is free again, or nobody explains a condition. The
// write itself must decide, a few times.
func (c *contender) writeAgain(ctx context.Context, refusals *int) (*Lease, record, error) {
	if *refusals++; *refusals > maxUnexplained {
		return nil, record{}, fmt.Errorf("the lock is free and DynamoDB refused the acquire %d times: the condition that the extension adds must be explained by its Refuse", *refusals)
	}
	return c.write(ctx, observation{})
}

// onSchedule is true for a holder whose newest write was sent less than half a
// lease ago by its own stamp and this process's wall clock.
func onSchedule(r record, now moment) bool {
	age := now.wall.Sub(r.at)
	return !r.at.IsZero() && age >= 0 && age < r.lease/2
}

// due says when a lock may be taken over from a holder seen: after a whole lease
// without a change, or, where wall clocks may be compared, once the holder is
// certainly gone.
func (c *contender) due(o observation) time.Time {
	due := o.since.Add(o.lease).Add(c.t.cfg.takeoverDelay)
	if c.t.cfg.bounded && !o.until.IsZero() {
		now := c.t.clock.now()
		if gone := now.mono.Add(o.until.Add(c.t.cfg.skew).Sub(now.wall) + time.Millisecond); gone.Before(due) {
			return gone
		}
	}
	return due
}

// look reads the item and judges it.
func (c *contender) look(ctx context.Context) (*Lease, record, error) {
	item, err := c.read(ctx)
	if err != nil {
		return nil, record{}, err
	}
	return c.judge(ctx, item)
}

// read reads the item, a few times where that fails.
func (c *contender) read(ctx context.Context) (item Item, err error) {
	err = c.t.again(ctx, func() error {
		item, err = c.t.readOnce(ctx, c.name, c.bound(), c.requests)
		c.note(ctx, err)
		return err
	})
	return item, err
}

// judge says what an item that this contender did not get means, in this order:
// its own earlier write, not a lock, refused by the extension, held, free.
func (c *contender) judge(ctx context.Context, item Item) (*Lease, record, error) {
	now := c.t.clock.now().mono
	if c.answered != nil {
		c.answered()
	}
	c.seen, c.unsure, c.failed = item, false, nil
	rec, err := decode(item)
	if err != nil {
		return nil, record{}, &NotALockError{Lock: c.name, Table: c.t.table, Why: err.Error()}
	}
	if rec.held() && rec.owner == c.owner {
		if sent, ok := c.sent.sent(rec.version); ok {
			if c.over.token+1 != rec.token {
				c.over = observation{} // the holder it was to be taken from had gone, and others since
			}
			return c.won(ctx, rec.token, rec.version, sent, item), rec, nil
		}
	}
	if rec.token == math.MaxInt64 {
		return nil, record{}, fmt.Errorf("fencing token %d cannot be raised: use a new lock name, and reset what compares tokens", rec.token)
	}
	if c.ext != nil {
		if err := c.ext.Refuse(c.about(moment{}), item); err != nil {
			return nil, record{}, &refusal{err}
		}
	}
	if rec.held() {
		c.last = c.t.memory.see(c.name, rec, now)
	} else {
		c.t.memory.forget(c.name)
	}
	return nil, rec, nil
}

// write sends the acquire: for a free lock, and for the holder given, if any,
// as it was seen. Refused, it judges the item that the refusal brought.
func (c *contender) write(ctx context.Context, over observation) (*Lease, record, error) {
	version, sent := rand.Text(), c.t.clock.now()
	in, err := c.compose(version, sent, over)
	if err != nil {
		return nil, record{}, err
	}
	c.sent.add(version, sent)
	c.over = over
	var out *dynamodb.UpdateItemOutput
	err = c.t.again(ctx, func() error {
		var err error
		out, err = c.t.update(ctx, in, c.bound(), c.requests)
		c.unsure = c.unsure || ctx.Err() != nil || mayHaveLanded(err)
		c.note(ctx, err)
		return err
	})
	if err == nil {
		return c.applied(ctx, out.Attributes, version, sent)
	}
	item, brought, ok := refused(err)
	if !ok {
		return nil, record{}, err
	}
	if !brought {
		if item, err = c.read(ctx); err != nil {
			return nil, record{}, err
		}
	}
	return c.judge(ctx, item)
}

// applied makes the lease of a write that DynamoDB confirmed; old is the item
// before it.
func (c *contender) applied(ctx context.Context, old Item, version string, sent moment) (*Lease, record, error) {
	if c.answered != nil {
		c.answered()
	}
	token := base(sent) + 1
	if v, ok := old[AttrFence]; ok {
		n, err := integer(v)
		if err != nil {
			return nil, record{}, &NotALockError{Lock: c.name, Table: c.t.table, Why: "attribute " + AttrFence + " is " + show(v)}
		}
		token = n + 1
	}
	c.over = observation{}
	if rec, err := decode(old); err == nil && rec.held() {
		c.over = observation{owner: rec.owner, holder: rec.holder, token: rec.token, lease: rec.lease}
	}
	return c.won(ctx, token, version, sent, old), record{}, nil
}

// won starts the lease.
func (c *contender) won(ctx context.Context, token int64, version string, sent moment, item Item) *Lease {
	c.t.memory.forget(c.name)
	l := newLease(c, token, version, sent)
	if c.ext != nil {
		l.seen = item
		w := c.about(sent)
		w.Token = token
		c.ext.Wrote(w, item)
	}
	l.start(ctx)
	return l
}

func (c *contender) about(sent moment) Write {
	return Write{Verb: VerbAcquire, Lock: c.name, Owner: c.owner, Sent: sent.wall, Seen: c.seen}
}

// bound is how long one request of an acquire may take: short enough that a
// connection gone dead costs one quick retry and not the wait.
func (c *contender) bound() time.Duration { return min(c.lease/3, 3*time.Second) }
