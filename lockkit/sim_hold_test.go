package lockkit_test

import (
	"context"
	"errors"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// tolerance is what roundings of scaled clocks may add up to.
const tolerance = 100 * time.Microsecond

// simHold is a lease that a process was given, as it is watched.
type simHold struct {
	p     *simProcess
	lease *lockkit.Lease
	limit time.Duration // how long after a send its holder may believe
	got   time.Time

	ctx     context.Context // of Lease.Context
	release context.CancelFunc

	// Guarded by the world's mu.
	givingBack bool // its holder has called Release: it does not use the lock any more
	lapsed     bool // it was seen as not held
	err        error
	endedAt    time.Duration
}

// watch begins to watch a lease that an acquire of p has returned.
func (w *simWorld) watch(p *simProcess, l *lockkit.Lease) *simHold {
	h := &simHold{p: p, lease: l, got: time.Now(), limit: l.Duration() - time.Duration(p.cfg.Margin*float64(l.Duration()))}
	h.ctx, h.release = l.Context(context.Background())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holds = append(w.holds, h)
	held := lockkit.Believes(l)
	w.tell("process %d: got the lock with token %d, held %v", p.id, l.Token(), held)
	w.ledger.got(l.Owner(), l.Token(), held)
	w.step()
	return h
}

// step looks at everybody's beliefs. It is taken whenever something changed at
// the endpoint or in a process, and now and then. Callers hold mu.
func (w *simWorld) step() {
	var all []believer
	for _, h := range w.holds {
		if state, _ := h.p.status(); state != running {
			continue
		}
		if h.check(w) && !h.givingBack && !w.ledger.robbed(h.lease.Owner()) {
			all = append(all, believer{h.p.id, h.lease.Owner()})
		}
	}
	for _, p := range w.peers {
		if state, _ := p.status(); state == running && p.believes() && !w.ledger.robbed(p.owner) {
			all = append(all, believer{p.id, p.owner})
		}
	}
	w.ledger.believe(w.now(), all)
}

// check judges one lease, and reports whether its holder believes.
func (h *simHold) check(w *simWorld) bool {
	now, trust := h.p.read(), h.p.trusts[h.lease.Owner()]
	third := h.lease.Duration() / 3
	b := belief{
		process: h.p.id, believes: lockkit.Believes(h.lease), over: h.lapsed || !h.givingBack && h.ctx.Err() != nil, told: closed(h.lease.Done()),
		since: now.since(trust), running: now.mono.Sub(trust.mono), limit: h.limit,
		settled: h.settled(0),
		// A suspend may be told a third of the lease late, by the heartbeat, which a
		// release has ended.
		noticed: now.since(trust) > h.limit+third && h.settled(third) && !h.jumped() && !h.givingBack,
	}
	w.ledger.judge(b)
	h.lapsed = h.lapsed || !b.believes
	if b.told {
		h.checkEnd(w, trust)
	}
	return b.believes
}

// settled reports whether the process has run for a while, so that what was due
// in a pause is done.
func (h *simHold) settled(d time.Duration) bool {
	_, since := h.p.status()
	return time.Since(since) > d+tolerance && time.Since(h.got) > d+tolerance
}

// jumped reports whether wall clocks are set in this world: then there is no
// moment from which on a process should have noticed.
func (h *simHold) jumped() bool {
	return h.p.w.plan.Flavour == forward || h.p.w.plan.Flavour == backward
}

// checkEnd judges a lease whose Done is closed.
func (h *simHold) checkEnd(w *simWorld, trust reading) {
	if h.err == nil {
		h.err, h.endedAt = h.lease.Err(), w.now()
		ended, ok := errors.AsType[*lockkit.EndedError](h.err)
		if !ok {
			w.ledger.broken(endedStays, "process %d: Done is closed, and Err is %v", h.p.id, h.err)
			return
		}
		w.tell("process %d: token %d ended: %s", h.p.id, h.lease.Token(), ended.Reason)
		if !h.givingBack {
			w.ledger.lost(h.lease.Owner(), ended.Reason, h.p.disturbedSince(trust.at) || w.plan.Flavour == bounded)
		}
	}
	err, cause := h.lease.Err(), context.Cause(h.ctx)
	if h.endedAt == w.now() {
		cause = h.err // its context is being cancelled
	}
	w.ledger.stays(h.p.id, h.err, err, cause)
}

// disturbedSince reports whether anything was in the way of the process since.
func (p *simProcess) disturbedSince(at time.Duration) bool {
	_, since := p.status()
	return p.troubled >= at || since.Sub(p.w.began) >= at
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
