package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// heartbeat holds a lock for longer than its lease.
func heartbeat(ctx context.Context, b *bench) {
	l, ok := b.acquire(ctx, b.process(b.client, "pod-1"))
	if !ok {
		return
	}
	wait(ctx, 3*lease/2)
	b.ok("the lease after its duration", l.Err())
	b.state(ctx, "after its duration", lockkit.State{Exists: true, Held: true, Holder: "pod-1", Lease: lease, Token: l.Token()})
	b.release(ctx, l)
}

// takeover waits for a holder that never renews.
func takeover(ctx context.Context, b *bench) {
	token, err := locktest.SimulateHolder(ctx, b.client, b.table, b.id, lease, "crashed")
	b.ok("SimulateHolder", err)
	start := time.Now()
	l, ok := b.acquire(ctx, b.process(b.client, ""))
	if !ok {
		return
	}
	// How late it may be depends on the machine; how early does not.
	if waited := time.Since(start); waited < lease {
		b.errorf("taken over after %s, want a whole lease of %s", waited, lease)
	}
	if former, ok := l.Takeover(); !ok || former.Holder != "crashed" || former.Token != token || l.Token() != token+1 {
		b.errorf("token %d, taken over from %+v; want token %d, from %q with token %d", l.Token(), former, token+1, "crashed", token)
	}
	b.release(ctx, l)
}

// failover has a leader stop, and one that waits lead in its place.
func failover(ctx context.Context, b *bench) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watcher := locktest.NewWatcher(b.client)
	first, second := b.process(b.client, "pod-1"), b.process(watcher, "pod-2")
	stop, leading, done := make(chan struct{}), make(chan string), make(chan error, 2)
	lead := func(locks *lockkit.LockTable, until <-chan struct{}) {
		done <- locks.RunAsLeader(ctx, b.id, lease, func(work context.Context) error {
			select {
			case leading <- locks.HolderLabel():
			case <-work.Done():
				return context.Cause(work)
			}
			select {
			case <-until:
				return nil
			case <-work.Done():
				return context.Cause(work)
			}
		})
	}
	expect := func(what string) {
		select {
		case got := <-leading:
			if got != what {
				b.errorf("%s leads, want %s", got, what)
			}
		case <-ctx.Done():
			b.errorf("nobody leads, want %s", what)
		}
	}
	go lead(first, stop)
	expect("pod-1")
	refused := watcher.WaitForRefusal(b.id)
	go lead(second, nil)
	select {
	case <-refused:
	case <-ctx.Done():
		b.errorf("the second contender was never refused")
	}
	close(stop)
	expect("pod-2")
	cancel()
	returned, canceled := 0, 0
	for range 2 {
		if err := <-done; err == nil {
			returned++
		} else if errors.Is(err, context.Canceled) {
			canceled++
		}
	}
	if returned != 1 || canceled != 1 {
		b.errorf("%d elections returned and %d were cancelled, want 1 and 1", returned, canceled)
	}
}
