package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// recorder is a test that only notes what is said to it.
type recorder struct {
	testing.TB
	errors, logs []string
}

func (*recorder) Helper() {}

func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

// A failure that is known is told and is no failure; one that is not, and a
// success where a failure is known, are.
func TestKnown(t *testing.T) {
	found := errors.New("the old image is missing")
	for _, c := range []struct {
		found     error
		known     string
		errs, log string
	}{
		{nil, "", "", ""},
		{found, "", "the old image is missing", ""},
		{found, "its issue 7", "", "known: its issue 7: the old image is missing"},
		{nil, "its issue 7", "the endpoint passes, and was known to fail: its issue 7", ""},
	} {
		var r recorder
		judge(&r, c.found, c.known)
		if strings.Join(r.errors, ";") != c.errs || strings.Join(r.logs, ";") != c.log {
			t.Errorf("%v, known %q: errors %q, log %q", c.found, c.known, r.errors, r.logs)
		}
	}
}

func TestKnownNames(t *testing.T) {
	c := config{known: map[string]string{}}
	for _, o := range []Option{Known("old image", "x"), Known("old picture", "x"), OnVirtualTime()} {
		o(&c)
	}
	if got := c.unknown(endpointChecks()); len(got) != 1 || got[0] != "old picture" || !c.bubble {
		t.Errorf("unknown: %q, bubble: %t", got, c.bubble)
	}
	if got := c.unknown(lockChecks()); len(got) != 2 {
		t.Errorf("unknown among the others: %q", got)
	}
}
