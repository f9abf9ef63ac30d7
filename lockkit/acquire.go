package lockkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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

// TryAcquire tries once and never waits. A held lock is a [HeldError]. It takes
// over from a dead holder only when this LockTable has seen the same record
// version for a whole lease over earlier calls; a process that calls it once
// and ends never does, and wants [LockTable.Acquire].
func (t *LockTable) TryAcquire(ctx context.Context, name string, lease time.Duration, opts ...AcquireOption) (*Lease, error) {
	c, err := t.contender(name, lease, opts)
	if err != nil {
		return nil, err
	}
	l, held, err := c.tryOnce(ctx)
	if err != nil || l != nil {
		return l, c.wrap(ctx, err)
	}
	return nil, c.heldError(held, c.giveUpOnSchedule && onSchedule(held, t.clock.now()))
}

// Acquire waits until it has the lock or ctx ends, and then returns an error
// that matches the ctx error. ctx bounds the wait only: once Acquire has
// returned a lease, the end of ctx stops neither the lease nor its renewals.
// Failures that may pass are tried again a few times within about a second and
// then returned.
//
// A lease whose answer took longer than the lease itself is returned as one that
// has ended already; its Err says so.
func (t *LockTable) Acquire(ctx context.Context, name string, lease time.Duration, opts ...AcquireOption) (*Lease, error) {
	c, err := t.contender(name, lease, opts)
	if err != nil {
		return nil, err
	}
	l, err := c.wait(ctx)
	return l, c.wrap(ctx, err)
}

// contender is one acquire under way.
type contender struct {
	t           *LockTable
	name, owner string
	lease       time.Duration

	ext              Extension
	noTTL            bool
	giveUpAlive      bool
	giveUpOnSchedule bool

	sent     chain // every record version this acquire has sent
	requests *requests
	seen     Item        // newest item seen
	last     observation // newest holder seen
	over     observation // the holder that the newest write takes over from, if any
}

func (t *LockTable) contender(name string, lease time.Duration, opts []AcquireOption) (*contender, error) {
	if err := errors.Join(checkName(name), checkLease(name, lease)); err != nil {
		return nil, err
	}
	c := &contender{t: t, name: name, owner: rand.Text(), lease: lease, requests: new(requests)}
	for _, o := range opts {
		o(c)
	}
	return c, nil
}

