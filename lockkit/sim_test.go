package lockkit_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// TestSimulation runs random worlds in virtual time: processes with clocks of
// their own that contend for one lock, are paused, suspended and killed, while
// the network loses, delays and repeats, and operators and other clients touch
// the item. What must be true of all of them is checked at every step.
//
// For a long run: go test ./lockkit -run TestSimulation -rapid.checks=20000.
//
// A failure prints the plan of a world, made small, what happened in it, and the
// flag that plays it again. The plan is all that rapid knows of: of goroutines
// that are ready at the same moment any may go first, and lockkit draws record
// versions and the phase of its looks by itself. So a plan that failed is played
// a few times before it counts as one that does not fail.
func TestSimulation(t *testing.T) {
	tries := 1
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		for range tries {
			var w *simWorld
			synctest.Test(t, func(t *testing.T) { w = simulate(t.Context(), p) })
			if len(w.ledger.found) == 0 {
				continue
			}
			tries = 4
			v := w.ledger.found[0]
			rt.Logf("%s\nWORLD\n%+v\nINVARIANT %q: %s", strings.Join(w.trace[max(len(w.trace)-150, 0):], "\n"), p, v.of, v.text)
			rt.Fatalf("broken: %s", v.of)
		}
	})
}
