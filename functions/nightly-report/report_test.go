package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/singletontest"
)

var spec = functions.NightlyReport

// first is what the first report begins after.
var first = mondayEnd.Add(-spec.CatchUp)

func completed(w *singletontest.World, e singletontest.Ended) {
	w.T.Helper()
	if e.Err != nil || e.Result.Outcome != singleton.Completed {
		w.T.Fatalf("ended %s, expected completed", e)
	}
}

func TestEachOrderIsInTheReportOfItsTime(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		completed(w, w.Deliver(spec, program, singletontest.At(monday)))
		completed(w, w.Deliver(spec, program, singletontest.At(tuesday)))
		wantReports(w,
			span{monday, first, mondayEnd, 4, total(1, 2, 3, 4)},
			span{tuesday, mondayEnd, tuesday.Add(-orders.SettleTime), 2, total(5, 6)},
		)
	}, sold(
		first,                          // 0: the time itself belongs to the interval before
		first.Add(time.Millisecond),    // 1
		mondayEnd.Add(-3*24*time.Hour), // 2
		mondayEnd, mondayEnd,           // 3, 4
		mondayEnd.Add(time.Millisecond),         // 5
		tuesday.Add(-orders.SettleTime),         // 6
		tuesday.Add(-orders.SettleTime+1000000), // 7: not yet
	))
}

// The limit of reading by time: an order may take the settle time to reach the
// table. One that takes longer is in no report.
func TestALateOrderIsReportedWithinTheSettleTime(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		time.Sleep(time.Until(monday))
		w.Put("orders", orders.New("in time", mondayEnd, 5))
		completed(w, w.Deliver(spec, program, singletontest.At(monday)))
		w.Put("orders", orders.New("too late", mondayEnd, 7))
		completed(w, w.Deliver(spec, program, singletontest.At(tuesday)))
		wantReports(w,
			span{monday, first, mondayEnd, 1, 5},
			span{tuesday, mondayEnd, tuesday.Add(-orders.SettleTime), 0, 0},
		)
	}, sold())
}

func TestANightWithoutOrdersHasAReportToo(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		completed(w, w.Deliver(spec, program, singletontest.At(monday)))
		wantReports(w, span{monday, first, mondayEnd, 0, 0})
	}, sold())
}

// TestCrashPoints disturbs the reporter at each request it makes: whatever happens
// there, each order is in exactly one report, and the reports leave no gap.
func TestCrashPoints(t *testing.T) {
	// Seven orders of the first tick, on two days and with three at one instant,
	// and two of the next.
	placed := []time.Time{
		mondayEnd.Add(-20 * time.Hour), mondayEnd.Add(-time.Hour), mondayEnd.Add(-time.Hour), mondayEnd.Add(-time.Hour),
		mondayEnd.Add(-50 * time.Minute), mondayEnd.Add(-2 * time.Minute), mondayEnd, mondayEnd.Add(time.Hour), tuesday.Add(-orders.SettleTime),
	}
	check := func(w *singletontest.World) error {
		list := reports(w)
		var sum int64
		for i, r := range list {
			sum += r.Total
			var want int64
			for n, when := range placed {
				if when.After(r.After) && !when.After(r.UpTo) {
					want += total(n)
				}
			}
			if r.Total != want || i > 0 && !r.After.Equal(list[i-1].UpTo) {
				return errors.New("a wrong sum, or a gap")
			}
		}
		if len(list) == 0 || sum&total(0, 1, 2, 3, 4, 5, 6) != total(0, 1, 2, 3, 4, 5, 6) {
			return errors.New("an order of the first tick is in no report")
		}
		return nil
	}
	t.Log(singletontest.CrashEverywhere(t, spec, program, check, sold(placed...), singletontest.Ticks(monday, tuesday)))
}

// seven are orders of three pages before the first tick, and two of one after it.
func seven() singletontest.Option {
	var placed []time.Time
	for i := range 7 {
		placed = append(placed, mondayEnd.Add(time.Duration(i-10)*time.Second))
	}
	return sold(append(placed, mondayEnd.Add(time.Hour), mondayEnd.Add(2*time.Hour))...)
}

