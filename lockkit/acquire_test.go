package lockkit_test

import (
	"bytes"
	"context"
	"errors"
	"math"
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
		time.Sleep(5 * lease)
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

func TestNotALock(t *testing.T) {
	for _, c := range []struct {
		name string
		item map[string]types.AttributeValue
		want string
	}{
		{"an item with only its key", nil, "_type"},
		{"an entity", map[string]types.AttributeValue{"_type": s("ORDER")}, "_type"},
		{"an owner without a type", map[string]types.AttributeValue{"owner": s("o")}, "_type"},
		{"an owner and no version", map[string]types.AttributeValue{"_type": s("LOCK"), "owner": s("o"), "fence": n("1"), "leaseMs": n("1000")}, "rvn"},
		{"an owner and no lease", map[string]types.AttributeValue{"_type": s("LOCK"), "owner": s("o"), "rvn": s("v"), "fence": n("1")}, "leaseMs"},
		{"an owner and no token", map[string]types.AttributeValue{"_type": s("LOCK"), "owner": s("o"), "rvn": s("v"), "leaseMs": n("1000")}, "fence"},
		{"a number as owner", map[string]types.AttributeValue{"_type": s("LOCK"), "owner": n("5"), "rvn": s("v"), "fence": n("1"), "leaseMs": n("1000")}, "owner"},
		{"a lease of 0", with(holder("o", "v", "1"), "leaseMs", n("0")), "leaseMs"},
		{"a negative lease", with(holder("o", "v", "1"), "leaseMs", n("-5")), "leaseMs"},
		{"a lease of 1e18", with(holder("o", "v", "1"), "leaseMs", n("1000000000000000000")), "leaseMs"},
		{"a string as lease", with(holder("o", "v", "1"), "leaseMs", s("30000")), "leaseMs"},
		{"a string as token", map[string]types.AttributeValue{"_type": s("LOCK"), "fence": s("1")}, "fence"},
		{"a fraction as token", with(holder("o", "v", "1"), "fence", n("1.5")), "fence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				w.plant(c.item)
				before := w.item()
				for range 2 {
					_, err := w.process().Acquire(t.Context(), name, lease)
					bad, ok := errors.AsType[*lockkit.NotALockError](err)
					if !ok || !errors.Is(err, lockkit.ErrNotALock) || bad.Lock != name || bad.Table != table || !strings.Contains(bad.Why, c.want) {
						t.Fatalf("got %v, want not a lock, naming %s", err, c.want)
					}
				}
				if _, err := w.process().State(t.Context(), name); !errors.Is(err, lockkit.ErrNotALock) {
					t.Errorf("state: %v", err)
				}
				same(t, before, w.item())
			})
		})
	}
}

func with(item map[string]types.AttributeValue, attribute string, v types.AttributeValue) map[string]types.AttributeValue {
	item[attribute] = v
	return item
}

func TestBadInput(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		for _, c := range []struct {
			name  string
			lock  string
			lease time.Duration
			want  string
		}{
			{"empty name", "", lease, "empty"},
			{"name too long", strings.Repeat("x", 2044), lease, "2044 bytes"},
			{"name that is not UTF-8", "a\xffb", lease, "UTF-8"},
			{"short lease", name, 500 * time.Millisecond, "lease of 500ms: expected 1s to 24h"},
			{"long lease", name, 25 * time.Hour, "25h"},
			{"no lease", name, 0, "lease of 0s"},
			{"negative lease", name, -time.Second, "-1s"},
			{"lease in nanoseconds", name, time.Second + 1, "milliseconds"},
		} {
			if _, err := locks.Acquire(t.Context(), c.lock, c.lease); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
			}
			if _, err := locks.TryAcquire(t.Context(), c.lock, c.lease); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: try got %v, want an error with %q", c.name, err, c.want)
			}
		}
		if got := len(w.db.Requests()); got != 0 {
			t.Errorf("bad input cost %d requests", got)
		}
		for _, ok := range []string{"a", strings.Repeat("x", 2043), "日本/ü#:.", "a b", "a#b", "nul\x00byte"} {
			l, err := locks.Acquire(t.Context(), ok, lease)
			if err != nil {
				t.Errorf("%.20q: %v", ok, err)
				continue
			}
			w.release(l)
		}
	})
}

func TestMissingTable(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks, err := lockkit.New(w.client, "nowhere")
		if err != nil {
			t.Fatal(err)
		}
		_, err = locks.Acquire(t.Context(), name, lease)
		if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok || !strings.Contains(err.Error(), `"nowhere"`) || !strings.Contains(err.Error(), "create it") {
			t.Errorf("got %v, want an error that names the table and what to do", err)
		}
	})
}

func TestOptionsAreChecked(t *testing.T) {
	client := locktest.New().Client()
	for _, c := range []struct {
		name   string
		option lockkit.Option
		want   string
	}{
		{"no partition key", lockkit.WithKeys("", "sk"), "partition key"},
		{"same keys", lockkit.WithKeys("a", "a"), `"a"`},
		{"a lock attribute as key", lockkit.WithKeys("owner", ""), `"owner"`},
		{"a long label", lockkit.WithHolderLabel(strings.Repeat("ü", 257)), "257"},
		{"a key as TTL", lockkit.WithTTL("pk", 0), `"pk"`},
		{"a lock attribute as TTL", lockkit.WithTTL("cursor", 0), `"cursor"`},
		{"a short retention", lockkit.WithTTL("expires", time.Hour), "1h0m0s"},
		{"a negative delay", lockkit.WithTakeoverDelay(-1), "takeover delay"},
		{"half a lease of margin", lockkit.WithSafetyMargin(0.5), "0.5"},
		{"a margin that is no number", lockkit.WithSafetyMargin(math.NaN()), "NaN"},
		{"a tiny interval", lockkit.WithPollInterval(time.Millisecond), "1ms"},
	} {
		if _, err := lockkit.New(client, table, c.option); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	if _, err := lockkit.New(nil, ""); err == nil || !strings.Contains(err.Error(), "client is nil") || !strings.Contains(err.Error(), "table name is empty") {
		t.Errorf("got %v, want both faults", err)
	}
}

func TestKeepTrying(t *testing.T) {
	for _, kind := range []locktest.FaultKind{locktest.FaultFailBefore, locktest.FaultDropAnswer, locktest.FaultThrottle, locktest.FaultBlackHole} {
		t.Run(kind.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				stop := w.db.Inject(locktest.Fault{Kind: kind, Count: -1})
				if _, err := w.process().Acquire(t.Context(), name, lease); !lockkit.IsTransient(err) {
					t.Fatalf("without the option: %v, want a failure that may pass", err)
				}
				stop()
				_ = w.db.Delete(table, key())
				stop = w.db.Inject(locktest.Fault{Kind: kind, Count: -1})
				time.AfterFunc(20*time.Second, stop)
				var l *lockkit.Lease
				waited := elapsed(func() { l = w.acquire(w.process(), lockkit.KeepTrying()) })
				if waited > 25*time.Second || l.Err() != nil {
					t.Errorf("acquired after %s: %v", waited, l.Err())
				}
				w.release(l)
			})
		})
	}
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1})
		if _, err := w.process().Acquire(w.t.Context(), name, lease, lockkit.KeepTrying()); err == nil || lockkit.IsTransient(err) {
			w.t.Errorf("an error that stays: %v", err)
		}
	})
}
