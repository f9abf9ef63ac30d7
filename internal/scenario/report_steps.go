package scenario

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
)

// salesOnPage is what a page has at most, few enough for several pages.
const salesOnPage = 4

// reporting is the act of nightly-report: what befalls a job that goes through
// pages and commits its result at the end.
type reporting struct {
	*act
	sales []sale
}

// sale is an order that the reports are about. No two sums of totals are equal, so
// that a report's total tells which orders are in it.
type sale struct {
	id    string
	at    time.Time
	total int64
}

func (r *reporting) environment() map[string]string {
	return map[string]string{
		"SOLOTICK_ORDERS_TABLE":  r.tables.sales,
		"SOLOTICK_REPORTS_TABLE": r.tables.reports,
		"SOLOTICK_DEMO_PAGE":     strconv.Itoa(salesOnPage),
	}
}

func (r *reporting) steps() []step {
	return []step{
		{"two normal ticks", r.twoTicks},
		{"kill -9 between two pages, and Lambda's retry", r.retried},
		{"kill -9 between two pages, and the next tick", r.continued},
	}
}

func (r *reporting) twoTicks(ctx context.Context) error {
	for tick := 1; tick <= 2; tick++ {
		if err := r.sell(ctx, tick, 3); err != nil {
			return err
		}
		if err := r.normal(ctx, tick, "a normal run"); err != nil {
			return err
		}
	}
	return nil
}

func (r *reporting) retried(ctx context.Context) error {
	if err := r.sell(ctx, 3, 2*salesOnPage+2); err != nil {
		return err
	}
	victim, err := r.deliverOne(3)
	if err != nil {
		return err
	}
	if err := r.kill(ctx, victim, 2); err != nil {
		return err
	}
	retry := attempt{victim, 2}
	r.expect("Lambda's retry, which takes over", retry, singleton.Completed).takeover = true
	return r.ended(ctx, retry)
}

func (r *reporting) continued(ctx context.Context) error {
	if err := r.sell(ctx, 4, 2*salesOnPage+2); err != nil {
		return err
	}
	if err := r.sell(ctx, 5, 3); err != nil {
		return err
	}
	victim, err := r.deliverOne(4)
	if err != nil {
		return err
	}
	if err := r.kill(ctx, victim, 2); err != nil {
		return err
	}
	next, err := r.deliverOne(5)
	if err != nil {
		return err
	}
	r.expect("the next tick, which takes over", first(next), singleton.Completed).takeover = true
	// On a loaded machine the retry may come while the successor still works.
	retry := attempt{victim, 2}
	r.expect("Lambda's retry of the killed run", retry, singleton.Superseded, singleton.Skipped)
	return r.ended(ctx, first(next), retry)
}

// sell puts orders into the table that belong into the report of a tick.
func (r *reporting) sell(ctx context.Context, tick, n int) error {
	for i := range n {
		s := sale{
			id: fmt.Sprintf("sale-%d%c", tick, 'a'+i), total: 1 << len(r.sales),
			at: r.ticks[tick-1].Add(-orders.SettleTime - time.Duration(i)*10*time.Second),
		}
		if err := r.putOrder(ctx, r.tables.sales, s.id, s.at, s.total); err != nil {
			return err
		}
		r.sales = append(r.sales, s)
	}
	r.note("placed %d orders for the report of T%d", n, tick)
	return nil
}
