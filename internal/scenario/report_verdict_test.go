package scenario

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
)

// goodReports is the act of nightly-report in small: T1 is killed with two orders
// counted, and T2 goes on behind them.
func goodReports() reportedEvidence {
	victim := delivery{job: "job", tick: tick(1), name: "T1", request: "r1", attempt: 1, token: 101, counted: 2, started: at(0), ended: at(5), fault: outcomeKilled}
	successor := delivery{job: "job", tick: tick(2), name: "T2", request: "r2", attempt: 1, token: 102, resumed: 2, counted: 2, started: at(6), ended: at(10), run: &logLine{Outcome: string(singleton.Completed)}}
	successor.run.Takeover = &struct {
		Token int64     `json:"token"`
		Tick  time.Time `json:"tick"`
	}{101, tick(1)}
	return reportedEvidence{
		evidence: evidence{
			job: "job", lockTick: tick(2), deliveries: []delivery{victim, successor},
			wanted: []expectation{
				{what: "the victim", deliveries: []attempt{{"r1", 1}}, allowed: [][]string{{outcomeKilled}}},
				{what: "the successor", deliveries: []attempt{{"r2", 1}}, allowed: [][]string{{"completed"}}, takeover: true},
			},
		},
		sales: []sale{{"a", tick(1), 1}, {"b", tick(1), 2}, {"c", tick(2), 4}},
		reports: []orders.Report{
			{Tick: tick(0), After: tick(-1), UpTo: tick(0), Token: 101},
			{Tick: tick(2), After: tick(0), UpTo: tick(2), Orders: 3, Total: 7, Token: 102},
		},
	}
}

func TestGoodReportsHaveNoFault(t *testing.T) {
	if faults := goodReports().judge(); len(faults) != 0 {
		t.Errorf("%q", faults)
	}
	var out bytes.Buffer
	goodReports().summary(newTimeline(&out))
	for _, want := range []string{"T1 was killed between two pages, with 2 orders counted; T2 went on behind them", "orders to report: 3, in exactly one report: 3; 2 reports count 3"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &out)
		}
	}
}

func TestPlantedFaultsOfReportsAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(e *reportedEvidence)
		want  string
	}{
		"a page counted twice": {func(e *reportedEvidence) { e.reports[1].Orders, e.reports[1].Total = 5, 10 }, "the report of 11:10:00 says 5 orders of 10 cents, and there are 3 of 7"},
		"a page left out":      {func(e *reportedEvidence) { e.reports[1].Orders, e.reports[1].Total = 1, 4 }, "says 1 orders of 4 cents, and there are 3 of 7"},
		"another's order":      {func(e *reportedEvidence) { e.reports[1].Total = 8 }, "3 orders of 8 cents"},
		"a gap": {func(e *reportedEvidence) {
			e.reports[1] = orders.Report{Tick: tick(2), After: tick(1), UpTo: tick(2), Orders: 1, Total: 4, Token: 102}
		}, "begins after 11:05:00, and the one before ends at 11:00:00"},
		"no report":      {func(e *reportedEvidence) { e.reports = e.reports[:1] }, "T2 was completed and has no report"},
		"in no report":   {func(e *reportedEvidence) { e.sales = append(e.sales, sale{"d", tick(3), 8}) }, "d is in 0 reports"},
		"nobody's":       {func(e *reportedEvidence) { e.reports[1].Token = 777 }, "was written by token 777, which no run had"},
		"begun anew":     {func(e *reportedEvidence) { e.deliveries[1].resumed = 0 }, "T1 was killed when it had stored the sums of 2 orders, and T2 went on behind 0"},
		"killed early":   {func(e *reportedEvidence) { e.deliveries[0].counted = 0 }, "T1 was killed before it had stored a page"},
		"nobody went on": {func(e *reportedEvidence) { e.deliveries[1].run.Takeover.Token = 5 }, "T1 was killed, and no run took over from it"},
	} {
		e := goodReports()
		test.plant(&e)
		if text := strings.Join(e.judge(), "\n"); !strings.Contains(text, test.want) {
			t.Errorf("%s: %q is missing in:\n%s", name, test.want, text)
		}
	}
}
