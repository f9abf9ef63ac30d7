package lockkit_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// sentBy reports whether a lease's holder sent the request; a contender's names
// the owner too, as the one it has seen.
func sentBy(r locktest.FaultRequest, l *lockkit.Lease) bool {
	return bytes.Contains(r.Body, []byte(`":lko":{"S":"`+l.Owner()+`"}`))
}

func TestRequestsOfAFreeLock(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		for range 2 { // a new item, and one that a release left
			w.db.ResetRequests()
			l := w.acquire(locks)
			if got := w.counts(); got != (counts{writes: 1}) {
				t.Errorf("acquire: %+v, want 1 write", got)
			}
			w.db.ResetRequests()
			if err := l.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := w.counts(); got != (counts{writes: 1}) {
				t.Errorf("renewal: %+v, want 1 write", got)
			}
			w.db.ResetRequests()
			w.release(l)
			if got := w.counts(); got != (counts{writes: 1}) {
				t.Errorf("release: %+v, want 1 write", got)
			}
		}
	})
}

func TestRenewsThreeTimesPerLease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.db.ResetRequests()
		time.Sleep(10*lease + time.Second)
		if got := w.counts(); got != (counts{writes: 30}) {
			t.Errorf("in 10 leases: %+v, want 30 renewals", got)
		}
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		w.release(l)
	})
}

func TestTryAcquire(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process(lockkit.WithHolderLabel("pod-1")))
		other := w.process()
		_, err := other.TryAcquire(t.Context(), name, lease)
		held, ok := errors.AsType[*lockkit.HeldError](err)
		if !ok || !errors.Is(err, lockkit.ErrHeld) || held.Alive || held.Holder != "pod-1" || held.Token != l.Token() {
			t.Fatalf("got %v, want held by pod-1", err)
		}
		if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "pod-1") || !strings.Contains(err.Error(), table) {
			t.Errorf("%q does not name lock, table and holder", err)
		}
		w.crash(l)
		time.Sleep(lease / 2) // the version seen is the newest from here on
		if _, err := other.TryAcquire(t.Context(), name, lease); !errors.Is(err, lockkit.ErrHeld) {
			t.Fatalf("got %v, want held", err)
		}
		time.Sleep(lease / 2)
		// A process that comes for the first time has seen nothing.
		if _, err := w.process().TryAcquire(t.Context(), name, lease); !errors.Is(err, lockkit.ErrHeld) {
			t.Fatalf("newcomer got %v, want held", err)
		}
		w.db.ResetRequests()
		next, err := other.TryAcquire(t.Context(), name, lease)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.counts(); got != (counts{writes: 1}) {
			t.Errorf("takeover took %+v, want 1 write", got)
		}
		if former, ok := next.Takeover(); !ok || former.Holder != "pod-1" || former.Token != l.Token() {
			t.Errorf("takeover from %+v, want pod-1's", former)
		}
		w.release(next)
		<-l.Done()
	})
}

func TestAcquireWaitsForARelease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		var next *lockkit.Lease
		wait := background(func() { next = w.acquire(w.process()) })
		time.Sleep(10 * time.Minute)
		w.release(l)
		if waited := elapsed(wait); waited > lease/3+time.Second {
			t.Errorf("took a released lock after %s, want the next look", waited)
		}
		if _, ok := next.Takeover(); ok {
			t.Error("a released lock counts as taken over")
		}
		w.release(next)
	})
}

// What a process remembers of a holder is no takeover once others have had the
// lock since, also where the answer that would have told is lost.
func TestAHolderSeenLongAgoIsNotTakenOverByALostAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l, p := w.acquire(w.process()), w.process()
		if _, err := p.TryAcquire(t.Context(), name, lease); !errors.Is(err, lockkit.ErrHeld) {
			t.Fatalf("got %v, want held", err)
		}
		w.release(l)
		w.release(w.acquire(w.process()))
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer})
		next := w.acquire(p)
		if former, ok := next.Takeover(); ok || next.Token() != l.Token()+2 {
			t.Errorf("token %d after %d, taken over from %+v", next.Token(), l.Token(), former)
		}
		w.release(next)
	})
}

func TestAcquireEndsWithItsContext(t *testing.T) {
	cause := errors.New("shutting down")
	for _, c := range []struct {
		name  string
		fault locktest.FaultKind
		after time.Duration
	}{
		{"before the call", locktest.FaultNone, 0},
		{"between looks", locktest.FaultNone, 5 * time.Second},
		{"in a hung request", locktest.FaultBlackHole, 30 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				w.plant(holder("someone", "v1", "7"))
				w.db.Inject(locktest.Fault{Kind: c.fault, Count: -1})
				ctx, cancel := context.WithCancelCause(t.Context())
				if c.after == 0 {
					cancel(cause)
				} else {
					time.AfterFunc(c.after, func() { cancel(cause) })
				}
				var err error
				waited := elapsed(func() { _, err = w.process().Acquire(ctx, name, lease) })
				if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
					t.Errorf("got %v, want the ctx error and its cause", err)
				}
				if waited > c.after+100*time.Millisecond {
					t.Errorf("returned after %s", waited)
				}
				if c.after == 0 && len(w.db.Requests()) != 0 {
					t.Errorf("sent %d requests", len(w.db.Requests()))
				}
				if o := w.item()["owner"].(*types.AttributeValueMemberS).Value; o != "someone" {
					t.Errorf("owner is %s", o)
				}
			})
		})
	}
}

func TestContextBoundsTheWaitOnly(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ctx, cancel := context.WithCancel(t.Context())
		l, err := w.process().Acquire(ctx, name, lease)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(5*lease + time.Second)
		if err := l.Err(); err != nil {
			t.Errorf("the end of the acquire's ctx ended the lease: %v", err)
		}
		if err := l.Release(ctx); err != nil {
			t.Errorf("release under an ended ctx: %v", err)
		}
		if st, _ := w.process().State(t.Context(), name); st.Held {
			t.Error("still held")
		}
	})
}

func TestFiftyContendersOneWins(t *testing.T) {
	for _, c := range []struct {
		name string
		dead bool
	}{{"free", false}, {"due", true}} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				if c.dead {
					w.plant(holder("dead", "v1", "7"))
				}
				var mu sync.Mutex
				holding, most := 0, 0
				var tokens []int64
				var all sync.WaitGroup
				for range 50 {
					all.Go(func() {
						l, err := w.process().Acquire(t.Context(), name, lease)
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						holding++
						most = max(most, holding)
						tokens = append(tokens, l.Token())
						mu.Unlock()
						time.Sleep(time.Second)
						mu.Lock()
						holding--
						mu.Unlock()
						if err := l.Release(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if most != 1 || len(tokens) != 50 {
					t.Errorf("%d held at once, %d in all", most, len(tokens))
				}
				for i := 1; i < len(tokens); i++ {
					if tokens[i] != tokens[i-1]+1 {
						t.Errorf("token %d follows %d", tokens[i], tokens[i-1])
					}
				}
			})
		})
	}
}

func TestTheItemsLeaseCounts(t *testing.T) {
	for _, item := range []time.Duration{3 * time.Second, 90 * time.Second} {
		t.Run(item.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				dead := holder("dead", "v1", "7")
				dead["leaseMs"] = n(strconv.FormatInt(item.Milliseconds(), 10))
				w.plant(dead)
				var l *lockkit.Lease
				waited := elapsed(func() { l = w.acquire(w.process(lockkit.WithTakeoverDelay(time.Second))) })
				if waited != item+time.Second {
					t.Errorf("took over after %s, want %s", waited, item+time.Second)
				}
				w.release(l)
			})
		})
	}
}
