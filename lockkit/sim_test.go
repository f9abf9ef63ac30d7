package lockkit_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/internal/trial"
)

// TestSimulation runs random worlds in virtual time: processes with clocks of
// their own that contend for one lock, are paused, suspended and killed, while
// the network loses, delays and repeats, and operators and other clients touch
// the item. What must be true of all of them is checked at every step.
//
// For a long run: go test ./lockkit -run TestSimulation -rapid.checks=20000.
//
// A failure prints the plan of a world, made small, what happened in it, and the
// flag that plays it again. A few worlds do not go the same way twice (see
// TestAWorldIsPlayedAgain), so once one has failed, the others are played twice
// before they count as such that do not fail.
func TestSimulation(t *testing.T) {
	trial.Few(t, 20)
	tries := 1
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		for range tries {
			var w *simWorld
			synctest.Test(t, func(t *testing.T) { w = simulate(t.Context(), p) })
			if len(w.ledger.found) == 0 {
				continue
			}
			tries = 2
			v := w.ledger.found[0]
			rt.Logf("%s\nWORLD\n%+v\nINVARIANT %q: %s", strings.Join(w.trace[max(len(w.trace)-150, 0):], "\n"), p, v.of, v.text)
			rt.Fatalf("broken: %s", v.of)
		}
	})
}
