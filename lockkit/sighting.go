package lockkit

import (
	"context"
	"time"
)

// Sighting is what one look of an Acquire showed of a lock that somebody else
// holds; the refused write that a wait begins with is a look too.
type Sighting struct {
	Item   Item          // as DynamoDB returned it
	Owner  string        // the holder's owner id
	Holder string        // its label, "" without one
	Token  int64         // its fencing token
	Lease  time.Duration // its lease, as it stands on the item
	// Alive: the record version is not that of the look before in this Acquire,
	// so somebody has written meanwhile as the holder.
	Alive bool
	// OnSchedule: the holder's newest write is young enough by the rule of
	// [GiveUpOnSchedule]. It compares two wall clocks, and so proves nothing.
	OnSchedule bool
}

// OnHeld has judge called at each look of Acquire that shows the lock as held by
// somebody else, and makes Acquire give up, with a [HeldError], when it returns
// true. It is for runners that decide by what is on the item; GiveUpWhenAlive and
// GiveUpOnSchedule are the two decisions that need nothing else.
//
// judge is called on the goroutine of Acquire and with its ctx, which it should
// obey. It may take its time and send requests: that delays the next look, and
// never shortens what a takeover has to wait. It must not acquire the same lock.
// It changes nothing for TryAcquire.
func OnHeld(judge func(ctx context.Context, s Sighting) (giveUp bool)) AcquireOption {
	return func(c *contender) { c.onHeld = judge }
}

func (c *contender) sighting(rec record, alive bool, now moment) Sighting {
	return Sighting{
		Item: c.seen, Owner: rec.owner, Holder: rec.holder, Token: rec.token, Lease: rec.lease,
		Alive: alive, OnSchedule: onSchedule(rec, now),
	}
}
