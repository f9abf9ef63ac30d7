package lockkit_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
)

// simWorld runs one plan inside a bubble.
type simWorld struct {
	plan  simPlan
	db    *locktest.DB
	began time.Time
	skew  time.Duration // of bounded worlds

	over   chan struct{}                          // closed when the dead may go
	wires  sync.WaitGroup                         // requests and answers under way
	actors sync.WaitGroup                         // processes
	spawn  func(slot int, cfg procPlan, rest int) // starts a process

	mu        sync.Mutex // taken before a lease's and a machine's, never held while waiting
	ledger    *ledger
	processes []*simProcess // all that ever were
	alive     []*simProcess // by slot
	peers     []*simPeer
	holds     []*simHold
	harms     []*harmful
	underway  []*underway
	overlaps  int  // writes that met a transaction
	numbered  int  // fenced writes
	calm      bool // the disturbed part is over
	trace     []string
}

// harm is what befalls one request.
type harm struct {
	kind fate
	wait time.Duration
}

// harmful is a trouble under way and whom it befalls.
type harmful struct {
	trouble
	befalls func(*simProcess) bool
	count   int
}

func (w *simWorld) now() time.Duration { return time.Since(w.began) }

// tell adds to the trace that a failure prints. Callers hold mu.
func (w *simWorld) tell(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%10s  ", w.now().Round(10*time.Microsecond))+fmt.Sprintf(format, args...))
}

// sent notes a request that a process sends, and says what befalls it.
func (w *simWorld) sent(p *simProcess, r *simRequest) harm {
	now := p.read()
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := r.version(); v != "" {
		if _, again := p.sends[v]; !again {
			p.sends[v] = now
		}
	}
	w.ledger.sent(p.id, r.operation, r.Key["pk"].S, r.version(), r.owner())
	if w.now()-p.burstAt > w.plan.Lease {
		p.burst, p.burstAt = 0, w.now()
	}
	if p.burst++; w.ledger.asked(p.id, p.burst) {
		p.freeze(dead) // or the world might stand still
	}
	if p.trap > 0 && r.writes() && p.freeze(paused) {
		w.tell("process %d: pause while it sends", p.id)
		time.AfterFunc(p.trap, p.thaw)
		p.trap = 0
	}
	for _, h := range w.harms {
		if !h.befalls(p) || !h.All && h.Reads == r.writes() {
			continue
		}
		if h.count++; h.count%h.Every == 0 {
			kind := h.Kinds[h.count/h.Every%len(h.Kinds)]
			if kind == unhurt {
				return harm{}
			}
			p.troubled = w.now()
			p.hurting++
			if h.Brief {
				return harm{kind, time.Duration(h.Wait) * 2 * time.Millisecond}
			}
			return harm{kind, w.plan.units(h.Wait)}
		}
	}
	return harm{}
}

// delivered notes what a process learns from an answer: which version of its own
// is, or was, on the item. From that version's first send its lease counts.
func (w *simWorld) delivered(p *simProcess, r *simRequest, a simAnswer, hurt harm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if hurt.kind != unhurt {
		p.troubled = w.now()
		p.hurting--
	}
	if a.err == nil {
		version := ""
		if a.status == http.StatusOK {
			version = r.version()
		}
		if shown := a.shows(); version == "" {
			version = shown["rvn"].S
		}
		if sent, own := p.sends[version]; own {
			owner := w.ledger.versions[version]
			if known, ok := p.trusts[owner]; !ok || sent.at > known.at {
				p.trusts[owner] = sent
			}
		}
	}
	if w.calm || hurt.kind != unhurt {
		w.tell("process %d: %s answered %d %s %v %v", p.id, r.operation, a.status, a.Type, a.err, hurt.kind)
	}
	w.step()
}

// apply carries a request out at the endpoint.
func (w *simWorld) apply(p *simProcess, r *simRequest, req *http.Request) simAnswer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if refusal, ok := w.admit(p, r); !ok {
		return refusal
	}
	before, written := w.item(), w.logged()
	res, err := w.db.Do(r.again(req))
	if err == nil {
		defer func() { _ = res.Body.Close() }()
	}
	a := readAnswer(res, err)
	if !r.writes() || a.status != http.StatusOK {
		return a
	}
	if after := w.item(); after != before {
		w.tell("process %d: %v", p.id, after)
		w.ledger.wrote(lockWrite{w.now(), p.id, before, after})
	}
	if log := w.logged(); log.count != written.count {
		w.tell("process %d: fenced write %d with token %d", p.id, log.id, log.token)
		w.ledger.commit(log.id, log.owner, log.token, before)
	}
	w.step()
	return a
}

// item is the lock's item as it stands.
func (w *simWorld) item() lockState { return stateOf(w.db.Item(table, key())) }

// operate changes the item by hand, as an operator or another client does.
func (w *simWorld) operate(change func(map[string]types.AttributeValue) map[string]types.AttributeValue) {
	it := w.db.Item(table, key())
	var err error
	if changed := change(maps.Clone(it)); changed != nil {
		maps.Copy(changed, key())
		err = w.db.Put(table, changed)
	} else {
		err = w.db.Delete(table, key())
	}
	if err != nil {
		panic(err)
	}
}

// befall makes a trouble's or event's target from whom it names, as things are
// now. Callers hold mu.
func (w *simWorld) befall(who int) func(*simProcess) bool {
	holder := nobody
	if t := w.ledger.tenures[w.ledger.item.owner]; t != nil {
		holder = t.process
	}
	switch who {
	case everybody:
		return func(*simProcess) bool { return true }
	case theHolder:
		return func(p *simProcess) bool { return p.id == holder }
	case theOthers:
		return func(p *simProcess) bool { return p.id != holder }
	default:
		return func(p *simProcess) bool { return p.slot == who }
	}
}

// disturb plays the plan's troubles and events until the span is over.
func (w *simWorld) disturb(ctx context.Context) {
	type moment struct {
		at int
		do func()
	}
	var all []moment
	for _, t := range w.plan.Troubles {
		h := &harmful{trouble: t}
		all = append(all, moment{t.From, func() {
			h.befalls = w.befall(t.Who)
			w.harms = append(w.harms, h)
			w.tell("TROUBLE %v", t)
		}}, moment{t.From + t.For, func() {
			w.harms = slices.DeleteFunc(w.harms, func(other *harmful) bool { return other == h })
		}})
	}
	for _, e := range w.plan.Events {
		all = append(all, moment{e.At, func() { w.happen(e) }})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.at - b.at })
	for _, m := range all {
		if m.at >= w.plan.Span || !elapse(ctx, time.Until(w.began.Add(w.plan.units(m.at)))) {
			break
		}
		w.mu.Lock()
		m.do()
		w.step()
		w.mu.Unlock()
	}
	elapse(ctx, time.Until(w.began.Add(w.plan.units(w.plan.Span))))
}

// elapse sleeps in the world's own time.
func elapse(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
