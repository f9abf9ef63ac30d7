package singleton

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// queue leaves the tick on the item for the holder and then watches it as
// skipWhenAlive does: alive, the tick is the holder's to run; silent, the holder
// is taken over. What the holder does about it is in takeon.go. A holder that would
// not look for the tick (another client, a run under another policy) is only
// watched: the tick is skipped, and not called queued.
type queue struct {
	skipWhenAlive
	a     *attempt
	left  string    // owner id of the holder that was last asked
	waits bool      // this tick, or a newer one, waits on the item
	done  time.Time // the last completed tick, where this one is not after it
}

func (p *queue) looks(ctx context.Context, s lockkit.Sighting) bool {
	alive := p.skipWhenAlive.looks(ctx, s)
	if p.tick.Time.IsZero() || p.tick.Force {
		return alive // there is no tick that another run could do
	}
	if done, err := doneTick(s.Item); err == nil && !done.Before(p.tick.Time) {
		p.done = done // a delivery that came for the tick that waits
		return alive
	}
	if _, ours := holderRun(s); !ours || !wire.IsQueueing(s.Item[lockkit.AttrRun]) {
		p.waits = false // whatever was left to a holder before
		return alive
	}
	if s.Owner != p.left {
		p.leave(ctx, s)
	}
	return alive
}

// leave puts the tick on the item, for the holder that was seen: on condition
// that it still holds, and has not this tick or a newer one in hand already.
func (p *queue) leave(ctx context.Context, s lockkit.Sighting) {
	refused, err := p.a.ask(ctx, s, lockkit.Addition{
		Condition: "(attribute_not_exists(#pending) OR #pending < :tick) AND (attribute_not_exists(#tick) OR #tick < :tick) AND " +
			"(attribute_not_exists(#run.#t) OR #run.#owner <> :owner OR #run.#t < :tick)",
		Set:    []string{"#pending = :tick"},
		Names:  map[string]string{"#pending": lockkit.AttrPending, "#tick": lockkit.AttrTick, "#run": lockkit.AttrRun, "#t": wire.KeyRunTick},
		Values: map[string]types.AttributeValue{":tick": wire.Number(p.tick.Time.UnixMilli())},
	})
	if err != nil {
		return // the next look tries again
	}
	if refused == nil {
		p.left, p.waits = s.Owner, true
		return
	}
	p.waits = false
	if owner, _ := refused[lockkit.AttrOwner].(*types.AttributeValueMemberS); owner == nil || owner.Value != s.Owner {
		return // another holder, or none: the next look decides anew
	}
	p.left = s.Owner
	// A tick stays on the item while it is run.
	pending, err := pendingTick(refused, time.Now())
	run, ours := wire.ReadRecord(refused[lockkit.AttrRun])
	inHand := ours && run.Owner == s.Owner && !run.Tick.Before(p.tick.Time)
	p.waits = err == nil && !pending.Before(p.tick.Time) && !inHand
}

func (p *queue) without() Outcome {
	switch {
	case p.alive && !p.done.IsZero():
		p.a.res.DoneTick = p.done
		return (&doneError{tick: p.tick.Time, done: p.done}).outcome()
	case p.alive && p.waits && !p.same:
		return Queued
	default:
		return p.skipWhenAlive.without()
	}
}

// pendingTick reads the tick that waits on an item; zero when there is none. It
// may be one that is done, where whoever completed it did not come to remove it:
// callers compare it with the last completed tick, or with one that is newer.
func pendingTick(item lockkit.Item, now time.Time) (time.Time, error) {
	at, err := wire.PendingTick(item)
	if err != nil {
		return time.Time{}, fmt.Errorf("singleton: %w", err)
	}
	return at, checkAhead(lockkit.AttrPending, at, now, "correct it, or remove it to forget the tick that waits")
}

// checkAhead refuses a tick on the item that lies too far ahead to be run, by the
// rule for ticks that are delivered: completed, it would make every tick before it
// look done.
func checkAhead(attr string, tick, now time.Time, way string) error {
	if tick.Sub(now) <= events.MaxAhead {
		return nil
	}
	return fmt.Errorf("singleton: attribute %s of the lock's item has tick %s, expected one at most %s after now, because completing a later one would make every tick before it look done: %s",
		attr, tick.Format(time.RFC3339Nano), events.MaxAhead, way)
}

// tooOld reports whether a tick that waits is past the job's age limit, so that a
// run that begins then does not run it.
func tooOld(tick time.Time, limit time.Duration, begins time.Time) bool {
	return limit > 0 && begins.Sub(tick) > limit
}

// newest is the tick that a run covers under this policy: its own, or a newer one
// that waits on the item and is not too old.
func (e *extension) newest(item lockkit.Item) (time.Time, error) {
	if !e.queues || !e.once() {
		return e.tick.Time, nil
	}
	pending, err := pendingTick(item, time.Now())
	if err == nil && pending.After(e.tick.Time) && !tooOld(pending, e.maxAge, e.began) {
		return pending, nil
	}
	return e.tick.Time, err
}
