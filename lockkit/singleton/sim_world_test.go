package singleton_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// simPolicies are those that are simulated.
var simPolicies = []job.Policy{job.SkipWhenAlive, job.SkipAtOnce, job.Wait, job.Queue, job.Supersede}

// simWorld plays a plan. Its processes live until they are killed.
type simWorld struct {
	plan  jobPlan
	base  time.Time // where the first tick's interval begins
	db    *locktest.DB
	wires sync.WaitGroup // requests under way
	runs  sync.WaitGroup // deliveries under way
	over  chan struct{}  // closed at the end: the dead may go

	mu      sync.Mutex // guards the rest, the endpoint and the processes' state
	calm    bool       // no faults any more
	made    int        // processes
	sent    int        // requests
	slots   map[int]*simProcess
	working map[int64]func() error // the Err of each work's ctx, by token
	told    map[int64]ending       // what was told of a token
	ledger  *ledger
	trace   []string
}

// ending is what the run of a token said.
type ending struct {
	outcome   singleton.Outcome
	committed bool
	unknown   bool // it says that it does not know what became of a transaction
	troubled  bool // an answer of its may have been lost
	warned    bool // its release had no answer, or one that says little
}

// simEnd is when every run of a plan has ended, and every request of it too.
const simEnd = 10 * time.Minute

// simulate plays a plan in a bubble.
func simulate(ctx context.Context, p jobPlan) *simWorld {
	w := &simWorld{
		plan: p, base: time.Now().UTC(), db: locktest.New(), over: make(chan struct{}),
		slots: map[int]*simProcess{}, working: map[int64]func() error{}, told: map[int64]ending{}, ledger: newLedger(p.Policy, p.MaxAge),
	}
	if err := errors.Join(locktest.CreateTable(ctx, w.db.Client(), table, "pk", "sk"), locktest.CreateTable(ctx, w.db.Client(), effects, "pk", "")); err != nil {
		panic(err)
	}
	for _, d := range p.Deliveries {
		w.runs.Go(func() { w.deliver(ctx, d) })
	}
	for _, c := range p.Controls {
		time.AfterFunc(c.At, func() { w.order(c) })
	}
	time.Sleep(simEnd)
	w.last(ctx)
	close(w.over)
	w.runs.Wait()
	w.wires.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledger.settled(w.told)
	return w
}

// last delivers a newer tick when everything is quiet: whatever happened before,
// it completes, after a lease at most.
func (w *simWorld) last(ctx context.Context) {
	w.order(simControl{Kind: orderResume})
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	d := simDelivery{Tick: lastTick, Process: math.MaxInt, Attempt: 1, Page: 20, FailAt: -1, YieldAt: -1}
	time.Sleep(time.Until(w.tickAt(d.Tick)))
	tick := w.tickAt(d.Tick)
	d.At = 0
	res, err := w.invoke(ctx, w.newProcess(), d, tick)
	w.mu.Lock()
	defer w.mu.Unlock()
	if res.Outcome != singleton.Completed {
		w.ledger.broken(takenOver, "in quiet times the tick %s ended as %s: %v", hour(tick), res.Outcome, err)
	}
	if waited := time.Duration(res.WaitedMS) * time.Millisecond; waited > simLease+2*time.Second {
		w.ledger.broken(takenOver, "in quiet times the lock was taken over after %s of waiting", waited)
	}
}

func (w *simWorld) tell(format string, args ...any) {
	at := time.Since(w.base).Truncate(time.Millisecond)
	w.trace = append(w.trace, fmt.Sprintf("%12s ", at)+fmt.Sprintf(format, args...))
}

// process returns the environment of a slot, a new one in the place of one that
// was killed.
func (w *simWorld) process(slot int) *simProcess {
	w.mu.Lock()
	p := w.slots[slot]
	if p != nil && !p.dead {
		defer w.mu.Unlock()
		return p
	}
	w.mu.Unlock()
	p = w.newProcess()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots[slot] = p
	return p
}

func (w *simWorld) deliver(ctx context.Context, d simDelivery) {
	time.Sleep(d.At)
	p := w.process(d.Process)
	if d.Killed > 0 {
		time.AfterFunc(d.Killed, p.kill)
	}
	if d.Frozen > 0 {
		time.AfterFunc(d.Frozen, func() { p.freeze(d.For) })
	}
	tick := time.Time{}
	if d.Tick >= 0 {
		tick = w.tickAt(d.Tick)
		time.Sleep(time.Until(tick))
	}
	_, _ = w.invoke(ctx, p, d, tick)
}

