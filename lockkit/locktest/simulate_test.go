package locktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

const (
	lockName = "order-sweeper"
	lease    = 30 * time.Second
)

// locksWorld is a table for locks on virtual time, with key names of its own.
type locksWorld struct {
	t      *testing.T
	db     *locktest.DB
	client *dynamodb.Client
}

func onLocks(t *testing.T, f func(*locksWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &locksWorld{t: t, db: locktest.New()}
		w.client = w.db.Client()
		if err := locktest.CreateTable(t.Context(), w.client, table, "id", "range"); err != nil {
			t.Fatal(err)
		}
		f(w)
	})
}

func (w *locksWorld) process(client lockkit.Client, opts ...lockkit.Option) *lockkit.LockTable {
	w.t.Helper()
	locks, err := lockkit.New(client, table, append(opts, lockkit.WithKeys("id", "range"))...)
	if err != nil {
		w.t.Fatal(err)
	}
	return locks
}

func (w *locksWorld) state() lockkit.State {
	w.t.Helper()
	state, err := w.process(w.client).State(w.t.Context(), lockName)
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

func (w *locksWorld) holder(label string) int64 {
	w.t.Helper()
	token, err := locktest.SimulateHolder(w.t.Context(), w.client, table, lockName, lease, label)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

func (w *locksWorld) acquire(locks *lockkit.LockTable) *lockkit.Lease {
	w.t.Helper()
	l, err := locks.Acquire(w.t.Context(), lockName, lease)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func wantReason(t *testing.T, err error, reason lockkit.Reason) {
	t.Helper()
	ended, ok := errors.AsType[*lockkit.EndedError](err)
	if !ok || ended.Reason != reason {
		t.Errorf("the lease ended with %v, want %s", err, reason)
	}
}

func TestSimulateHolder(t *testing.T) {
	onLocks(t, func(w *locksWorld) {
		first := w.holder("another-pod")
		got := w.state()
		if want := (lockkit.State{Exists: true, Held: true, Holder: "another-pod", Lease: lease, Token: first, Version: got.Version}); got != want || got.Version == "" {
			w.t.Errorf("state %+v, want %+v", got, want)
		}
		// It was acquired just now: whoever gives up on a live holder does so at once.
		_, err := w.process(w.client).Acquire(w.t.Context(), lockName, lease, lockkit.GiveUpOnSchedule())
		if !errors.Is(err, lockkit.ErrHeld) {
			w.t.Errorf("acquire: %v", err)
		}
		// It is never renewed: whoever waits takes over after one lease.
		start := time.Now()
		l := w.acquire(w.process(w.client))
		if waited := time.Since(start); waited != lease || l.Token() != first+1 {
			w.t.Errorf("took over after %s with token %d, want %s and %d", waited, l.Token(), lease, first+1)
		}
		// It overwrites a holder, and a label that is not given is not kept.
		second := w.holder("")
		wantReason(w.t, l.Renew(w.t.Context()), lockkit.ReasonTakenOver)
		if s := w.state(); second != first+2 || s.Token != second || s.Holder != "" {
			w.t.Errorf("token %d, state %+v", second, s)
		}
	})
}

func TestSimulateRelease(t *testing.T) {
	onLocks(t, func(w *locksWorld) {
		l := w.acquire(w.process(w.client, lockkit.WithHolderLabel("this-pod")))
		if err := locktest.SimulateRelease(w.t.Context(), w.client, table, lockName); err != nil {
			w.t.Fatal(err)
		}
		wantReason(w.t, l.Renew(w.t.Context()), lockkit.ReasonTakenOver)
		if got, want := w.state(), (lockkit.State{Exists: true, Token: l.Token(), Version: w.state().Version}); got != want {
			w.t.Errorf("state %+v, want %+v", got, want)
		}
		next, err := w.process(w.client).TryAcquire(w.t.Context(), lockName, lease)
		if err != nil || next.Token() != l.Token()+1 {
			w.t.Errorf("next acquire: %v, %v", next, err)
		}
		_ = next.Release(w.t.Context())
		// A lock without an item gets a free one, which costs no token.
		if err := locktest.SimulateRelease(w.t.Context(), w.client, table, "another"); err != nil {
			w.t.Fatal(err)
		}
		if s, err := w.process(w.client).State(w.t.Context(), "another"); err != nil || !s.Exists || s.Held {
			w.t.Errorf("state %+v, %v", s, err)
		}
	})
}

func TestSimulateDelete(t *testing.T) {
	onLocks(t, func(w *locksWorld) {
		l := w.acquire(w.process(w.client))
		for range 2 { // the second finds nothing
			if err := locktest.SimulateDelete(w.t.Context(), w.client, table, lockName); err != nil {
				w.t.Fatal(err)
			}
		}
		if s := w.state(); s != (lockkit.State{}) {
			w.t.Errorf("state %+v", s)
		}
		wantReason(w.t, l.Renew(w.t.Context()), lockkit.ReasonDeleted)
	})
}

func TestSimulateWithoutSortKey(t *testing.T) {
	db := locktest.New()
	client := db.Client()
	if err := locktest.CreateTable(t.Context(), client, table, "id", ""); err != nil {
		t.Fatal(err)
	}
	token, err := locktest.SimulateHolder(t.Context(), client, table, lockName, lease, "")
	if err != nil {
		t.Fatal(err)
	}
	locks, err := lockkit.New(client, table, lockkit.WithKeys("id", ""))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := locks.State(t.Context(), lockName); err != nil || s.Token != token || !s.Held {
		t.Errorf("state %+v, %v", s, err)
	}
}

func TestSimulateFailures(t *testing.T) {
	client := locktest.New().Client()
	for what, simulate := range map[string]func(context.Context) error{
		"holder": func(ctx context.Context) error {
			_, err := locktest.SimulateHolder(ctx, client, table, lockName, lease, "")
			return err
		},
		"release": func(ctx context.Context) error {
			return locktest.SimulateRelease(ctx, client, table, lockName)
		},
		"delete": func(ctx context.Context) error {
			return locktest.SimulateDelete(ctx, client, table, lockName)
		},
	} {
		t.Run(what, func(t *testing.T) {
			wantError(t, simulate(t.Context()), "ResourceNotFoundException", "")
		})
	}
}
