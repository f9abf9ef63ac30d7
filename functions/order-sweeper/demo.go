package main

import (
	"context"

	"github.com/solotick/solotick/functions/internal/demo"
)

// demonstrate changes the sweeper as the demonstration's switches want it.
func demonstrate(switches *demo.Switches, s *sweeper) {
	work := func(ctx context.Context, o order) { switches.Work(ctx, s.logger, o.id) }
	switch {
	case switches.Unfenced:
		s.closer = plain{table: s.table, work: work}
	case switches.Pause > 0:
		s.closer = slow{closer: s.closer, work: work}
	}
}

// slow does something before it closes an order.
type slow struct {
	closer closer
	work   func(context.Context, order)
}

func (s slow) close(ctx context.Context, h holder, o order) error {
	s.work(ctx, o)
	return s.closer.close(ctx, h, o)
}