// tryOnce sends at most one write that it expects to succeed. Where this
// LockTable knows the lock as held and not yet due, it reads instead, so that
// callers who come again and again cost no refused writes.
func (c *contender) tryOnce(ctx context.Context) (*Lease, record, error) {
	known, ok := c.t.memory.get(c.name)
	if ok && c.t.clock.now().mono.Before(known.due(c.t.cfg.takeoverDelay)) {
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
	r := newRhythm(c.t.cfg.interval)
	for refusals := 0; err == nil && l == nil; {
		if !rec.held() {
			// Lost a race for a lock that is free again, or a condition that nobody
			// explains: the write itself must decide, a few times.
			if refusals++; refusals > maxUnexplained {
				return nil, fmt.Errorf("the lock is free and DynamoDB refused the acquire %d times: the condition that the extension adds must be explained by its Refuse", refusals)
			}
			l, rec, err = c.write(ctx, observation{})
			continue
		}
		refusals = 0
		now := c.t.clock.now()
		alive := r.saw(rec, now)
		if c.giveUpAlive && alive || c.giveUpOnSchedule && onSchedule(rec, now) {
			return nil, c.heldError(rec, true)
		}
		// The takeover itself is as good a look as one just before it.
		due := c.last.due(c.t.cfg.takeoverDelay)
		if at := r.next(now); at.Before(due.Add(-rec.lease / 16)) {
			if !c.t.clock.sleep(ctx, at.Sub(now.mono)) {
				return nil, ctx.Err()
			}
			if l, rec, err = c.look(ctx); err == nil && l == nil && !rec.held() {
				l, rec, err = c.write(ctx, observation{})
			}
			continue
		}
		if !c.t.clock.sleep(ctx, due.Sub(now.mono)) {
			return nil, ctx.Err()
		}
		l, rec, err = c.write(ctx, c.last)
	}
	return l, err
}

const maxUnexplained = 5

// onSchedule is true for a holder whose newest write was sent less than half a
// lease ago by its own stamp and this process's wall clock.
func onSchedule(r record, now moment) bool {
	age := now.wall.Sub(r.at)
	return !r.at.IsZero() && age >= 0 && age < r.lease/2
}

// look reads the item and judges it.
func (c *contender) look(ctx context.Context) (*Lease, record, error) {
	item, err := c.t.read(ctx, c.name, c.bound(), c.requests)
	if err != nil {
		return nil, record{}, err
	}
	return c.judge(item)
}

// judge says what an item that this contender did not get means, in this order:
// its own earlier write, not a lock, refused by the extension, held, free.
func (c *contender) judge(item Item) (*Lease, record, error) {
	now := c.t.clock.now().mono
	c.seen = item
	rec, err := decode(item)
	if err != nil {
		return nil, record{}, &NotALockError{Lock: c.name, Table: c.t.table, Why: err.Error()}
	}
	if rec.held() && rec.owner == c.owner {
		if sent, ok := c.sent.sent(rec.version); ok {
			return c.won(rec.token, rec.version, sent, item), rec, nil
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
		return err
	})
	if err == nil {
		return c.applied(out.Attributes, version, sent)
	}
	item, brought, ok := refused(err)
	if !ok {
		return nil, record{}, err
	}
	if !brought {
		if item, err = c.t.read(ctx, c.name, c.bound(), c.requests); err != nil {
			return nil, record{}, err
		}
	}
	return c.judge(item)
}

// applied makes the lease of a write that DynamoDB confirmed; old is the item
// before it.
func (c *contender) applied(old Item, version string, sent moment) (*Lease, record, error) {
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
	return c.won(token, version, sent, old), record{}, nil
}

// base is the number that the first token of a new item is one above. It comes
// from the wall clock, so that tokens do not go back when the item was deleted.
func base(sent moment) int64 { return sent.wall.UnixMilli() }

// won starts the lease.
func (c *contender) won(token int64, version string, sent moment, item Item) *Lease {
	c.t.memory.forget(c.name)
	l := newLease(c, token, version, sent)
	if c.ext != nil {
		l.seen = item
		w := c.about(sent)
		w.Token = token
		c.ext.Wrote(w, item)
	}
	l.start()
	return l
}

func (c *contender) compose(version string, sent moment, over observation) (*dynamodb.UpdateItemInput, error) {
	t, b := c.t, newBody()
	b.assign("#lkt", AttrType, ":lkt", stringValue(typeLock))
	b.assign("#lko", AttrOwner, ":lko", stringValue(c.owner))
	b.assign("#lkv", AttrVersion, ":lkv", stringValue(version))
	b.assign("#lkl", AttrLease, ":lkl", numberValue(c.lease.Milliseconds()))
	b.assign("#lka", AttrAt, ":lka", stampValue(c.owner, sent.wall))
	b.name("#lkf", AttrFence)
	b.values[":lkb"], b.values[":lk1"] = numberValue(base(sent)), numberValue(1)
	b.setTo("#lkf", "if_not_exists(#lkf, :lkb) + :lk1")
	if t.cfg.label != "" {
		b.assign("#lkh", AttrHolder, ":lkh", stringValue(t.cfg.label))
	} else {
		b.drop("#lkh", AttrHolder)
	}
	b.drop("#lku", AttrUntil)
	if c.ext == nil {
		b.drop("#lkr", AttrRun) // it describes a holder who is gone
	}
	b.expire(t, sent.wall, c.noTTL)

	b.name("#lkp", t.cfg.partitionKey)
	b.values[":lkm"] = numberValue(math.MaxInt64)
	b.condition.WriteString("attribute_not_exists(#lkp) OR #lkt = :lkt AND (attribute_not_exists(#lkf) OR #lkf < :lkm) AND ")
	if over.owner == "" {
		b.condition.WriteString("attribute_not_exists(#lko)")
	} else {
		b.values[":lkso"], b.values[":lksv"] = stringValue(over.owner), stringValue(over.version)
		b.condition.WriteString("(attribute_not_exists(#lko) OR #lko = :lkso AND #lkv = :lksv)")
	}
	if err := b.extend(c.ext, c.about(sent)); err != nil {
		return nil, err
	}
	return b.input(t, c.name, types.ReturnValueAllOld), nil
}

func (c *contender) about(sent moment) Write {
	return Write{Verb: VerbAcquire, Lock: c.name, Owner: c.owner, Sent: sent.wall, Seen: c.seen, Requests: c.requests.count()}
}

// bound is how long one request of an acquire may take: short enough that a
// connection gone dead costs one quick retry and not the wait.
func (c *contender) bound() time.Duration { return min(c.lease/3, 3*time.Second) }

func (c *contender) heldError(r record, alive bool) *HeldError {
	return &HeldError{Lock: c.name, Table: c.t.table, Holder: r.holder, Token: r.token, Lease: r.lease, Alive: alive}
}

// refusal marks an extension's own error on its way out of an acquire.
type refusal struct{ error }

// wrap puts operation, lock and table before an error that does not name them,
// and the caller's own ctx error in the place of whatever its end caused.
func (c *contender) wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrHeld) || errors.Is(err, ErrNotALock) {
		return err
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return fmt.Errorf("lockkit: acquire %q in table %q: %w", c.name, c.t.table, r.error)
	}
	seen := ""
	if c.last.owner != "" {
		seen = fmt.Sprintf("; last seen held by %q with token %d, unchanged for %s of its lease of %s",
			c.last.holder, c.last.token, c.t.clock.now().mono.Sub(c.last.since).Round(time.Millisecond), c.last.lease)
	}
	if ctxErr := ctx.Err(); ctxErr != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, ctxErr) {
			return fmt.Errorf("lockkit: acquire %q in table %q: %w: %w%s", c.name, c.t.table, ctxErr, cause, seen)
		}
		return fmt.Errorf("lockkit: acquire %q in table %q: %w%s", c.name, c.t.table, ctxErr, seen)
	}
	if noTable(err) {
		return fmt.Errorf("lockkit: acquire %q: table %q does not exist in this account and Region: create it, or correct its name: %w", c.name, c.t.table, err)
	}
	return fmt.Errorf("lockkit: acquire %q in table %q: %w", c.name, c.t.table, err)
}