// emptyDays are the queries for the days of a first interval without orders.
const emptyDays = 7

func killed(w *singletontest.World, beforePage int) {
	w.Process().Start(spec, before(emptyDays+beforePage, func(p *singletontest.Process) { p.Kill() }), singletontest.At(monday))
	time.Sleep(time.Until(monday) + time.Minute)
}

func TestLambdasRetryGoesOnBehindTheLastPage(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		killed(w, 3)
		read := queries(w)
		retry := w.Deliver(spec, program, singletontest.At(monday))
		completed(w, retry)
		if n := queries(w) - read; n != 1 || retry.Result.Counts[countOrders] != 7 || retry.Result.Counts[countPages] != 1 {
			t.Errorf("the retry read %d pages, expected the last one only; counts %v", n, retry.Result.Counts)
		}
		wantReports(w, span{monday, first, mondayEnd, 7, total(0, 1, 2, 3, 4, 5, 6)})
	}, seven())
}

// The sums of the older tick's pages stay good, and the report reaches to the
// newer tick.
func TestTheNextTickFinishesWhatWasBegun(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		killed(w, 3)
		read := queries(w)
		completed(w, w.Deliver(spec, program, singletontest.At(tuesday)))
		if n := queries(w) - read; n != 3 { // the rest of the 9th, the 10th, the 11th until midnight
			t.Errorf("the next tick read %d pages, expected 3", n)
		}
		wantReports(w, span{tuesday, first, tuesday.Add(-orders.SettleTime), 9, total(0, 1, 2, 3, 4, 5, 6, 7, 8)})
		late := w.Deliver(spec, program, events.Tick{Time: monday, Source: events.KindManual})
		if late.Result.Outcome != singleton.Superseded {
			t.Errorf("the older tick by hand ended %s, expected superseded", late)
		}
	}, seven())
}

// A page takes 147 s: after the second, less than the time for another is left.
func TestYieldsWhenItsTimeIsNearlyOver(t *testing.T) {
	slowly := func(p *singletontest.Process) singleton.Work {
		r := reporterOf(p)
		r.orders = slow{pages: r.orders, work: func(context.Context, string) { time.Sleep(147 * time.Second) }}
		return r.work
	}
	singletontest.Test(t, func(w *singletontest.World) {
		ended := w.Deliver(spec, slowly, singletontest.At(monday))
		if ended.Result.Outcome != singleton.OutOfTime || !strings.Contains(ended.String(), "yielded") || ended.Result.Counts[countOrders] != 6 {
			t.Fatalf("ended %s with counts %v, expected it to yield after two pages", ended, ended.Result.Counts)
		}
		wantReports(w)
		completed(w, w.Deliver(spec, program, singletontest.At(monday)))
		wantReports(w, span{monday, first, mondayEnd, 7, total(0, 1, 2, 3, 4, 5, 6)})
	}, seven())
}

// An order was corrected: the report is made anew, about the same time as before.
func TestAForcedRunMakesTheSameReportAnew(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		completed(w, w.Deliver(spec, program, singletontest.At(monday)))
		completed(w, w.Deliver(spec, program, singletontest.At(tuesday)))
		w.Put("orders", orders.New("order-00", mondayEnd, 1<<20))
		again := events.Tick{Time: monday, Source: events.KindManual, Force: true}
		completed(w, w.Deliver(spec, program, again))
		wantReports(w,
			span{monday, first, mondayEnd, 7, 1<<20 + total(1, 2, 3, 4, 5, 6)},
			span{tuesday, mondayEnd, tuesday.Add(-orders.SettleTime), 2, total(7, 8)},
		)
	}, seven())
}

func TestARunWithoutATickIsRefused(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		ended := w.Deliver(spec, program, events.Tick{Source: events.KindManual})
		if !errors.Is(ended.Err, errNoTick) || queries(w) != 0 {
			t.Errorf("ended %s", ended)
		}
		wantReports(w)
	}, seven())
}

