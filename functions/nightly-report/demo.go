package main

import (
	"context"
	"fmt"
	"time"

	"github.com/solotick/solotick/functions/internal/demo"
)

// demonstrate changes the reporter as the demonstration's switches want it.
func demonstrate(switches *demo.Switches, r *reporter) {
	if days, ok := r.orders.(byDay); ok && switches.Page > 0 {
		days.pageSize = switches.Page
		r.orders = days
	}
	if switches.Pause > 0 {
		r.orders = slow{pages: r.orders, work: func(ctx context.Context, on string) { switches.Work(ctx, r.logger, on) }}
	}
}

// slow does something with each page that has orders.
type slow struct {
	pages pages
	work  func(ctx context.Context, on string)
}

func (s slow) after(ctx context.Context, p place, until time.Time) (page, error) {
	read, err := s.pages.after(ctx, p, until)
	if err == nil && read.orders > 0 {
		s.work(ctx, fmt.Sprintf("%d orders", read.orders))
	}
	return read, err
}
