package lockkit

import (
	"context"
	"time"
)

// abandonBound is how long an acquire that was cancelled, or failed for want of an
// answer, still takes to give back what it may have got.
const abandonBound = 75 * time.Millisecond

// abandon frees the lock if the acquire that was cut off did land, once and
// without its caller's ctx, so that nobody waits out a lease that nobody has.
// It is all this process can do: a write that is still on its way lands later
// and holds a free lock for one lease.
func (c *contender) abandon(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	values := Item{":lko": stringValue(c.owner)}
	c.t.expiry(values, c.t.clock.now().wall, c.noTTL)
	in := c.t.form(shape{noTTL: c.noTTL}).input(c.t, c.name, values, "")
	in.ReturnValuesOnConditionCheckFailure = ""
	_, _ = c.t.update(ctx, in, abandonBound, c.requests)
}

func (w *words) abandon(c *config, s shape) {
	w.vacate()
	w.condition.WriteString("#lko = :lko")
	w.expire(c, s.noTTL)
	w.drop("#lkr", AttrRun)
}
