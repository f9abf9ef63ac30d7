// Package trial is what the tests of lockkit and of its runners have in common. No
// program imports it.
package trial

import (
	"flag"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Few makes the random tests of rapid small until the test ends, where no flag says
// how large they are to be: a world costs much under the race detector, and it is
// the long runs that find what is rare.
func Few(t *testing.T, most int) {
	t.Helper()
	const checks = "rapid.checks"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == checks })
	if given {
		return
	}
	f := flag.Lookup(checks)
	usual := f.Value.String()
	t.Cleanup(func() {
		if err := f.Value.Set(usual); err != nil {
			t.Error(err)
		}
	})
	if err := f.Value.Set(strconv.Itoa(most)); err != nil {
		t.Fatal(err)
	}
}

// Goroutines counts those of the bubble it is called in. runtime.NumGoroutine would
// count the runtime's own too, such as the one that runs finalizers, which is there
// now and then.
func Goroutines() int {
	own := make([]byte, 128)
	header, _, _ := strings.Cut(string(own[:runtime.Stack(own, false)]), "]")
	_, bubble, found := strings.Cut(header, "synctest bubble ")
	if !found {
		panic("no bubble in " + header)
	}
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	return strings.Count(string(all), "synctest bubble "+bubble+"]")
}
