package locktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/lockkit/locktest"
)

// TestFailover is a test as a user of lockkit would write it: minutes of leases,
// waits and takeovers pass, and none of it in real time.
func TestFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, client := t.Context(), shop()
		const lock, lease = "order-sweeper", 30 * time.Second

		// A process crashes as leader: this one leads one lease later.
		if _, err := locktest.SimulateHolder(ctx, client, "shop", lock, lease, "crashed"); err != nil {
			t.Fatal(err)
		}
		one, start := newSweeper(client, "pod-1"), time.Now()
		stopOne := one.start()
		<-one.swept
		if waited := time.Since(start); waited != lease {
			t.Errorf("pod-1 led after %s, want %s", waited, lease)
		}
		// While it renews, the other waits, however long.
		two := newSweeper(client, "pod-2")
		stopTwo := two.start()
		time.Sleep(time.Hour)
		if len(two.swept) > 0 {
			t.Error("pod-2 sweeps beside pod-1")
		}
		// It stops, and the other leads.
		if err := stopOne(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		<-two.swept
		// The lock item is deleted: pod-2 loses its lease and leads again.
		if err := locktest.SimulateDelete(ctx, client, "shop", lock); err != nil {
			t.Fatal(err)
		}
		<-two.swept
		if err := stopTwo(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
