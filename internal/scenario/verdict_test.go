package scenario

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func tick(n int) time.Time { return noon.Add(-time.Hour).Add(time.Duration(n) * every) }

func order(status string, history ...orders.Change) orders.Order {
	return orders.Order{Status: status, History: history}
}

func change(token int64, at time.Time) orders.Change {
	return orders.Change{Status: orders.Closed, Token: token, At: at}
}

// good is a scenario in small: T1 is frozen at order b and lost, T2 takes over
// and closes b and c, T1's retry is superseded.
func good() sweptEvidence {
	run := func(request string, number, n int, token int64, outcome singleton.Outcome, start int) delivery {
		return delivery{
			job: "job", tick: tick(n), name: map[int]string{1: "T1", 2: "T2"}[n], request: request, attempt: number,
			env: "job-" + request, caller: "caller-" + request, token: token, started: at(start), ended: at(start + 10),
			run: &logLine{Outcome: string(outcome)},
		}
	}
	frozen, successor, retry := run("r1", 1, 1, 101, singleton.Lost, 0), run("r2", 1, 2, 102, singleton.Completed, 5), run("r1", 2, 1, 0, singleton.Superseded, 30)
	successor.run.Takeover = &struct {
		Token int64     `json:"token"`
		Tick  time.Time `json:"tick"`
	}{101, tick(1)}
	return sweptEvidence{
		placed: []placed{{"a", true}, {"b", true}, {"c", true}, {"young", false}},
		orders: map[string]orders.Order{
			"a":     order("closed", change(101, at(1))),
			"b":     order("closed", change(102, at(8))),
			"c":     order("closed", change(102, at(9))),
			"young": order("placed"),
		},
		evidence: evidence{
			job: "job", lockTick: tick(2),
			deliveries: []delivery{frozen, successor, retry},
			calls: []call{
				{At: at(0), Caller: "caller-r1", Operation: "UpdateItem", OnLock: true},
				{At: at(10), Caller: "caller-r1", Operation: "TransactWriteItems", Order: "b", Refused: "TransactionCanceledException", Stale: true},
				{At: at(31), Caller: "caller-r1", Operation: "UpdateItem", OnLock: true, Refused: "ConditionalCheckFailedException"},
			},
			wanted: []expectation{
				{what: "the frozen run", deliveries: []attempt{{"r1", 1}}, allowed: [][]string{{"lost"}}},
				{what: "the successor", deliveries: []attempt{{"r2", 1}}, allowed: [][]string{{"completed"}}, takeover: true},
				{what: "the retry", deliveries: []attempt{{"r1", 2}}, allowed: [][]string{{"skipped"}, {"superseded"}}, requests: 1},
			},
		},
	}
}

func TestAGoodHistoryHasNoFault(t *testing.T) {
	if faults := good().judge(); len(faults) != 0 {
		t.Errorf("%q", faults)
	}
}