// Another takes over between two pages: nothing more is stored.
func TestARunThatIsTakenOverStoresNothing(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		next := monday.Add(time.Minute)
		stale := w.Deliver(spec, before(emptyDays+2, func(p *singletontest.Process) {
			p.Freeze()
			go func() {
				completed(w, w.Deliver(spec, program, singletontest.At(next)))
				p.Thaw()
			}()
		}), singletontest.At(monday))
		if !errors.Is(stale.Err, lockkit.ErrLeaseLost) || stale.Result.Outcome != singleton.Lost {
			t.Errorf("ended %s, expected lost", stale)
		}
		wantReports(w, span{next, first, next.Add(-orders.SettleTime), 7, total(0, 1, 2, 3, 4, 5, 6)})
	}, seven())
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for name, test := range map[string]struct {
		setup func(*singletontest.World, *reporter)
		want  []string
	}{
		"no orders table":  {func(_ *singletontest.World, r *reporter) { r.orders = other(r, "nowhere") }, []string{`table "nowhere" (SOLOTICK_ORDERS_TABLE) by its index byDay: set SOLOTICK_ORDERS_TABLE to a table that this Region has`}},
		"no index":         {func(_ *singletontest.World, r *reporter) { r.orders = other(r, "locks") }, []string{"byDay: set SOLOTICK_ORDERS_TABLE to the table with the orders, or create the index"}},
		"no reports table": {func(_ *singletontest.World, r *reporter) { r.reports.table = "nowhere" }, []string{`table "nowhere" (SOLOTICK_REPORTS_TABLE): set SOLOTICK_REPORTS_TABLE to a table`}},
		"no total": {func(w *singletontest.World, _ *reporter) {
			item := orders.New("free", mondayEnd, 0)
			delete(item, orders.AttrTotal)
			w.Put("orders", item)
		}, []string{`order "free" has no number total: correct it`}},
		"half a cent": {func(w *singletontest.World, _ *reporter) {
			item := orders.New("half", mondayEnd, 0)
			item[orders.AttrTotal] = &types.AttributeValueMemberN{Value: "0.5"}
			w.Put("orders", item)
		}, []string{`order "half": attribute total, expected a whole number of cents`}},
		"broken report": {func(w *singletontest.World, _ *reporter) {
			w.Put("reports", orders.ReportKey(monday))
		}, []string{`report "2000-01-10T01:00:00Z": attribute`}},
	} {
		t.Run(name, func(t *testing.T) {
			singletontest.Test(t, func(w *singletontest.World) {
				ended := w.Deliver(spec, func(p *singletontest.Process) singleton.Work {
					r := reporterOf(p)
					test.setup(w, r)
					return r.work
				}, singletontest.At(monday))
				if ended.Result.Outcome != singleton.Failed {
					t.Fatalf("ended %s, expected failed", ended)
				}
				for _, want := range test.want {
					if !strings.Contains(ended.Err.Error(), want) {
						t.Errorf("%q is missing in: %v", want, ended.Err)
					}
				}
			}, sold())
		})
	}
}

func other(r *reporter, table string) byDay {
	days := r.orders.(byDay)
	days.table = table
	return days
}

func TestACursorOfSomethingElseIsNamed(t *testing.T) {
	for _, cursor := range []string{"page 3", `{"after":5,"place":{"at":4}}`, `{"orders":-1}`} {
		if _, err := readCursor(cursor); err == nil || !strings.Contains(err.Error(), "remove the attribute cursor") {
			t.Errorf("%s: %v", cursor, err)
		}
	}
	want := sums{After: 1, Place: place{At: 2, ID: "order-1"}, Orders: 3, Total: 4}
	if got, err := readCursor(want.cursor()); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// The longest id that the shop gives out fits the cursor's default bound.
func TestACursorFits(t *testing.T) {
	const most = int64(1) << 62
	s := sums{After: most, Place: place{At: most, ID: strings.Repeat("x", orders.MaxID)}, Orders: most, Total: most}
	if n := len(s.cursor()); n > 512 {
		t.Errorf("the cursor can have %d bytes", n)
	}
}
