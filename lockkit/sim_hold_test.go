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
	believes := lockkit.Believes(h.lease)
	ended, third := closed(h.lease.Done()), h.lease.Duration()/3 // a suspend may be told that late
	switch {
	case believes && now.since(trust) > h.limit+tolerance:
		w.ledger.broken(toldInTime, "process %d believes %s after the send of the newest renewal that it knows of, of at most %s", h.p.id, now.since(trust), h.limit)
	case believes && (h.lapsed || ended || !h.givingBack && h.ctx.Err() != nil):
		w.ledger.broken(endedStays, "process %d believes in a lease that had ended", h.p.id)
	case !ended && now.mono.Sub(trust.mono) > h.limit+tolerance && h.settled(0):
		w.ledger.broken(toldInTime, "process %d is not told %s after the send of the newest renewal that it knows of, of at most %s", h.p.id, now.mono.Sub(trust.mono), h.limit)
	case !ended && now.since(trust) > h.limit+third+tolerance && h.settled(third) && !h.jumped() && !h.givingBack:
		w.ledger.broken(toldInTime, "process %d is not told after a suspend", h.p.id)
	}
	h.lapsed = h.lapsed || !believes
	if ended {
		h.checkEnd(w, trust)
	}
	return believes
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
	if err := h.lease.Err(); !errors.Is(err, h.err) {
		w.ledger.broken(endedStays, "process %d: Err is %v after %v", h.p.id, err, h.err)
	}
	if h.endedAt == w.now() {
		return // its context is being cancelled
	}
	if cause := context.Cause(h.ctx); !errors.Is(cause, h.err) {
		w.ledger.broken(endedStays, "process %d: the lease ended with %v, its context with %v", h.p.id, h.err, cause)
	}
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
