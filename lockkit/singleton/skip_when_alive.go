package singleton

import (
	"context"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
)

// skipWhenAlive watches the holder and gives up once it has seen a sign of life:
// a write as the holder between two looks. The other policies build on it.
type skipWhenAlive struct {
	tick  events.Tick
	alive bool // the holder, or one before it, was seen to write
	same  bool // the holder of the newest look runs this very tick
}

func (p *skipWhenAlive) looks(_ context.Context, s lockkit.Sighting) bool {
	p.alive = p.alive || s.Alive
	p.same = runs(s, p.tick.Time)
	return s.Alive
}

func (p *skipWhenAlive) patient() bool { return false }

func (p *skipWhenAlive) without() Outcome {
	switch {
	case !p.alive:
		return ""
	case p.same:
		return Duplicate
	default:
		return Skipped
	}
}

func (p *skipWhenAlive) why() error { return nil }
