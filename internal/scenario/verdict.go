package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
)

// judge returns what is wrong with the evidence, a sentence for each; nothing
// when every check is passed.
func judge(e evidence) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if e.stuck != "" {
		fault("%s", e.stuck)
	}
	e.checkOrders(fault)
	e.checkTokens(fault)
	e.checkOutcomes(fault)
	if e.stuck == "" { // these say nothing of a scenario that was not played to its end
		e.checkExtra(fault)
		e.checkRefusals(fault)
		e.checkLock(fault)
	}
	return faults
}

type report func(format string, args ...any)

// checkOrders: each order that was due is closed exactly once, by a run that is
// known; no other is touched.
func (e evidence) checkOrders(fault report) {
	for _, p := range e.placed {
		state, there := e.orders[p.id]
		switch {
		case !there:
			fault("%s is not in the table any more", p.id)
		case !p.due && (len(state.History) > 0 || state.Status != orders.Placed):
			fault("%s was not due and is %s%s", p.id, state.Status, e.closers(state))
		case p.due && len(state.History) == 0:
			fault("%s was due and was never closed; it is %s", p.id, state.Status)
		case len(state.History) > 1:
			fault("%s was closed %d times%s", p.id, len(state.History), e.closers(state))
		case p.due && state.Status != orders.Closed:
			fault("%s was closed and is %s again", p.id, state.Status)
		}
		for _, c := range state.History {
			if e.runOf(c.Token) == "" {
				fault("%s was closed by token %d, which no run had", p.id, c.Token)
			}
		}
	}
}

// closers tells who closed an order, in the order in which it reached the table.
func (e evidence) closers(state orders.Order) string {
	var b strings.Builder
	highest := int64(0)
	for i, c := range state.History {
		b.WriteString(map[bool]string{true: ": by ", false: ", then by "}[i == 0])
		b.WriteString(e.tokenName(c.Token))
		if c.Token < highest {
			b.WriteString(", a stale holder")
		}
		highest = max(highest, c.Token)
	}
	return b.String()
}

func (e evidence) tokenName(token int64) string {
	return fmt.Sprintf("token %d (%s)", token, cmp.Or(e.runOf(token), "no known run"))
}

// runOf names the tick that was run under a token.
func (e evidence) runOf(token int64) string {
	for _, d := range e.deliveries {
		if d.token == token && token != 0 {
			return d.name
		}
	}
	return ""
}

// checkTokens: over time, no write carries a lower token than one before it.
func (e evidence) checkTokens(fault report) {
	type write struct {
		order string
		orders.Change
	}
	var writes []write
	for id, state := range e.orders {
		for _, c := range state.History {
			writes = append(writes, write{id, c})
		}
	}
	slices.SortFunc(writes, func(a, b write) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Token, b.Token), cmp.Compare(a.order, b.order))
	})
	var highest write
	for _, w := range writes {
		if w.Token < highest.Token {
			fault("%s was written by %s after %s had closed %s: a write of a stale holder", w.order, e.tokenName(w.Token), e.tokenName(highest.Token), highest.order)
			continue
		}
		highest = w
	}
}

// checkRefusals: the holder that woke up did try to write, and was refused.
func (e evidence) checkRefusals(fault report) {
	if len(e.refusals()) == 0 {
		fault("no stale write was refused, although a holder woke up after its takeover")
	}
}

// refusals are the writes whose held check failed at the endpoint.
func (e evidence) refusals() []call {
	return slices.DeleteFunc(slices.Clone(e.calls), func(c call) bool { return !c.Stale })
}

// checkOutcomes: every delivery that was expected ended as it should.
func (e evidence) checkOutcomes(fault report) {
	costs := costOf(e.deliveries, e.calls)
	for _, w := range e.wanted {
		var got, names []string
		for _, a := range w.deliveries {
			d := e.delivery(a)
			got, names = append(got, d.outcome()), append(names, d.name)
			if w.takeover && (d.run == nil || d.run.Takeover == nil) {
				fault("%s (%s): the result reports no takeover", w.what, d.name)
			}
			if cost := costs[a].lock; w.requests != 0 && cost != w.requests {
				fault("%s (%s): %d requests for the lock, expected %d", w.what, d.name, cost, w.requests)
			}
		}
		slices.Sort(got)
		if !slices.ContainsFunc(w.allowed, func(allowed []string) bool { return slices.Equal(allowed, got) }) {
			fault("%s (%s): ended %s, expected %s", w.what, strings.Join(slices.Compact(names), ", "), strings.Join(got, " and "), alternatives(w.allowed))
		}
	}
}

// checkExtra: no other delivery was made.
func (e evidence) checkExtra(fault report) {
	expected := map[attempt]bool{}
	for _, w := range e.wanted {
		for _, a := range w.deliveries {
			expected[a] = true
		}
	}
	for _, d := range e.deliveries {
		if !expected[attempt{d.request, d.attempt}] {
			fault("%s was delivered once more than expected (attempt %d) and ended %s", d.name, d.attempt, d.outcome())
		}
	}
}

func alternatives(allowed [][]string) string {
	list := make([]string, len(allowed))
	for i, outcomes := range allowed {
		list[i] = strings.Join(outcomes, " and ")
	}
	return strings.Join(list, " or ")
}

func (e evidence) delivery(a attempt) delivery {
	for _, d := range e.deliveries {
		if d.request == a.request && d.attempt == a.number {
			return d
		}
	}
	return delivery{name: "not delivered", fault: "without a delivery"}
}

// checkLock: the lock is free and knows the newest tick that a run completed.
func (e evidence) checkLock(fault report) {
	var newest time.Time
	for _, d := range e.deliveries {
		if d.outcome() == string(singleton.Completed) && d.tick.After(newest) {
			newest = d.tick
		}
	}
	if !e.lockTick.Equal(newest) {
		fault("the lock's item says that tick %s was completed last, and the newest completed run is of %s", clock(e.lockTick), clock(newest))
	}
	if e.lockHeld {
		fault("the lock is still held after the last run")
	}
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "(none)"
	}
	return t.Format(time.TimeOnly)
}
