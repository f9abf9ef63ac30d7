package lockkit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// terms notes the hooks of an election.
type terms struct {
	mu    sync.Mutex
	lines []string
}

func (x *terms) note(line string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lines = append(x.lines, line)
}

func (x *terms) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.lines, " ")
}

func (x *terms) hooks() []lockkit.LeaderOption {
	return []lockkit.LeaderOption{
		lockkit.OnLeading(func(*lockkit.Lease) { x.note("leading") }),
		lockkit.OnNotLeading(func(_ *lockkit.Lease, end lockkit.TermEnd) { x.note(string(end)) }),
	}
}

func TestATermEnds(t *testing.T) {
	errWork := errors.New("bad item")
	for _, c := range []struct {
		name string
		work func(ctx context.Context, cancel func()) error
		want error
		end  string
	}{
		{"the work returns", func(context.Context, func()) error { return nil }, nil, "work_returned"},
		{"the work fails", func(context.Context, func()) error { return errWork }, errWork, "work_failed"},
		{"the caller cancels", func(ctx context.Context, cancel func()) error { cancel(); <-ctx.Done(); return nil }, context.Canceled, "cancelled"},
		{"the caller cancels and the work fails", func(ctx context.Context, cancel func()) error { cancel(); <-ctx.Done(); return errWork }, context.Canceled, "cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var seen terms
				err := w.process().RunAsLeader(ctx, name, lease, func(ctx context.Context) error {
					seen.note("work")
					if _, held := w.item()["owner"]; !held {
						t.Error("works without the lock")
					}
					return c.work(ctx, cancel)
				}, seen.hooks()...)
				if !errors.Is(err, c.want) || c.want == errWork && err != errWork { //nolint:errorlint // returned unchanged
					t.Errorf("returned %v, want %v", err, c.want)
				}
				if got := seen.String(); got != "leading work "+c.end {
					t.Errorf("saw %q", got)
				}
				if st, _ := w.process().State(t.Context(), name); st.Held {
					t.Error("the lock is still held")
				}
			})
		})
	}
}

func TestALostLeaseStartsAnotherTerm(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		var seen terms
		round := 0
		err := w.process().RunAsLeader(t.Context(), name, lease, func(ctx context.Context) error {
			if round++; round == 3 {
				return nil
			}
			w.plant(holder("other", "v", "99"))
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), lockkit.ErrLeaseLost) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			time.Sleep(2 * lease) // slow to stop: the election waits for it
			seen.note("stopped")
			return errors.New("after the loss, nobody hears it")
		}, seen.hooks()...)
		if err != nil {
			t.Error(err)
		}
		if got := seen.String(); got != "leading stopped lease_lost leading stopped lease_lost leading work_returned" {
			t.Errorf("saw %q", got)
		}
	})
}

func TestAPanicReleasesAndPropagates(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		var seen terms
		func() {
			defer func() {
				if v := recover(); v != "boom" {
					t.Errorf("recovered %v", v)
				}
			}()
			_ = w.process().RunAsLeader(t.Context(), name, lease, func(context.Context) error { panic("boom") }, seen.hooks()...)
		}()
		if got := seen.String(); got != "leading work_failed" {
			t.Errorf("saw %q", got)
		}
		if st, _ := w.process().State(t.Context(), name); st.Held {
			t.Error("the lock is still held")
		}
	})
}

func TestElectionErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(w *world)
		table string
		want  any
	}{
		{"a missing table", func(*world) {}, "nowhere", new(*types.ResourceNotFoundException)},
		{"no permission", func(w *world) {
			w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1})
		}, table, nil},
		{"not a lock", func(w *world) { w.plant(nil) }, table, new(*lockkit.NotALockError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				c.do(w)
				locks, err := lockkit.New(w.client, c.table)
				if err != nil {
					t.Fatal(err)
				}
				err = locks.RunAsLeader(t.Context(), name, lease, func(context.Context) error { t.Error("the work ran"); return nil })
				e, ok := errors.AsType[*lockkit.ElectionError](err)
				if !ok || e.Lock != name || e.Table != c.table {
					t.Fatalf("got %v, want an error of the election", err)
				}
				if c.want != nil && !errors.As(err, c.want) {
					t.Errorf("%v does not hold its cause", err)
				}
			})
		})
	}
	inWorld(t, func(w *world) {
		if err := w.process().RunAsLeader(w.t.Context(), name, time.Millisecond, nil); err == nil || !strings.Contains(err.Error(), "1ms") {
			w.t.Errorf("a lease of 1ms: %v", err)
		}
	})
}

