package lockkit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/internal/trial"
	"github.com/solotick/solotick/lockkit/locktest"
)

// However often a lease is lost to an endpoint that answers slower than the
// heartbeat asks, nothing of it is left.
func TestManyLostLeasesLeaveNoGoroutine(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		synctest.Wait()
		before := trial.Goroutines()
		for i := range 500 {
			l := w.acquire(locks)
			ctx, cancel := l.Context(t.Context())
			slow := w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDelay, Wait: 2 * lease / 3, Count: -1})
			switch i % 3 {
			case 0: // lost, and released in vain
				<-ctx.Done()
				if err := l.Release(t.Context()); err == nil {
					t.Fatalf("cycle %d: a release without an answer is no error", i)
				}
				slow()
			case 1: // lost, and released
				<-ctx.Done()
				slow()
				w.release(l)
			case 2: // released in the middle of a heartbeat that hangs
				time.Sleep(lease/2 + time.Duration(i)*time.Millisecond)
				slow()
				w.release(l)
			}
			if i%2 == 0 {
				cancel() // without it, the end of the lease frees the context
			}
			_ = cancel
		}
		time.Sleep(lease) // requests that were given up are gone by then
		synctest.Wait()
		if after := trial.Goroutines(); after > before {
			t.Errorf("%d goroutines, %d before", after, before)
		}
	})
}

// Of several locks each is released for itself: one that cannot be does not keep
// the others, and what was answered is not asked again.
func TestOneReleaseThatFailsDoesNotKeepTheOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		var leases []*lockkit.Lease
		for i := range 3 {
			l, err := locks.Acquire(t.Context(), fmt.Sprint("lock ", i+1), lease)
			if err != nil {
				t.Fatal(err)
			}
			leases = append(leases, l)
		}
		stop := w.db.Inject(locktest.Fault{
			Operation: "UpdateItem", Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1,
			Match: func(r locktest.FaultRequest) bool { return sentBy(r, leases[1]) },
		})
		releaseAll := func() error {
			var errs []error
			for _, l := range leases {
				errs = append(errs, l.Release(t.Context()))
			}
			return errors.Join(errs...)
		}
		if err := releaseAll(); err == nil || !strings.Contains(err.Error(), `"lock 2"`) || strings.Contains(err.Error(), `"lock 1"`) || strings.Contains(err.Error(), `"lock 3"`) {
			t.Errorf("released with %v, want an error about lock 2 alone", err)
		}
		for i, l := range leases {
			if st, err := locks.State(t.Context(), l.Name()); err != nil || st.Held != (i == 1) {
				t.Errorf("%s is %+v, %v", l.Name(), st, err)
			}
			if !errors.Is(l.Err(), lockkit.ErrReleased) {
				t.Errorf("the lease on %s is %v", l.Name(), l.Err())
			}
		}
		stop()
		w.db.ResetRequests()
		for range 2 { // the one without an answer is sent again, once
			if err := releaseAll(); err != nil {
				t.Error(err)
			}
		}
		if got := w.counts(); got != (counts{writes: 1}) {
			t.Errorf("further releases took %+v, want one write", got)
		}
	})
}

// Everything that a lease offers, and its own heartbeat, at once. It is for the race
// detector as much as for what it checks.
func TestALeaseInManyHands(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for round := range 20 {
		inWorld(t, func(w *world) {
			t := w.t
			rng := rand.New(rand.NewPCG(seed, uint64(round)))
			l, err := w.process().Acquire(t.Context(), name, lockkit.MinLease)
			if err != nil {
				t.Fatal(err)
			}
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultThrottle, Skip: 2, Count: 1})
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDelayAnswer, Wait: 7 * time.Millisecond, Count: -1})
			w.db.ResetRequests()
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for l.Err() == nil {
						ctx, cancel := l.Context(t.Context())
						_, _ = l.Token(), l.Owner()
						_, _ = l.Takeover()
						_ = l.ConditionCheck()
						select {
						case <-l.Done():
						case <-ctx.Done():
						case <-time.After(3 * time.Millisecond):
						}
						cancel()
					}
				})
			}
			for range 2 { // seldom enough for the heartbeat to have its turns
				pause := time.Duration(300+rng.IntN(500)) * time.Millisecond
				all.Go(func() {
					for l.Err() == nil {
						time.Sleep(pause)
						_ = l.Renew(t.Context())
					}
				})
			}
			all.Go(func() { _ = l.Transact(t.Context(), count()) })
			time.Sleep(2*time.Second + time.Duration(rng.IntN(1000))*time.Millisecond)
			if err := l.Err(); err != nil {
				t.Error(err)
			}
			if n := len(w.db.Requests()); n < 6 {
				t.Errorf("%d requests: the heartbeat did not run", n)
			}
			for range 3 {
				all.Go(func() { w.releaseQuietly(l) })
			}
			all.Wait()
			if st, err := w.process().State(context.WithoutCancel(t.Context()), name); err != nil || st.Held || st.Token != l.Token() {
				t.Errorf("the lock is left as %+v, %v", st, err)
			}
		})
	}
}

// releaseQuietly releases from a goroutine that is not the test's own.
func (w *world) releaseQuietly(l *lockkit.Lease) {
	if err := l.Release(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}
