//go:build bench

package bench

import (
	"fmt"
	"testing"
	"time"
)

// TestRequests counts what the operations cost, exactly.
func TestRequests(t *testing.T) {
	usual(t, func(w *world) {
		p := &process{}
		l := w.acquire(w.locks(p), lockName, lockLease)
		acquired := p.since(time.Time{})
		if err := l.Renew(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		renewed := p.since(time.Time{})
		w.release(l)
		released := p.since(time.Time{})
		ok := acquired == counts{writes: 1} && renewed == counts{writes: 2} && released == counts{writes: 3}
		report(t, row{
			1, "requests: free acquire / renewal / release", "1 / 1 / 1",
			fmt.Sprintf("%d / %d / %d", acquired.all(), renewed.all()-acquired.all(), released.all()-renewed.all()), check(ok),
		})
	})
}

// TestRenewals counts the renewals of a lease that is held for long.
func TestRenewals(t *testing.T) {
	const many = 200
	for _, lease := range leases {
		usual(t, func(w *world) {
			p := &process{}
			l := w.acquire(w.locks(p), lockName, lease)
			time.Sleep(many*lease + lease/6)
			n := p.since(time.Time{})
			w.release(l)
			report(t, row{
				6, fmt.Sprintf("renewals per lease, %s, over %d leases", lease, many), "3",
				fmt.Sprintf("%.3f", float64(n.writes-1)/many), check(n == counts{writes: 1 + 3*many}),
			})
		})
	}
}
