package scenario

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
)

// reportedEvidence is what the verdict on nightly-report is made from.
type reportedEvidence struct {
	evidence
	sales   []sale
	reports []orders.Report // by their ends
}

func (r *reporting) gather(ctx context.Context, common evidence) (testimony, error) {
	e := reportedEvidence{evidence: common, sales: r.sales}
	err := r.scan(ctx, r.tables.reports, func(item map[string]types.AttributeValue) error {
		report, err := orders.ReadReport(item)
		e.reports = append(e.reports, report)
		return err
	})
	slices.SortFunc(e.reports, func(a, b orders.Report) int { return a.UpTo.Compare(b.UpTo) })
	return e, err
}

func (e reportedEvidence) judge() []string {
	return e.evidence.judge(e.checkReports, func(fault report) {
		e.checkAllReported(fault)
		e.checkContinued(fault)
	})
}

// checkReports: a report has the orders of its time, each once, and was written by
// a run that is known; the next begins where it ends.
func (e reportedEvidence) checkReports(fault report) {
	for i, r := range e.reports {
		var n, total int64
		for _, s := range e.sales {
			if s.at.After(r.After) && !s.at.After(r.UpTo) {
				n, total = n+1, total+s.total
			}
		}
		if r.Orders != n || r.Total != total {
			fault("the report of %s says %d orders of %d cents, and there are %d of %d", clock(r.Tick), r.Orders, r.Total, n, total)
		}
		if e.runOf(r.Token) == "" {
			fault("the report of %s was written by token %d, which no run had", clock(r.Tick), r.Token)
		}
		if i > 0 && !r.After.Equal(e.reports[i-1].UpTo) {
			fault("the report of %s begins after %s, and the one before ends at %s", clock(r.Tick), clock(r.After), clock(e.reports[i-1].UpTo))
		}
	}
}

// checkAllReported: each tick that was completed has its report, and each order is
// in one.
func (e reportedEvidence) checkAllReported(fault report) {
	for _, d := range e.deliveries {
		if d.outcome() == string(singleton.Completed) && !slices.ContainsFunc(e.reports, func(r orders.Report) bool { return r.Tick.Equal(d.tick) }) {
			fault("%s was completed and has no report", d.name)
		}
	}
	for _, s := range e.sales {
		if e.reported(s) != 1 {
			fault("%s is in %d reports", s.id, e.reported(s))
		}
	}
}

// reported counts the reports that an order belongs into.
func (e reportedEvidence) reported(s sale) (n int) {
	for _, r := range e.reports {
		if s.at.After(r.After) && !s.at.After(r.UpTo) {
			n++
		}
	}
	return n
}

// checkContinued: who took over from a killed run found what that run had stored.
func (e reportedEvidence) checkContinued(fault report) {
	for _, victim := range e.killed() {
		successor, found := e.successor(victim)
		switch {
		case victim.counted == 0:
			fault("%s was killed before it had stored a page", victim.name)
		case !found:
			fault("%s was killed, and no run took over from it", victim.name)
		case successor.resumed != victim.counted:
			fault("%s was killed when it had stored the sums of %d orders, and %s went on behind %d", victim.name, victim.counted, successor.name, successor.resumed)
		}
	}
}

func (e reportedEvidence) killed() []delivery {
	return slices.DeleteFunc(slices.Clone(e.deliveries), func(d delivery) bool { return d.outcome() != outcomeKilled })
}

func (e reportedEvidence) successor(victim delivery) (delivery, bool) {
	for _, d := range e.deliveries {
		if d.run != nil && d.run.Takeover != nil && d.run.Takeover.Token == victim.token {
			return d, true
		}
	}
	return delivery{}, false
}

func (e reportedEvidence) summary(t *timeline) {
	for _, victim := range e.killed() {
		if d, found := e.successor(victim); found {
			t.printf("  %s was killed between two pages, with %d orders counted; %s went on behind them\n", victim.name, victim.counted, d.label())
		}
	}
	once := 0
	for _, s := range e.sales {
		if e.reported(s) == 1 {
			once++
		}
	}
	var counted int64
	for _, r := range e.reports {
		counted += r.Orders
	}
	t.printf("  orders to report: %d, in exactly one report: %d; %d reports count %d\n", len(e.sales), once, len(e.reports), counted)
}
