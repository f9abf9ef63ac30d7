//go:build bench

package bench

import (
	"fmt"
	"testing"
	"time"
)

// sessions is how often everything about processes is measured anew; the figure
// is the middle one.
const sessions = 3

// TestLockInAFunction adds the lock to a Lambda function that sends the same two
// writes without it. What two requests cost is the network's and the SDK's, and
// the same on both sides; the line without a goal tells the whole.
func TestLockInAFunction(t *testing.T) {
	s, env := newService(t)
	nothing, plain, locked := build(t, handler("nothing")), build(t, handler("plain")), build(t, handler("locked"))
	more := size(t, locked) - size(t, plain)
	report(t, row{
		11, "the lock in a function: size of the binary", "≤ +0.15 MiB",
		fmt.Sprintf("%+.3f MiB (of %.2f)", more, size(t, plain)), check(more <= 0.15),
	})
	names := []string{"nothing", "plain", "again", "locked"}
	s.create("nothing", nothing, nil)
	s.create("plain", plain, env)
	s.create("again", plain, env)
	s.create("locked", locked, env)

	var init, same, base []float64
	for range sessions {
		all := samples(30, names[1:], s.init)
		init = append(init, median(all["locked"])/median(all["plain"]))
		same = append(same, median(all["again"])/median(all["plain"]))
		base = append(base, median(all["plain"]))
	}
	ratio := median(init)
	report(t, row{
		11, "  init, of a function that has a DynamoDB client", "≤ 1.05",
		fmt.Sprintf("%.3f (of %.1f ms; sessions %.3f)", ratio, median(base)/1e6, init), check(ratio <= 1.05),
	})
	report(t, row{11, "  control: the function without the lock against itself", "", fmt.Sprintf("%.3f (sessions %.3f)", median(same), same), control})
	s.warm(names)
}

// warm compares warm invocations.
func (s *service) warm(names []string) {
	s.t.Helper()
	var more, quiet, same, whole, base []float64
	for range sessions {
		s.fresh(names)
		all := samples(500, names, s.invoke)
		plain := median(all["plain"])
		more = append(more, (median(all["locked"])-plain)/1e3)
		quiet = append(quiet, (tenth(all["locked"])-tenth(all["plain"]))/1e3)
		same = append(same, (median(all["again"])-plain)/1e3)
		whole = append(whole, (median(all["locked"])-median(all["nothing"]))/1e3)
		base = append(base, plain/1e3)
	}
	d := median(more)
	report(s.t, row{
		11, "  warm invoke, of a function that sends the same two writes", "≤ +75 µs",
		fmt.Sprintf("%+.0f µs (of %.0f; sessions %+.0f)", d, median(base), more), check(d <= 75),
	})
	report(s.t, row{11, "  control: the function without the lock against itself", "", fmt.Sprintf("%+.0f µs (sessions %+.0f)", median(same), same), control})
	report(s.t, row{11, "  the quickest tenth, which a busy machine has disturbed least", "", fmt.Sprintf("%+.0f µs (sessions %+.0f)", median(quiet), quiet), control})
	report(s.t, row{11, "  the whole lock, two requests over loopback included", "", fmt.Sprintf("%+.0f µs (sessions %+.0f)", median(whole), whole), control})
}

// fresh gives each function a new process for a session, and lets it fill its
// caches and open its connection.
func (s *service) fresh(names []string) {
	s.t.Helper()
	for _, name := range names {
		for _, e := range s.Environments(name) {
			_ = s.Kill(e.ID) // one that ends already is no harm
		}
	}
	samples(100, names, func(name string) time.Duration { return s.invoke(name) })
}

// TestInitOfTheFunctions compares the start of the deployed functions with that
// of a handler that does nothing.
func TestInitOfTheFunctions(t *testing.T) {
	s, env := newService(t)
	nothing := build(t, handler("nothing"))
	s.create("nothing", nothing, nil)
	s.create("again", nothing, nil)
	functions := deployed(t)
	for _, name := range functions {
		s.create(name, build(t, "functions/"+name), env)
	}
	ratios, base := map[string][]float64{}, []float64{}
	for range sessions {
		all := samples(30, append([]string{"nothing", "again"}, functions...), s.init)
		for name := range all {
			ratios[name] = append(ratios[name], median(all[name])/median(all["nothing"]))
		}
		base = append(base, median(all["nothing"]))
	}
	for _, name := range functions {
		ratio := median(ratios[name])
		report(t, row{
			12, fmt.Sprintf("init of %s against a function that does nothing", name), "≤ 1.70",
			fmt.Sprintf("%.3f (of %.1f ms; sessions %.3f)", ratio, median(base)/1e6, ratios[name]), check(ratio <= 1.7),
		})
	}
	report(t, row{12, "  control: the function that does nothing against itself", "", fmt.Sprintf("%.3f (sessions %.3f)", median(ratios["again"]), ratios["again"]), control})
}
