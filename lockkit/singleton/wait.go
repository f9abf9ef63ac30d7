package singleton

import (
	"context"

	"github.com/solotick/solotick/lockkit"
)

// wait never gives up on a holder: it contends for as long as enough time is left
// for the work. Whether the holder lives matters only at the end, to tell
// "somebody works" from "nobody does".
type wait struct{ skipWhenAlive }

func (p *wait) looks(ctx context.Context, s lockkit.Sighting) bool {
	p.skipWhenAlive.looks(ctx, s)
	return false
}

func (p *wait) patient() bool { return true }
