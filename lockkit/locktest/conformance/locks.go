package conformance

import (
	"context"
	"errors"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// lease is the shortest there is, as the checks wait for it in real time.
const lease = lockkit.MinLease

// lockChecks are those of lockkit over the endpoint.
func lockChecks() []check {
	return []check{
		{"lock: acquire, renew, release", acquireRenewRelease},
		{"lock: held", heldLock},
		{"lock: held, refused without the item", heldWithoutItem},
		{"lock: one winner", oneWinner},
		{"lock: held check", heldCheck},
		{"lock: taken over", takenOver},
		{"lock: deleted", deleted},
		{"lock: not a lock", notALock},
		{"lock: heartbeat", heartbeat},
		{"lock: takeover", takeover},
		{"lock: failover", failover},
	}
}

// process returns a LockTable as a process of its own has it.
func (b *bench) process(client lockkit.Client, label string) *lockkit.LockTable {
	locks, err := lockkit.New(client, b.table, lockkit.WithHolderLabel(label))
	if !b.ok("New", err) {
		return &lockkit.LockTable{}
	}
	return locks
}

// acquire returns a lease; ok is false when there is none.
func (b *bench) acquire(ctx context.Context, locks *lockkit.LockTable) (l *lockkit.Lease, ok bool) {
	l, err := locks.Acquire(ctx, b.id, lease)
	return l, b.ok("Acquire", err)
}

func (b *bench) release(ctx context.Context, l *lockkit.Lease) { b.ok("Release", l.Release(ctx)) }

// state compares the lock with what it should be, record version aside, and
// returns that.
func (b *bench) state(ctx context.Context, what string, want lockkit.State) (version string) {
	got, err := b.process(b.client, "").State(ctx, b.id)
	b.ok("State", err)
	version = got.Version
	if want.Exists {
		want.Version = version
	}
	if got != want {
		b.errorf("%s: state %+v, want %+v", what, got, want)
	}
	return version
}

// ended notes a lease that has not ended for the reason.
func (b *bench) ended(what string, err error, reason lockkit.Reason) {
	if ended, ok := errors.AsType[*lockkit.EndedError](err); !ok || ended.Reason != reason {
		b.errorf("%s: want a lease that is %s, got: %w", what, reason, err)
	}
}

func acquireRenewRelease(ctx context.Context, b *bench) {
	locks := b.process(b.client, "pod-1")
	b.state(ctx, "before", lockkit.State{})
	l, ok := b.acquire(ctx, locks)
	if !ok {
		return
	}
	held := lockkit.State{Exists: true, Held: true, Holder: "pod-1", Lease: lease, Token: l.Token()}
	before := b.state(ctx, "acquired", held)
	b.ok("Renew", l.Renew(ctx))
	if after := b.state(ctx, "renewed", held); after == before {
		b.errorf("a renewal leaves the record version as it was")
	}
	b.release(ctx, l)
	b.state(ctx, "released", lockkit.State{Exists: true, Token: l.Token()})
	next, ok := b.acquire(ctx, locks)
	if !ok {
		return
	}
	if next.Token() != l.Token()+1 {
		b.errorf("token %d after %d", next.Token(), l.Token())
	}
	b.release(ctx, next)
}

func heldLock(ctx context.Context, b *bench) { b.contend(ctx, b.client) }

// noItems is a client whose refusals bring no item along.
type noItems struct{ lockkit.Client }

func (c noItems) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	plain := *in
	plain.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureNone
	return c.Client.UpdateItem(ctx, &plain, opts...)
}

func heldWithoutItem(ctx context.Context, b *bench) { b.contend(ctx, noItems{b.client}) }

// contend has one process hold the lock and another contend through a client.
func (b *bench) contend(ctx context.Context, contender lockkit.Client) {
	l, ok := b.acquire(ctx, b.process(b.client, "pod-1"))
	if !ok {
		return
	}
	want := lockkit.HeldError{Lock: b.id, Table: b.table, Holder: "pod-1", Token: l.Token(), Lease: lease}
	refused := func(what string, err error) {
		if held, ok := errors.AsType[*lockkit.HeldError](err); !ok || *held != want {
			b.errorf("%s: got: %w, want: %w", what, err, &want)
		}
	}
	other := b.process(contender, "pod-2")
	_, err := other.TryAcquire(ctx, b.id, lease)
	refused("TryAcquire", err)
	want.Alive = true
	_, err = other.Acquire(ctx, b.id, lease, lockkit.GiveUpWhenAlive())
	refused("Acquire", err)
	b.ok("Renew", l.Renew(ctx))
	b.release(ctx, l)
}

