package singleton

import (
	"context"

	"github.com/solotick/solotick/lockkit"
)

// skipAtOnce does not watch a holder whose newest write is young by its own time
// stamp. That proves nothing: the holder may have died since. So whatever may be
// the only retry of a crashed run watches as skipWhenAlive does, or nobody would
// take the lock over before the next tick. Lambda's retries repeat the event as
// it was, so a retry shows by its tick, which is the one that the item says is
// being run; Scheduler's show by their count.
type skipAtOnce struct {
	skipWhenAlive
	onSchedule bool // gave up on a young stamp
}

func (p *skipAtOnce) looks(ctx context.Context, s lockkit.Sighting) bool {
	if p.skipWhenAlive.looks(ctx, s) {
		return true
	}
	p.onSchedule = s.OnSchedule && !p.same && p.tick.Attempt <= 1
	return p.onSchedule
}

func (p *skipAtOnce) without() Outcome {
	if p.onSchedule {
		return Skipped
	}
	return p.skipWhenAlive.without()
}
