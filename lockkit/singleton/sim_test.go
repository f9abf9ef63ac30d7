package singleton_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/internal/trial"
)

// TestSimulation runs random histories of one job in virtual time: deliveries,
// duplicates, retries and manual runs of its ticks to several processes, which
// fail, yield, are killed and frozen, while the network loses, delays and repeats
// requests, and operators pause and stop. What must be true of all of them is
// checked at every write to the lock's item and at everything that a run tells.
//
// The job counts units of time, each run those of its interval, so that an effect
// that happens twice shows, and one that is left out, too.
//
// For a long run: go test ./lockkit/singleton -run TestSimulation -rapid.checks=20000.
//
// A failure prints the plan of a history, made small, what happened in it, and the
// flag that plays it again. Goroutines that are ready at the same moment may go in
// any order, so that once a history has failed, the others are played twice before
// they count as such that do not fail.
func TestSimulation(t *testing.T) {
	trial.Few(t, 50)
	tries := 1
	rapid.Check(t, func(rt *rapid.T) {
		p := drawJobPlan(rt)
		for range tries {
			var w *simWorld
			synctest.Test(t, func(t *testing.T) { w = simulate(t.Context(), p) })
			if len(w.ledger.found) == 0 {
				continue
			}
			tries = 10
			v := w.ledger.found[0]
			rt.Logf("%s\nHISTORY\n%sINVARIANT %q: %s", strings.Join(w.trace[max(len(w.trace)-150, 0):], "\n"), p, v.of, v.text)
			rt.Fatalf("broken: %s", v.of)
		}
	})
}
