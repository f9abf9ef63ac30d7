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

func TestOnHeldSeesEachLookAndDecides(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process(lockkit.WithHolderLabel("pod-1")))
		defer w.release(l)
		time.Sleep(time.Second)
		w.db.ResetRequests()
		var seen []lockkit.Sighting
		_, err := w.process().Acquire(t.Context(), name, lease, lockkit.OnHeld(func(ctx context.Context, s lockkit.Sighting) bool {
			if ctx.Err() != nil {
				t.Error("its ctx has ended")
			}
			seen = append(seen, s)
			time.Sleep(time.Second) // a request, say
			return len(seen) == 3
		}))
		if held, ok := errors.AsType[*lockkit.HeldError](err); !ok || !held.Alive || held.Token != l.Token() {
			t.Fatalf("got %v, want held by a live holder", err)
		}
		if got := w.counts(); got.refused != 1 || got.reads != 2 || len(seen) != 3 {
			t.Errorf("%+v with %d calls, want one call for the refused write and for each of two reads", got, len(seen))
		}
		for i, s := range seen {
			if s.Owner != l.Owner() || s.Holder != "pod-1" || s.Token != l.Token() || s.Lease != lease || s.Item[lockkit.AttrOwner] == nil || s.Alive != (i > 0) || !s.OnSchedule {
				t.Errorf("look %d: %+v", i, s)
			}
		}
	})
}

// What a judge takes is no silence of the holder's: a takeover waits for a whole
// lease after the last look, and not less.
func TestOnHeldDelaysNoTakeoverAndHastensNone(t *testing.T) {
	for _, pause := range []time.Duration{0, lease / 2, 2 * lease} {
		inWorld(t, func(w *world) {
			t := w.t
			dead := w.acquire(w.process())
			w.crash(dead)
			looks := 0
			var next *lockkit.Lease
			waited := elapsed(func() {
				var err error
				next, err = w.process().Acquire(t.Context(), name, lease, lockkit.OnHeld(func(_ context.Context, s lockkit.Sighting) bool {
					if s.Alive {
						t.Error("a dead holder is called alive")
					}
					if looks++; looks == 1 {
						time.Sleep(pause)
					}
					return false
				}))
				if err != nil {
					t.Fatal(err)
				}
			})
			if want := max(pause, lease); waited < want || waited > want+lease/10 {
				t.Errorf("took over after %s, want %s", waited, want)
			}
			w.release(next)
			<-dead.Done()
		})
	}
}