// Each plants one thing that must not be; the verdict has to say which.
func TestPlantedFaultsAreFound(t *testing.T) {
	tests := map[string]struct {
		plant func(e *sweptEvidence)
		want  []string
	}{
		"closed twice, the second time by the stale holder": {
			func(e *sweptEvidence) { e.orders["b"] = order("closed", change(102, at(8)), change(101, at(12))) },
			[]string{
				"b was closed 2 times: by token 102 (T2), then by token 101 (T1), a stale holder",
				"b was written by token 101 (T1) after token 102 (T2) had closed c: a write of a stale holder",
			},
		},
		"closed twice by one run": {
			func(e *sweptEvidence) { e.orders["b"] = order("closed", change(102, at(8)), change(102, at(8))) },
			[]string{"b was closed 2 times: by token 102 (T2), then by token 102 (T2)"},
		},
		"closed once, by the stale holder": {
			func(e *sweptEvidence) { e.orders["c"] = order("closed", change(101, at(12))) },
			[]string{"c was written by token 101 (T1) after token 102 (T2) had closed b: a write of a stale holder"},
		},
		"closed by a token that nobody had": {
			func(e *sweptEvidence) { e.orders["c"] = order("closed", change(777, at(9))) },
			[]string{"c was closed by token 777, which no run had"},
		},
		"left open": {
			func(e *sweptEvidence) { e.orders["c"] = order("placed") },
			[]string{"c was due and was never closed; it is placed"},
		},
		"vanished":        {func(e *sweptEvidence) { delete(e.orders, "c") }, []string{"c is not in the table any more"}},
		"reopened":        {func(e *sweptEvidence) { e.orders["c"] = order("placed", change(102, at(9))) }, []string{"c was closed and is placed again"}},
		"closed too soon": {func(e *sweptEvidence) { e.orders["young"] = order("closed", change(102, at(9))) }, []string{"young was not due and is closed: by token 102 (T2)"}},
		"wrong tick": {
			func(e *sweptEvidence) { e.lockTick = tick(1) },
			[]string{"the lock's item says that tick 11:05:00 was completed last, and the newest completed run is of 11:10:00"},
		},
		"no tick":         {func(e *sweptEvidence) { e.lockTick = time.Time{} }, []string{"that tick (none) was completed last"}},
		"still held":      {func(e *sweptEvidence) { e.lockHeld = true }, []string{"the lock is still held"}},
		"nothing refused": {func(e *sweptEvidence) { e.calls[1].Stale = false }, []string{"no stale write was refused"}},
		"other outcome": {
			func(e *sweptEvidence) { e.deliveries[0].run.Outcome = "failed" },
			[]string{"the frozen run (T1): ended failed, expected lost"},
		},
		"killed": {
			func(e *sweptEvidence) { e.deliveries[1].run, e.deliveries[1].fault = nil, outcomeKilled },
			[]string{"the successor (T2): ended killed, expected completed", "reports no takeover"},
		},
		"not delivered": {
			func(e *sweptEvidence) { e.deliveries = e.deliveries[:2] },
			[]string{"the retry (not delivered): ended without a delivery, expected skipped or superseded"},
		},
		"delivered too often": {
			func(e *sweptEvidence) {
				more := e.deliveries[2]
				more.attempt = 3
				e.deliveries = append(e.deliveries, more)
			},
			[]string{"T1 was delivered once more than expected (attempt 3) and ended superseded"},
		},
		"too many requests": {
			func(e *sweptEvidence) { e.calls = append(e.calls, call{At: at(32), Caller: "caller-r1", OnLock: true}) },
			[]string{"the retry (T1): 2 requests for the lock, expected 1"},
		},
		"no takeover": {func(e *sweptEvidence) { e.deliveries[1].run.Takeover = nil }, []string{"the successor (T2): the result reports no takeover"}},
		"stuck":       {func(e *sweptEvidence) { e.stuck = "step x: waited 30s" }, []string{"step x: waited 30s"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := good()
			test.plant(&e)
			faults := e.judge()
			text := strings.Join(faults, "\n")
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in:\n%s", want, text)
				}
			}
			var out bytes.Buffer
			if newTimeline(&out).verdict([]string{"job"}, []testimony{e}) || !strings.HasSuffix(out.String(), "\nverdict: FAILED\n") {
				t.Errorf("the report does not end in a failed verdict:\n%s", &out)
			}
		})
	}
}

func TestEitherOfTwoDeliveriesMayWin(t *testing.T) {
	for _, order := range [][2]string{{"completed", "duplicate"}, {"duplicate", "completed"}} {
		e := good()
		e.deliveries[0].run.Outcome, e.deliveries[1].run.Outcome = order[0], order[1]
		e.wanted[0] = expectation{what: "a pair", deliveries: []attempt{{"r1", 1}, {"r2", 1}}, allowed: [][]string{{"completed", "duplicate"}}}
		e.wanted = append(e.wanted[:1], e.wanted[2])
		var faults []string
		e.checkOutcomes(func(format string, _ ...any) { faults = append(faults, format) })
		if len(faults) > 0 {
			t.Errorf("%v: %q", order, faults)
		}
	}
}

func TestTheReportEndsWithTheVerdict(t *testing.T) {
	var out bytes.Buffer
	e := good()
	line := newTimeline(&out)
	line.costs([]string{"job"}, e.deliveries, e.calls)
	if !line.verdict([]string{"job"}, []testimony{e}) || !strings.HasSuffix(out.String(), "\nverdict: ok\n") {
		t.Errorf("got:\n%s", &out)
	}
	for _, want := range []string{"b by token 101 (T1)", "orders that were due: 3, closed exactly once: 3"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &out)
		}
	}
}

func TestARequestBelongsToTheLastDeliveryThatItsSenderBegan(t *testing.T) {
	e := good()
	e.calls = append(e.calls, call{At: at(40), Caller: "stranger", OnLock: true})
	costs := costOf(e.deliveries, e.calls)
	if got := costs[attempt{"r1", 1}]; got != (cost{lock: 1, other: 1}) {
		t.Errorf("the first delivery of r1: %+v", got)
	}
	if got := costs[attempt{"r1", 2}]; got != (cost{lock: 1}) {
		t.Errorf("its retry: %+v", got)
	}
	if len(costs) != 2 {
		t.Errorf("a stranger's request was given to somebody: %v", costs)
	}
}
