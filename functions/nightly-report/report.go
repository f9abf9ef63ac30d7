package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
)

// pageSize is how many orders one page has at most. A page costs a query and a
// checkpoint.
const pageSize = 500

// pageTime is far more than a page takes. With less left, the rest is the next
// run's.
const pageTime = 5 * time.Second

// reporter makes the report of a tick.
type reporter struct {
	orders  pages
	reports archive
	logger  *slog.Logger
}

// pages reads the orders in the order in which they were placed.
type pages interface {
	// after reads the next page behind a place, of orders placed until a time.
	after(ctx context.Context, p place, until time.Time) (page, error)
}

// The counts of a run's result.
const (
	countOrders = "orders" // in the report so far, with those of earlier runs
	countPages  = "pages"  // that this run read
)

// errNoTick refuses a run that does not know what to report on.
var errNoTick = errors.New(`a report is about the time between two ticks, and this run has none: invoke the function with the tick whose report it is to make, such as {"tick": "2026-12-01T02:00:00Z"}`)

// work sums up the orders page by page. Each page's place and sums are stored
// before the next page is read, so that a run which dies, or whose time is over,
// costs one page: the next run goes on behind the last. The report and "this
// tick is done" are one transaction.
func (r *reporter) work(ctx context.Context, run *singleton.Run) error {
	if run.Tick.IsZero() || run.Since.IsZero() {
		return errNoTick
	}
	sums, err := r.begin(ctx, run)
	if err != nil {
		return err
	}
	until := run.Tick.Add(-orders.SettleTime)
	r.logger.LogAttrs(ctx, slog.LevelDebug, "report started", slog.Int64("token", run.Token()), slog.Int64("orders", sums.Orders))
	run.Count(countOrders, int(sums.Orders))
	for {
		page, err := r.orders.after(ctx, sums.Place, until)
		if err != nil {
			return err
		}
		sums = sums.plus(page)
		run.Count(countOrders, int(page.orders))
		run.Count(countPages, 1)
		if page.last {
			return run.Commit(ctx, r.reports.put(sums.report(run, until)))
		}
		if page.orders == 0 {
			continue // a day without orders is not worth a transaction
		}
		if err := run.Checkpoint(ctx, sums.cursor()); err != nil {
			return err
		}
		r.logger.LogAttrs(ctx, slog.LevelDebug, "page counted", slog.Int64("token", run.Token()), slog.Int64("orders", sums.Orders))
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pageTime {
			return run.Yield()
		}
	}
}

// begin returns the sums so far: those of a run before that did not come to its
// end, or none. A tick that is done is run again by force only; it gets the
// interval of its first report.
func (r *reporter) begin(ctx context.Context, run *singleton.Run) (sums, error) {
	if run.Cursor != "" {
		return readCursor(run.Cursor)
	}
	first, found, err := r.reports.find(ctx, run.Tick)
	if err != nil || found {
		return from(first.After), err
	}
	return from(run.Since.Add(-orders.SettleTime)), nil
}
