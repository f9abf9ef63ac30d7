package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/solotick/solotick/lockkit/singleton"
)

// report takes what is wrong, a sentence at a time.
type report func(format string, args ...any)

// judge makes the checks that hold for every act, and then those of its own that
// are given: always hold in any case, played only if the act was played to its end.
func (e evidence) judge(always, played func(report)) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if e.stuck != "" {
		fault("%s", e.stuck)
	}
	always(fault)
	e.checkOutcomes(fault)
	if e.stuck == "" { // these say nothing of an act that was not played to its end
		e.checkExtra(fault)
		played(fault)
		e.checkLock(fault)
	}
	return faults
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
