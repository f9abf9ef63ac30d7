package lockkit_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// contention is an acquire under way.
type contention struct {
	since time.Duration
	extra time.Duration // how much later than need be it may look
}

// kill ends a process for good; another one takes its place. Callers hold mu.
func (w *simWorld) kill(p *simProcess, rest int) {
	if p.freeze(dead) {
		w.tell("process %d: dies", p.id)
		w.spawn(p.slot, p.cfg, rest)
	}
}

// live is what a process does until ctx ends or it dies.
func (p *simProcess) live(ctx context.Context) {
	defer close(p.done)
	for i := 0; ctx.Err() == nil; i++ {
		r := p.cfg.Rounds[i%len(p.cfg.Rounds)]
		if l := p.contend(ctx, r); l != nil {
			h := p.w.watch(p, l)
			p.use(ctx, h, r)
			if !p.leave(ctx, h, r) {
				return
			}
		}
		if !p.sleep(ctx, p.w.plan.units(r.Rest+2)) {
			return
		}
	}
}

// contend tries to get the lock in the round's way, as long as its patience lasts.
func (p *simProcess) contend(ctx context.Context, r simRound) *lockkit.Lease {
	w := p.w
	patience, stop := context.WithTimeout(ctx, w.plan.units(r.Patience))
	defer stop()
	duration := max(w.plan.Lease*time.Duration(r.Lease)/4, lockkit.MinLease)
	c := &contention{since: w.now(), extra: w.plan.units(p.cfg.Interval) + 8*(p.cfg.Out+p.cfg.Back)}
	var opts []lockkit.AcquireOption
	switch r.How {
	case byAliveness:
		opts = append(opts, lockkit.GiveUpWhenAlive())
	case bySchedule:
		opts = append(opts, lockkit.GiveUpOnSchedule())
	case byTries:
		c.extra += w.plan.Lease / 2
	default:
	}
	w.mu.Lock()
	p.contends = c
	changes := w.ledger.changes
	w.mu.Unlock()
	until := func() []lockkit.AcquireOption {
		if w.plan.Flavour != bounded || w.isCalm() {
			return opts
		}
		_, wall := p.now()
		return append(slices.Clip(opts), lockkit.Until(wall.Add(duration*2)))
	}
	get := func() (*lockkit.Lease, error) { return p.locks.Acquire(patience, name, duration, until()...) }
	if r.How == byTries {
		get = func() (*lockkit.Lease, error) {
			for {
				l, err := p.locks.TryAcquire(patience, name, duration, until()...)
				if l != nil || !errors.Is(err, lockkit.ErrHeld) || !p.sleep(patience, w.plan.Lease/4) {
					return l, err
				}
			}
		}
	}
	l, err := get()
	w.mu.Lock()
	defer w.mu.Unlock()
	p.contends = nil
	if state, _ := p.status(); err == nil || state == dead {
		return l
	}
	held, ok := errors.AsType[*lockkit.HeldError](err)
	switch {
	case ok && held.Alive && r.How == byAliveness:
		w.ledger.alive(p.id, w.ledger.changes-changes)
	case ok || patience.Err() != nil || p.disturbedSince(c.since):
	default:
		w.ledger.broken(answersTrue, "an acquire of process %d failed with nothing in its way: %v", p.id, err)
	}
	return nil
}

// leave ends the round. It reports false when the process is gone.
func (p *simProcess) leave(ctx context.Context, h *simHold, r simRound) bool {
	w := p.w
	if !p.gate() {
		return false
	}
	defer h.release()
	w.mu.Lock()
	if r.End == endDie && ctx.Err() == nil {
		w.kill(p, r.Rest)
		w.mu.Unlock()
		return false
	}
	h.givingBack = true
	w.mu.Unlock()
	given := context.WithoutCancel(ctx)
	if r.End == endReleaseCancelled {
		var cancel context.CancelFunc
		given, cancel = context.WithCancel(given)
		cancel()
	}
	err := h.lease.Release(given)
	if state, _ := p.status(); state == dead {
		return false
	}
	w.mu.Lock()
	w.tell("process %d: released token %d: %v", p.id, h.lease.Token(), err)
	if err == nil {
		w.ledger.gaveBack(h.lease.Owner())
		if lockkit.Believes(h.lease) {
			w.ledger.broken(endedStays, "process %d believes in a lease it has released", p.id)
		}
	}
	w.mu.Unlock()
	if r.End != endReleaseTwice {
		return true
	}
	if again := h.lease.Release(given); err == nil && again != nil && p.gate() {
		w.blame(answersTrue, "process %d: a second release says %v after a first that succeeded", p.id, again)
	}
	return true
}

func (w *simWorld) blame(of invariant, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledger.broken(of, format, args...)
}
