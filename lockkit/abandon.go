package lockkit

import (
	"context"
	"time"
)

// abandonBound is how long an acquire that its caller cancelled still takes to
// give back what it may have got.
const abandonBound = 75 * time.Millisecond

// abandon frees the lock if the acquire that was cut off did land, once and
// without its caller's ctx, so that nobody waits out a lease that nobody has.
// It is all this process can do: a write that is still on its way lands later
// and holds a free lock for one lease.
func (c *contender) abandon(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	b := newBody()
	b.name("#lko", AttrOwner)
	b.values[":lko"] = stringValue(c.owner)
	b.condition.WriteString("#lko = :lko")
	b.expire(c.t, c.t.clock.now().wall, c.noTTL)
	b.vacate()
	b.drop("#lkr", AttrRun)
	in := b.input(c.t, c.name, "")
	in.ReturnValuesOnConditionCheckFailure = ""
	_, _ = c.t.update(ctx, in, abandonBound, c.requests)
}

// vacate removes what describes a holder.
func (b *body) vacate() {
	b.drop("#lko", AttrOwner)
	b.drop("#lkl", AttrLease)
	b.drop("#lkh", AttrHolder)
	b.drop("#lka", AttrAt)
	b.drop("#lku", AttrUntil)
}
