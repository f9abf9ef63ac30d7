package lockkit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
)

func TestGiveUpWhenAlive(t *testing.T) {
	for _, c := range []struct {
		name  string
		hint  bool
		reads int
	}{{"with the hint", true, 1}, {"without", false, 2}} {
		t.Run(c.name, func(t *testing.T) {
			for phase := range 20 {
				if !c.hint && phase%4 != 0 {
					continue // taking the stamps away is slow
				}
				inWorld(t, func(w *world) {
					t := w.t
					l := w.acquire(w.process(lockkit.WithHolderLabel("pod-1")))
					defer w.release(l)
					if !c.hint {
						stop := w.dropHints()
						defer stop()
					}
					time.Sleep(lease + time.Duration(phase)*lease/60 + time.Millisecond)
					w.db.ResetRequests()
					var err error
					waited := elapsed(func() {
						_, err = w.process().Acquire(t.Context(), name, lease, lockkit.GiveUpWhenAlive())
					})
					held, ok := errors.AsType[*lockkit.HeldError](err)
					if !ok || !held.Alive || held.Holder != "pod-1" || held.Token != l.Token() || held.Lease != lease {
						t.Fatalf("got %v (%+v), want a live holder", err, held)
					}
					got, limit := w.counts(), 0.40
					if !c.hint {
						limit = 0.70
					}
					if got.refused != 1 || got.reads > c.reads || got.reads < 1 {
						t.Errorf("phase %d: %+v, want 1 refused write and at most %d reads", phase, got, c.reads)
					}
					if part := float64(waited) / float64(lease); part > limit {
						t.Errorf("phase %d: waited %.2f of the lease, want at most %.2f", phase, part, limit)
					}
				})
			}
		})
	}
}

// dropHints makes the holder look like one that leaves no stamps, by taking the
// stamp off the item all the time.
func (w *world) dropHints() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	wait := background(func() {
		for ctx.Err() == nil {
			item := w.item()
			if _, ok := item["at"]; ok {
				delete(item, "at")
				w.plant(item)
			}
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return func() { cancel(); wait() }
}

func TestGiveUpOnSchedule(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		time.Sleep(time.Second)
		w.db.ResetRequests()
		var err error
		waited := elapsed(func() {
			_, err = w.process().Acquire(t.Context(), name, lease, lockkit.GiveUpOnSchedule())
		})
		if held, ok := errors.AsType[*lockkit.HeldError](err); !ok || !held.Alive || waited != 0 || w.counts() != (counts{refused: 1}) {
			t.Errorf("got %v after %s with %+v, want a live holder at once with 1 refused write", err, waited, w.counts())
		}
		w.release(l)

		// Dead, and its stamp still young: given up, which is safe. Then watched.
		dead := w.acquire(w.process())
		w.crash(dead)
		time.Sleep(lease / 4)
		if _, err := w.process().Acquire(t.Context(), name, lease, lockkit.GiveUpOnSchedule()); !errors.Is(err, lockkit.ErrHeld) {
			t.Errorf("got %v, want held", err)
		}
		time.Sleep(lease / 3)
		next, err := w.process().Acquire(t.Context(), name, lease, lockkit.GiveUpOnSchedule())
		if err != nil {
			t.Fatal(err)
		}
		w.release(next)
		<-dead.Done()
	})
}
