package singleton

import (
	"context"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// policy is what one run does about a holder that is in its way. Its methods are
// called on the goroutine that contends, and a policy serves one run.
type policy interface {
	// looks judges a look that showed the lock as held, and says whether to give
	// up on the holder.
	looks(ctx context.Context, s lockkit.Sighting) (giveUp bool)
	// patient reports whether the run contends until too little time is left for
	// the work, and not just until the holder's lease has passed.
	patient() bool
	// without names the outcome of a run that has given up, or whose time to
	// contend is over. "": nothing has proved that anybody works.
	without() Outcome
	// why says what an outcome that is an error comes from.
	why() error
}

// policy returns the job's own.
func (a *attempt) policy() policy {
	watch := skipWhenAlive{tick: a.tick}
	switch a.spec.Policy {
	case job.SkipAtOnce:
		return &skipAtOnce{skipWhenAlive: watch}
	case job.Wait:
		return &wait{skipWhenAlive: watch}
	case job.Queue:
		return &queue{skipWhenAlive: watch, a: a}
	case job.Supersede:
		return &supersede{skipWhenAlive: watch, a: a}
	default:
		return &watch
	}
}

// holderRun returns the record of the run that holds the lock. ok is false for a
// holder that is no run of this package: it leaves another's record in place. The
// record is then the zero one.
func holderRun(s lockkit.Sighting) (r wire.Record, ok bool) {
	r, ok = wire.ReadRecord(s.Item[lockkit.AttrRun])
	if !ok || r.Owner != s.Owner {
		return wire.Record{}, false
	}
	return r, true
}

// runs reports whether the holder's run is for this very tick.
func runs(s lockkit.Sighting, tick time.Time) bool {
	run, ok := holderRun(s)
	return ok && !tick.IsZero() && run.Tick.Equal(tick)
}
