package locktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// closed reports whether a channel is closed, once everybody waits.
func closed(c <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Each way to be turned away ends the wait once, and the next wait ends at the
// next refusal.
func TestWaitForRefusal(t *testing.T) {
	onLocks(t, func(w *locksWorld) {
		w.holder("another-pod")
		watcher := locktest.NewWatcher(w.client)
		locks := w.process(watcher)
		other := watcher.WaitForRefusal("another-lock")

		// A write refused, and, with the holder known, a read.
		for range 2 {
			refused := watcher.WaitForRefusal(lockName)
			if closed(refused) {
				w.t.Fatal("closed before a try")
			}
			if _, err := locks.TryAcquire(w.t.Context(), lockName, lease); !errors.Is(err, lockkit.ErrHeld) {
				w.t.Fatal(err)
			}
			if !closed(refused) {
				w.t.Error("not closed by a TryAcquire that was refused")
			}
		}
		// The looks of an election that waits on, two waits at a time.
		ctx, cancel := context.WithCancel(w.t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			done <- locks.RunAsLeader(ctx, lockName, lease, func(context.Context) error { return nil })
		}()
		for range 2 {
			one, two := watcher.WaitForRefusal(lockName), watcher.WaitForRefusal(lockName)
			<-one
			<-two
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			w.t.Error(err)
		}
		if closed(other) {
			w.t.Error("another lock's wait has ended")
		}
	})
}

// Where the endpoint brings no item with a refusal, the read that follows counts.
func TestWaitForRefusalWithoutTheItem(t *testing.T) {
	onLocks(t, func(w *locksWorld) {
		w.holder("")
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultError, Code: "ConditionalCheckFailedException"})
		watcher := locktest.NewWatcher(w.client)
		refused := watcher.WaitForRefusal(lockName)
		_, _ = w.process(watcher).TryAcquire(w.t.Context(), lockName, lease)
		if !closed(refused) {
			w.t.Error("not closed")
		}
	})
}

// What is no refusal of a try leaves the wait open: an acquire that succeeds,
// one that meets its own success, renewals, releases, and their refusals.
func TestWaitForRefusalIgnoresTheRest(t *testing.T) {
	onLocks(t, func(w *locksWorld) {
		watcher := locktest.NewWatcher(w.client)
		locks := w.process(watcher)
		refused := watcher.WaitForRefusal(lockName)
		l := w.acquire(locks)
		time.Sleep(lease)
		if err := l.Release(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		// The answer is lost, and the second send meets the first one's item; then
		// also without the item, so that a read has to tell.
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer})
		l = w.acquire(locks)
		_ = l.Release(w.t.Context())
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer})
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultError, Code: "ConditionalCheckFailedException"})
		l = w.acquire(locks)
		if closed(refused) {
			w.t.Fatal("closed without a refusal")
		}
		w.holder("another-pod")
		wantReason(w.t, l.Renew(w.t.Context()), lockkit.ReasonTakenOver)
		if err := l.Release(w.t.Context()); err == nil {
			w.t.Error("released")
		}
		if closed(refused) {
			w.t.Error("closed by a renewal or a release")
		}
	})
}

// One process may hold a lock and contend for it too.
func TestWaitForRefusalByItself(t *testing.T) {
	onLocks(t, func(w *locksWorld) {
		watcher := locktest.NewWatcher(w.client)
		locks := w.process(watcher)
		l := w.acquire(locks)
		for range 2 {
			refused := watcher.WaitForRefusal(lockName)
			_, _ = locks.TryAcquire(w.t.Context(), lockName, lease)
			if !closed(refused) {
				w.t.Error("not closed")
			}
		}
		_ = l.Release(w.t.Context())
	})
}