// invoke runs a delivery and judges what it says.
func (w *simWorld) invoke(ctx context.Context, p *simProcess, d simDelivery, due time.Time) (res singleton.Result, err error) {
	if !p.gate() {
		return res, errGone
	}
	tick := events.Tick{Time: due, Source: events.KindSchedule, ID: "e", Attempt: d.Attempt, Force: d.Force}
	if d.Attempt == 0 {
		tick.Source = events.KindManual
	}
	ctx, cancel := context.WithTimeout(lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "r"}), simTimeout)
	defer cancel()
	begin := time.Now()
	func() {
		defer func() {
			if v := recover(); v != nil {
				err, _ = v.(error)
				p.kill() // as Lambda does
			}
		}()
		res, err = singleton.Do(ctx, p.locks, w.plan.spec(), tick, w.work(d))
	}()
	if !p.gate() {
		return res, errGone
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell("process %d, tick %s: %s, token %d, %v", p.id, hour(due), res.Outcome, res.Token, err)
	w.told[res.Token] = ending{res.Outcome, res.Committed, errors.Is(err, lockkit.ErrUnknownOutcome), !p.troubled.Before(begin), res.Warning != ""}
	w.ledger.said(said{
		res: res, err: err, process: p.id, begin: begin, end: time.Now(),
		troubled: p.troubled.After(begin) || p.troubled.Equal(begin), maxAge: w.plan.MaxAge,
	})
	return res, err
}

// begins is called by a work when it begins, and what it returns when it ends.
func (w *simWorld) begins(ctx context.Context, run *singleton.Run, d simDelivery) (ends func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	token := run.Token()
	w.tell("token %d works on tick %s since %s, cursor %q", token, hour(run.Tick), hour(run.Since), run.Cursor)
	if ctx.Err() == nil {
		for other, theirs := range w.working {
			if theirs() == nil {
				w.ledger.broken(oneAtATime, "the runs of tokens %d and %d work at a time", other, token)
			}
		}
		w.ledger.begins(token, run.Tick, d.Force)
	}
	w.working[token] = ctx.Err
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.working, token)
	}
}

// befalls counts a request and says what happens to it.
func (w *simWorld) befalls(p *simProcess, operation string) simFault {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent++
	if w.calm {
		return simFault{}
	}
	for _, f := range w.plan.Faults {
		if w.sent >= f.At && w.sent < f.At+f.Count {
			w.tell("process %d, %s, request %d: %s %s", p.id, operation, w.sent, f.Kind, f.Wait)
			return f
		}
	}
	return simFault{}
}

// apply hands a request to the endpoint and the ledger what it did.
func (w *simWorld) apply(p *simProcess, req *http.Request, operation string, body []byte) simAnswer {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.lock()
	resp, err := w.db.Do(again(req, body))
	w.saw(p.id, operation, before)
	return simAnswer{resp, err}
}

func (w *simWorld) lock() lockkit.Item {
	return w.db.Item(table, lockkit.Item{"pk": s("LOCK#" + spec.Name), "sk": s("LOCK")})
}

// saw judges what a write did to the lock and the effects.
func (w *simWorld) saw(process int, operation string, item lockkit.Item) {
	before, after := readState(item), readState(w.lock())
	if before == after {
		return
	}
	w.tell("process %d, %s: %s", process, operation, after)
	transaction := operation == "TransactWriteItems"
	w.ledger.wrote(lockWrite{at: time.Now(), process: process, transaction: transaction, before: before, after: after})
	if w.plan.Style == marked {
		return
	}
	if transaction {
		for n := range w.unitsUpTo(w.tickAt(lastTick)) {
			normal, _ := w.counts(n + 1)
			w.ledger.counted(n+1, normal)
		}
	}
	if after.tick.After(before.tick) {
		gone := 0
		if w.plan.CatchUp > 0 {
			gone = w.unitsUpTo(after.tick.Add(-w.plan.CatchUp))
		}
		w.ledger.covered(after.tick, gone, w.unitsUpTo(after.tick), w.counts)
	}
}

// counts returns how often a unit was counted.
func (w *simWorld) counts(n int) (normal, forced int64) {
	item := w.db.Item(effects, unitKey(n))
	return numberIn(item["n"]), numberIn(item["forced"])
}
