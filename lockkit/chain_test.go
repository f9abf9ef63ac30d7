package lockkit

import (
	"testing"
	"time"
)

func TestChain(t *testing.T) {
	var c chain
	start := time.Now()
	for i, v := range []string{"a", "b", "c", "d"} {
		c.add(v, moment{mono: start.Add(time.Duration(i) * time.Second)})
	}
	c.confirm("b")
	for v, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true, "x": false} {
		if _, ok := c.sent(v); ok != want {
			t.Errorf("%s in the chain: %t, want %t", v, ok, want)
		}
	}
	if sent, _ := c.sent("c"); !sent.mono.Equal(start.Add(2 * time.Second)) {
		t.Errorf("c was sent at %s", sent.mono)
	}
	c.confirm("x") // unknown: nothing
	c.confirm("d")
	if len(c.tries) != 1 || c.tries[0].version != "d" {
		t.Errorf("%+v", c.tries)
	}
}

// A machine that was suspended has a monotonic clock that stood still; one whose
// clock was set has a wall clock that jumped. Either ends a lease.
func TestEitherClockEndsALease(t *testing.T) {
	const lease = 10 * time.Second
	for _, c := range []struct {
		name            string
		monotonic, wall time.Duration
		left            time.Duration
	}{
		{"both", 3 * time.Second, 3 * time.Second, 6 * time.Second},
		{"suspended", 3 * time.Second, 30 * time.Second, -21 * time.Second},
		{"clock set back", 3 * time.Second, -time.Hour, 6 * time.Second},
		{"clock set forward", time.Second, time.Hour, 9*time.Second - time.Hour},
	} {
		l := &Lease{t: &LockTable{cfg: config{margin: 0.1}}, duration: lease}
		if got := l.leftBy(c.monotonic, c.wall); got != c.left {
			t.Errorf("%s: %s left, want %s", c.name, got, c.left)
		}
	}
}
