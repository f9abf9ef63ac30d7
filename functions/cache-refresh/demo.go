package main

import (
	"context"

	"github.com/solotick/solotick/functions/internal/demo"
)

// demonstrate changes the refresher as the demonstration's switches want it.
func demonstrate(switches *demo.Switches, r *refresher) {
	if switches.Pause > 0 {
		r.target = slow{target: r.target, work: func(ctx context.Context, on string) { switches.Work(ctx, r.logger, on) }}
	}
}

// slow does something with a document before it is put.
type slow struct {
	target
	work func(ctx context.Context, on string)
}

func (s slow) put(ctx context.Context, d document, token int64) error {
	s.work(ctx, d.etag)
	return s.target.put(ctx, d, token)
}