// An outage is ridden out with a try every third of a lease, and logged once.
func TestElectionRidesOutAnOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		var log logged
		stop := w.db.Inject(locktest.Fault{Kind: locktest.FaultFailBefore, Count: -1})
		time.AfterFunc(5*time.Minute, stop)
		var took time.Duration
		began := time.Now()
		err := w.process(lockkit.WithLogger(log.logger())).RunAsLeader(t.Context(), name, lease, func(context.Context) error {
			took = time.Since(began)
			return nil
		})
		if err != nil || took < 5*time.Minute || took > 5*time.Minute+lease/3+time.Second {
			t.Errorf("led after %s: %v", took, err)
		}
		if got := log.ids(); !slices.Equal(got, []int64{44, 49, 45, 46}) {
			t.Errorf("logged %v", got)
		}
	})
}

// A standby of ten minutes is as quick as one of ten seconds.
func TestStandbyTakesARelease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var led time.Time
		wait := background(func() {
			_ = w.process().RunAsLeader(ctx, name, lease, func(context.Context) error { led = time.Now(); return nil })
		})
		time.Sleep(10 * time.Minute)
		released := time.Now()
		w.release(l)
		wait()
		if d := led.Sub(released); d > lease/3+time.Second {
			t.Errorf("led %s after the release", d)
		}
	})
}

func TestConditionCheckFromContext(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		if _, err := lockkit.ConditionCheckFromContext(t.Context()); !errors.Is(err, lockkit.ErrNoLease) {
			t.Errorf("without a lease: %v", err)
		}
		token := func(ctx context.Context) string {
			check, err := lockkit.ConditionCheckFromContext(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return check.ConditionCheck.ExpressionAttributeValues[":lkf"].(*types.AttributeValueMemberN).Value +
				check.ConditionCheck.Key["pk"].(*types.AttributeValueMemberS).Value
		}
		err := w.process().RunAsLeader(t.Context(), "outer", lease, func(outer context.Context) error {
			was := token(outer)
			err := w.process().RunAsLeader(outer, "inner", lease, func(inner context.Context) error {
				if got := token(inner); !strings.HasSuffix(got, "LOCK#inner") {
					t.Errorf("inside: %s", got)
				}
				return nil
			})
			if token(outer) != was {
				t.Error("the outer term lost its lease to the inner")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestGuaranteeLeaderLockOutlastsWork(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		owner := func() string {
			o, _ := w.item()["owner"].(*types.AttributeValueMemberS)
			if o == nil {
				return ""
			}
			return o.Value
		}
		// The work ignores the end of its context for three leases, at the caller's
		// cancel and at its own end alike.
		for _, cancelled := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			err := w.process().RunAsLeader(ctx, name, lease, func(context.Context) error {
				mine := owner()
				if cancelled {
					cancel()
				}
				time.Sleep(3 * lease)
				if mine == "" || owner() != mine {
					t.Errorf("the lock of a running work went from %q to %q", mine, owner())
				}
				return nil
			})
			cancel()
			if cancelled != errors.Is(err, context.Canceled) || owner() != "" {
				t.Errorf("cancelled %t: returned %v, owner %q", cancelled, err, owner())
			}
		}
		// Every try of the acquire is applied, and its answer comes after the lease.
		stop := w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Wait: 2500 * time.Millisecond, Count: 3})
		defer stop()
		began := time.Now()
		err := w.process().RunAsLeader(t.Context(), name, 2*time.Second, func(ctx context.Context) error {
			if ctx.Err() != nil || time.Since(began) < 2*time.Second {
				t.Errorf("a term began after %s with %v", time.Since(began), context.Cause(ctx))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
