package lockkit_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// A world goes as its plan and seed say, or a failure could not be looked into.
// Not always: of goroutines that are ready at the same moment any may go first,
// which is rare enough (3 of 100 worlds) for one of three to go the same way.
func TestAWorldIsPlayedAgain(t *testing.T) {
	same, others := 0, 0
	for _, seed := range []int{13, 16, 27} {
		p := rapid.Custom(drawPlan).Example(seed)
		first := play(t, p)
		if play(t, p) == first {
			same++
		}
		p.Seed++
		if play(t, p) != first {
			others++
		}
	}
	if same == 0 || others == 0 {
		t.Errorf("of three worlds played again %d went the same way, and %d another with another seed; expected nearly all", same, others)
	}
}

// ids are what a trace shows of owners and record versions, which are random.
var ids = regexp.MustCompile(`(held by|version) [A-Z2-7]{4}`)

func play(t *testing.T, p simPlan) string {
	t.Helper()
	var w *simWorld
	synctest.Test(t, func(t *testing.T) { w = simulate(t.Context(), p) })
	for _, v := range w.ledger.found {
		t.Errorf("broken: %s: %s", v.of, v.text)
	}
	return ids.ReplaceAllString(strings.Join(w.trace, "\n"), "$1")
}
