package scenario

import (
	"fmt"
)

// cost is what a delivery sent to the endpoint.
type cost struct{ lock, other int }

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
			sum.other++
		}
		costs[a] = sum
	}
	return costs
}

// costs prints what each delivery sent to DynamoDB, a table for each job.
func (t *timeline) costs(jobs []string, deliveries []delivery, calls []call) {
	costs := costOf(deliveries, calls)
	t.printf("\nrequests to DynamoDB, counted at the endpoint (reported: what the run's own result says of the lock; ' marks Lambda's retry of a delivery)\n")
	var all cost
	for _, job := range jobs {
		var sum cost
		t.printf("  %-16s %-9s %-7s %-12s %5s %9s %7s\n", job, "due", "env", "outcome", "lock", "reported", "others")
		for _, d := range deliveriesOf(job, deliveries) {
			reported := "-"
			if d.run != nil {
				reported = fmt.Sprint(d.run.Requests)
			}
			c := costs[attempt{d.request, d.attempt}]
			sum.lock, sum.other = sum.lock+c.lock, sum.other+c.other
			t.printf("    %-14s %-9s %-7s %-12s %5d %9s %7d\n", d.label(), clock(d.tick), short(d.env), d.outcome(), c.lock, reported, c.other)
		}
		t.printf("    %-45s %5d %9s %7d\n", "together", sum.lock, "", sum.other)
		all.lock, all.other = all.lock+sum.lock, all.other+sum.other
	}
	if rest := len(calls) - all.lock - all.other; rest > 0 {
		t.printf("  %d more that belong to no delivery\n", rest)
	}
}

// verdict prints what the tables and the target show, the checks that failed, and
// the verdict, and reports whether none did.
func (t *timeline) verdict(jobs []string, heard []testimony) bool {
	t.printf("\n")
	failed := 0
	for i, h := range heard {
		t.printf("%s\n", jobs[i])
		h.summary(t)
	}
	for i, h := range heard {
		for _, fault := range h.judge() {
			t.printf("failed check of %s: %s\n", jobs[i], fault)
			failed++
		}
	}
	if failed > 0 {
		t.printf("verdict: FAILED\n")
		return false
	}
	t.printf("verdict: ok\n")
	return true
}
