//go:build integration

package integration

import (
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// leaveIdle uses the lock until one connection is left open and idle. The SDK
// sometimes drops one although it could go on.
func leaveIdle(t *testing.T, w *wire, locks *lockkit.LockTable, name string) {
	t.Helper()
	for range 10 {
		l, _, _ := acquire(t, locks, name, lease)
		release(t, l)
		time.Sleep(50 * time.Millisecond) // for a connection that the client has closed to go
		if w.open() == 1 {
			return
		}
	}
	t.Fatalf("%d connections are open, want the idle one", w.open())
}

// What happens to idle connections while a process is frozen between two
// invocations costs the next acquire one quick try.
func TestAnAcquireOverAConnectionThatDiedIdle(t *testing.T) {
	url := endpoint(t)
	table := newTable(t, url)
	for _, c := range []struct {
		name  string
		harm  func(*wire)
		lease time.Duration
		limit time.Duration // of the acquire; a machine under load is slow
	}{
		{"closed", (*wire).closeAll, lease, lease},
		{"reset", (*wire).resetAll, lease, lease},
		{"forgotten", (*wire).forgetAll, lease, lease},
		{"forgotten, long lease", (*wire).forgetAll, 30 * time.Second, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t, url)
			var f freezer
			locks := process(t, plainClient(w.url, f.transport()), table)
			leaveIdle(t, w, locks, c.name)
			f.freeze(true)
			c.harm(w)
			time.Sleep(20 * time.Millisecond) // the news is with the process's machine
			before := w.requests()
			l, requests, took := acquire(t, locks, c.name, c.lease)
			f.freeze(false)
			t.Logf("%d requests, %d of which reached the wire, in %s", requests, w.requests()-before, took)
			if requests != 2 || took > c.limit {
				t.Errorf("acquired with %d requests in %s, want one that fails and a quick retry within %s", requests, took, c.limit)
			}
			time.Sleep(2 * lease)
			if err := l.Err(); err != nil {
				t.Error(err)
			}
			release(t, l)
			if st := state(t, url, table, c.name); st.Held || st.Token != l.Token() {
				t.Errorf("released token %d, and the lock says %+v", l.Token(), st)
			}
		})
	}
}
