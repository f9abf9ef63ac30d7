package scenario

import (
	"fmt"
	"strings"
)

// cost is what a delivery sent to the endpoint.
type cost struct{ lock, orders int }

// costOf attributes requests to deliveries: an environment runs one at a time, so
// a request belongs to the last one that its sender had begun.
func costOf(deliveries []delivery, calls []call) map[attempt]cost {
	costs := map[attempt]cost{}
	for _, c := range calls {
		var of *delivery
		for i, d := range deliveries {
			if d.caller == c.Caller && !d.started.After(c.At) && (of == nil || d.started.After(of.started)) {
				of = &deliveries[i]
			}
		}
		if of == nil {
			continue
		}
		a := attempt{of.request, of.attempt}
		sum := costs[a]
		if c.OnLock {
			sum.lock++
		} else {
			sum.orders++
		}
		costs[a] = sum
	}
	return costs
}

// costs prints what each delivery sent to DynamoDB.
func (t *timeline) costs(deliveries []delivery, calls []call) {
	costs := costOf(deliveries, calls)
	t.printf("\nrequests to DynamoDB, counted at the endpoint (reported: what the run's own result says of the lock)\n")
	t.printf("  %-5s %-9s %-7s %-12s %5s %9s %7s\n", "tick", "due", "env", "outcome", "lock", "reported", "orders")
	var sum cost
	for _, d := range deliveries {
		name := d.name
		if d.attempt > 1 {
			name += strings.Repeat("'", d.attempt-1)
		}
		reported := "-"
		if d.run != nil {
			reported = fmt.Sprint(d.run.Requests)
		}
		c := costs[attempt{d.request, d.attempt}]
		sum.lock, sum.orders = sum.lock+c.lock, sum.orders+c.orders
		t.printf("  %-5s %-9s %-7s %-12s %5d %9s %7d\n", name, clock(d.tick), short(d.env), d.outcome(), c.lock, reported, c.orders)
	}
	t.printf("  %-36s %5d %9s %7d   (' marks Lambda's retry of a delivery)\n", "together", sum.lock, "", sum.orders)
	if rest := len(calls) - sum.lock - sum.orders; rest > 0 {
		t.printf("  %d more that belong to no delivery\n", rest)
	}
}

// verdict prints what the table shows, the checks that failed, and the verdict,
// and reports whether there were none.
func (t *timeline) verdict(e evidence, faults []string) bool {
	t.printf("\nstale writes refused by the table: %d\n", len(e.refusals()))
	for _, c := range e.refusals() {
		token, name := int64(0), "?"
		for _, d := range e.deliveries {
			if d.caller == c.Caller && d.token != 0 && !d.started.After(c.At) {
				token, name = d.token, d.name
			}
		}
		t.printf("  %s by token %d (%s) at %.2fs\n", c.Order, token, name, t.since(c.At))
	}
	once, due := 0, 0
	for _, p := range e.placed {
		if p.due {
			due++
			if len(e.orders[p.id].History) == 1 {
				once++
			}
		}
	}
	t.printf("orders that were due: %d, closed exactly once: %d\n", due, once)
	for _, f := range faults {
		t.printf("failed check: %s\n", f)
	}
	if len(faults) > 0 {
		t.printf("verdict: FAILED\n")
		return false
	}
	t.printf("verdict: ok\n")
	return true
}
