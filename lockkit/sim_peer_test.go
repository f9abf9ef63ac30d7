package lockkit_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// simPeer is a process of another client of the same lock: it knows the common
// attributes of the item only, and leaves ours as it finds them.
type simPeer struct {
	*machine
	w     *simWorld
	id    int
	cfg   peerPlan
	count int

	// Guarded by the world's mu.
	owner string // "" while it contends
	sent  time.Time
	seen  string // owner and version
	since time.Time
}

func (w *simWorld) newPeer(cfg peerPlan) *simPeer {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &simPeer{machine: newMachine(1+float64(cfg.Rate)/1000, 0, rand.NewPCG(w.plan.Seed, 0), w.over), w: w, id: 1000 + len(w.peers), cfg: cfg}
	w.peers = append(w.peers, p)
	return p
}

// believes reports whether it takes the lock for its own. Callers hold mu.
func (p *simPeer) believes() bool {
	now, _ := p.now()
	return p.owner != "" && now.Sub(p.sent) < p.w.plan.Lease*9/10
}

// run contends, holds and gives the lock back or dies until ctx ends.
func (p *simPeer) run(ctx context.Context) {
	third := p.w.plan.Lease / 3
	for p.sleep(ctx, third) {
		if !p.contend() {
			continue
		}
		for range p.cfg.Renewals {
			if !p.sleep(ctx, third) || !p.renew() {
				break
			}
		}
		p.leave(p.cfg.Dies && ctx.Err() == nil)
	}
	p.leave(false)
}

// contend takes the lock if it is free or was unchanged for a lease.
func (p *simPeer) contend() bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	now, _ := p.now()
	it := p.w.item()
	if it.owner != "" {
		if seen := it.owner + it.version; seen != p.seen {
			p.seen, p.since = seen, now
			return false
		}
		if now.Sub(p.since) < it.lease {
			return false
		}
	}
	p.count++
	p.owner, p.sent = fmt.Sprintf("peer%d-%d", p.id, p.count), now
	p.write(func(item map[string]types.AttributeValue) {
		maps.Copy(item, map[string]types.AttributeValue{
			"_type": s("LOCK"), "owner": s(p.owner), "leaseMs": n(strconv.FormatInt(p.w.plan.Lease.Milliseconds(), 10)),
			"rvn": s(p.owner + "-0"), "fence": n(strconv.FormatInt(it.token+1, 10)),
		})
	})
	return true
}

func (p *simPeer) renew() bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	now, _ := p.now()
	if p.w.item().owner != p.owner || now.Sub(p.sent) >= p.w.plan.Lease*9/10 {
		return false
	}
	p.count++
	p.sent = now
	p.write(func(item map[string]types.AttributeValue) { item["rvn"] = s(fmt.Sprintf("%s-%d", p.owner, p.count)) })
	return true
}

// leave gives the lock back, or only stops to renew it.
func (p *simPeer) leave(dies bool) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if !dies && p.owner != "" && p.w.item().owner == p.owner {
		p.write(func(item map[string]types.AttributeValue) {
			delete(item, "owner")
			delete(item, "leaseMs")
			delete(item, "holder")
		})
	}
	p.owner = ""
}

// write changes the item. Callers hold mu.
func (p *simPeer) write(change func(map[string]types.AttributeValue)) {
	before := p.w.item()
	p.w.operate(func(item map[string]types.AttributeValue) map[string]types.AttributeValue {
		if item == nil {
			item = map[string]types.AttributeValue{}
		}
		change(item)
		return item
	})
	p.w.tell("peer %d: %v", p.id, p.w.item())
	p.w.ledger.wrote(lockWrite{p.w.now(), p.id, before, p.w.item()})
	p.w.step()
}
