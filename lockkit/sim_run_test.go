package lockkit_test

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
)

// simulate plays a plan to its end. It must be called in a bubble.
func simulate(ctx context.Context, p simPlan) *simWorld {
	w := &simWorld{
		plan: p, db: locktest.New(), began: time.Now(), over: make(chan struct{}),
		ledger: newLedger(), alive: make([]*simProcess, len(p.Procs)+1),
	}
	w.ledger.lease, w.ledger.longest = p.Lease, p.Lease
	w.ledger.bounded = p.Flavour == bounded
	w.skew = 2*time.Second + p.units(p.Span)/10 // apart at the beginning, and by their rates
	if err := locktest.CreateTable(ctx, w.db.Client(), table, "pk", "sk"); err != nil {
		panic(err)
	}
	w.plant()

	living, end := context.WithCancel(ctx)
	w.spawn = func(slot int, cfg procPlan, rest int) {
		w.actors.Go(func() {
			own := lasting(living, slot)
			if elapse(own, p.units(rest)+apart(slot)) {
				w.newProcess(slot, cfg).live(own)
			}
		})
	}
	for slot, cfg := range p.Procs {
		w.spawn(slot, cfg, cfg.Start)
	}
	for i, cfg := range p.Peers {
		slot := len(p.Procs) + 1 + i
		peer := w.newPeer(cfg)
		w.actors.Go(func() {
			own := lasting(living, slot)
			if peer.sleep(own, p.units(cfg.Start)+apart(slot)) {
				peer.run(own)
			}
		})
	}
	watching, unwatch := context.WithCancel(ctx)
	w.actors.Go(func() { w.monitor(watching) })

	w.disturb(ctx)
	w.soothe()
	end()
	w.settle()
	w.inherit(ctx)
	unwatch()
	w.wires.Wait()
	w.mu.Lock()
	w.leftovers()
	w.mu.Unlock()
	close(w.over)
	w.actors.Wait()
	return w
}

// apart keeps processes from acting at the very same moment, when any of them
// may come first: a plan that is played again should go as it did.
func apart(slot int) time.Duration { return time.Duration(slot+1) * 3 * time.Microsecond }

// lasting is ctx, ending apart.
func lasting(ctx context.Context, slot int) context.Context {
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		time.Sleep(apart(slot))
		end()
	})
	return own
}

// plant puts the item of the beginning.
func (w *simWorld) plant() {
	if w.plan.Item == itemMissing {
		return
	}
	w.operate(func(map[string]types.AttributeValue) map[string]types.AttributeValue {
		item := map[string]types.AttributeValue{"_type": s("LOCK"), "rvn": s("old"), "fence": n("41"), "note": s("keep")}
		if w.plan.Item == itemHeldByTheDead {
			item["owner"], item["leaseMs"] = s("the dead"), n(strconv.FormatInt(w.plan.Lease.Milliseconds(), 10))
		}
		return item
	})
	w.ledger.tenures["the dead"] = &tenure{process: nobody, tokens: map[int64]bool{41: true}}
	w.ledger.note(0, w.item())
}

// happen makes an event befall whom it names. Callers hold mu.
func (w *simWorld) happen(e simEvent) {
	switch e.Kind {
	case deletesItem:
		if w.mayDelete() {
			w.tell("DELETED")
			w.operate(func(map[string]types.AttributeValue) map[string]types.AttributeValue { return nil })
			w.ledger.operated(w.now(), w.item())
		}
		return
	case freesItem:
		if w.item().owner != "" {
			w.operate(func(item map[string]types.AttributeValue) map[string]types.AttributeValue {
				delete(item, "owner")
				delete(item, "leaseMs")
				delete(item, "holder")
				delete(item, "at")
				return item
			})
			w.tell("FREED")
			w.ledger.operated(w.now(), w.item())
		}
		return
	default:
	}
	befalls := w.befall(e.Who)
	for _, p := range w.alive {
		if p == nil || !befalls(p) {
			continue
		}
		w.tell("process %d: %v for %d", p.id, e.Kind, e.For)
		switch e.Kind {
		case pauses, suspends:
			how := paused
			if e.Kind == suspends {
				how = suspended
			}
			if p.freeze(how) {
				time.AfterFunc(w.plan.units(e.For)+apart(p.slot), p.thaw)
			}
		case pausesSending:
			p.trap = w.plan.units(e.For)
		case crashes:
			w.kill(p, e.For)
		case setsClock:
			by := w.plan.units(e.For) * 2
			if w.plan.Flavour == backward {
				by = -by
			}
			p.jump(by)
			p.troubled = w.now()
		default:
		}
	}
}

// mayDelete reports whether the first token after a deletion is sure to be higher
// than the last before. It comes from the wall clock of whoever makes the item
// anew, as that was when the request was sent.
func (w *simWorld) mayDelete() bool {
	slowest := w.began.Add(time.Duration(float64(w.now())*0.98) - time.Second)
	oldest := w.plan.units(50) + 15*time.Second
	return w.item().exists && slowest.Add(-oldest).UnixMilli() > w.ledger.highest
}

// soothe ends all troubles.
func (w *simWorld) soothe() {
	w.mu.Lock()
	w.tell("CALM")
	w.calm, w.harms = true, nil
	alive := slices.Clone(w.alive)
	w.mu.Unlock()
	for _, p := range alive {
		if p != nil {
			p.thaw()
			time.Sleep(apart(0))
		}
	}
}

// settle waits for the processes that live to end what they do.
func (w *simWorld) settle() {
	w.mu.Lock()
	alive := slices.Clone(w.alive) // one that starts at this very moment goes on beside
	w.mu.Unlock()
	for _, p := range alive {
		if p == nil {
			continue
		}
		if state, _ := p.status(); state != dead {
			<-p.done
		}
	}
}

// inherit has one more process take the lock, whoever left it in whatever state.
func (w *simWorld) inherit(ctx context.Context) {
	p := w.newProcess(len(w.plan.Procs), procPlan{Margin: 0.1})
	defer close(p.done)
	l := p.contend(ctx, simRound{Patience: 400, Lease: 4})
	if l == nil {
		w.blame(takenInTime, "the last process did not get the lock: %v", w.item())
		return
	}
	h := w.watch(p, l)
	if err := l.Err(); err != nil {
		w.blame(lossHasCause, "the last process got a lease that has ended: %v", err)
	}
	p.leave(ctx, h, simRound{End: endRelease})
	if it := w.item(); it.owner == l.Owner() {
		w.blame(answersTrue, "the last process could not give the lock back: %v", it)
	}
}

// leftovers judges what is left of leases that are over. Callers hold mu.
func (w *simWorld) leftovers() {
	for _, p := range w.processes {
		if state, _ := p.status(); state == running {
			w.ledger.left(p.id, p.pending())
		}
	}
}

// monitor looks now and then at those who wait, and at everybody's beliefs.
func (w *simWorld) monitor(ctx context.Context) {
	for elapse(ctx, w.plan.Lease/8+time.Microsecond) {
		w.mu.Lock()
		for _, p := range w.processes {
			state, since := p.status()
			if p.contends == nil || p.hurting > 0 || state != running {
				continue
			}
			from := max(p.contends.since, p.troubled, w.ledger.changed, since.Sub(w.began))
			w.ledger.waited(p.id, w.now()-from, w.ledger.patience(w.plan.units(p.cfg.Delay), p.contends.extra))
		}
		w.step()
		w.mu.Unlock()
	}
}

func (w *simWorld) isCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calm
}
