package singleton

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// Gap is a time that no run covers: the last completed tick lies further back
// than the job's CatchUp.
type Gap struct {
	From time.Time `json:"from"` // the last completed tick
	To   time.Time `json:"to"`   // where the run's interval begins
}

func (g *Gap) attr() slog.Attr {
	return slog.Group("gap", slog.Time("from", g.From), slog.Time("to", g.To))
}

// interval is what a run is to cover, and what it may leave on the item.
type interval struct {
	tick, since time.Time // zero: no tick; since may be unknown
	gap         *Gap
	cursor      wire.Cursor
	rerun       bool // forced, of a tick that is done
	keeps       bool // the run may change the item's cursor
}

// cover works out a run's interval from the item that its acquire found, for a run
// that began at the given time. The spec has its defaults.
func cover(tick events.Tick, item lockkit.Item, spec job.Spec, began time.Time) (interval, error) {
	if tick.Time.IsZero() {
		return interval{}, nil
	}
	done, err := doneTick(item)
	if err != nil && !tick.Force { // which replaces it
		return interval{}, err
	}
	found, err := wire.ReadCursor(item)
	if err != nil {
		return interval{}, fmt.Errorf("singleton: %w", err)
	}
	live := found.Data != "" && found.Tick.After(done) // of a tick that is not completed
	c := interval{tick: tick.Time, keeps: true}
	if tick.Force && !done.Before(tick.Time) {
		c.rerun, c.keeps = true, !live
		if found.Tick.Equal(tick.Time) {
			c.cursor = found
		}
		// What the tick covered when it was run first is not known any more.
		if spec.ExpectedInterval > 0 {
			c.since = tick.Time.Add(-spec.ExpectedInterval)
		}
		return c, nil
	}
	if spec.Policy == job.Queue && !tick.Force {
		pending, err := pendingTick(item, time.Now())
		if err != nil {
			return interval{}, err
		}
		if pending.After(c.tick) && !tooOld(pending, spec.MaxAge, began) {
			c.tick = pending
		}
	}
	if live {
		if err := checkAhead(lockkit.AttrCursor, found.Tick, time.Now(), "correct its tick, or remove the attribute to forget how far the job had come"); err != nil {
			return interval{}, err
		}
		c.cursor = found
		// A newer tick was begun: its pages are written, so it is that interval
		// that must be finished, and it covers this tick as well.
		if found.Tick.After(c.tick) {
			c.tick = found.Tick
		}
	}
	c.since = done
	if spec.CatchUp > 0 {
		first := c.tick.Add(-spec.CatchUp)
		switch {
		case done.IsZero():
			c.since = first
		case done.Before(first):
			c.since, c.gap = first, &Gap{From: done, To: first}
		}
	}
	return c, nil
}