func oneWinner(ctx context.Context, b *bench) {
	const contenders = 12
	leases, errs := make([]*lockkit.Lease, contenders), make([]error, contenders)
	var all sync.WaitGroup
	for i := range contenders {
		locks := b.process(b.client, "")
		all.Go(func() { leases[i], errs[i] = locks.TryAcquire(ctx, b.id, lease) })
	}
	all.Wait()
	won := 0
	for i, err := range errs {
		switch {
		case err == nil:
			won++
			b.release(ctx, leases[i])
		case !errors.Is(err, lockkit.ErrHeld):
			b.errorf("TryAcquire: %w", err)
		}
	}
	if won != 1 {
		b.errorf("%d of %d contenders got the lock, want 1", won, contenders)
	}
}

func heldCheck(ctx context.Context, b *bench) {
	l, ok := b.acquire(ctx, b.process(b.client, ""))
	if !ok {
		return
	}
	count := b.key("count")
	b.ok("a transaction of the holder", b.transact(ctx, "", l.ConditionCheck(), b.add(count)))
	b.ok("Renew", l.Renew(ctx))
	b.ok("a transaction after a renewal", b.transact(ctx, "", l.ConditionCheck(), b.add(count)))
	b.release(ctx, l)
	b.wantReasons(b.transact(ctx, "", l.ConditionCheck(), b.add(count)), "ConditionalCheckFailed", "None")
	b.holds(ctx, "what the transactions count", count, with(count, item{"v": n("2")}))
}

func takenOver(ctx context.Context, b *bench) {
	l, ok := b.acquire(ctx, b.process(b.client, ""))
	if !ok {
		return
	}
	token, err := locktest.SimulateHolder(ctx, b.client, b.table, b.id, lease, "pod-2")
	b.ok("SimulateHolder", err)
	if token != l.Token()+1 {
		b.errorf("token %d after %d", token, l.Token())
	}
	b.ended("Renew", l.Renew(ctx), lockkit.ReasonTakenOver)
	b.wantReasons(b.transact(ctx, "", l.ConditionCheck(), b.add(b.key("count"))), "ConditionalCheckFailed", "None")
	b.ended("Release", l.Release(ctx), lockkit.ReasonTakenOver)
	b.state(ctx, "after the release", lockkit.State{Exists: true, Held: true, Holder: "pod-2", Lease: lease, Token: token})
}

func deleted(ctx context.Context, b *bench) {
	locks := b.process(b.client, "")
	l, ok := b.acquire(ctx, locks)
	if !ok {
		return
	}
	b.ok("SimulateDelete", locktest.SimulateDelete(ctx, b.client, b.table, b.id))
	b.ended("Renew", l.Renew(ctx), lockkit.ReasonDeleted)
	b.state(ctx, "after the renewal", lockkit.State{})
	b.wantReasons(b.transact(ctx, "", l.ConditionCheck(), b.add(b.key("count"))), "ConditionalCheckFailed", "None")
	wait(ctx, pause) // tokens go on from the clock, in milliseconds
	next, ok := b.acquire(ctx, locks)
	if !ok {
		return
	}
	if next.Token() <= l.Token() {
		b.errorf("token %d after %d and a deletion", next.Token(), l.Token())
	}
	b.release(ctx, next)
}

func notALock(ctx context.Context, b *bench) {
	foreign := item{"pk": s("LOCK#" + b.id), "sk": s("LOCK"), "_type": s("ORDER"), "total": n("12")}
	b.put(ctx, foreign)
	if _, err := b.process(b.client, "").TryAcquire(ctx, b.id, lease); !errors.Is(err, lockkit.ErrNotALock) {
		b.errorf("TryAcquire: %w, want: %w", err, lockkit.ErrNotALock)
	}
	b.same("the item that is not a lock", b.get(ctx, item{"pk": foreign["pk"], "sk": foreign["sk"]}), foreign)
}
