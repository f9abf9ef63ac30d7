package lockkit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
)

// simProcess is one simulated process: its machine, its LockTable and its own way
// to the endpoint, of which it is the HTTP client.
type simProcess struct {
	*machine
	w      *simWorld
	id     int
	slot   int
	cfg    procPlan
	client *dynamodb.Client
	locks  *lockkit.LockTable

	// Guarded by the world's mu.
	sends     map[string]reading // first send of each record version
	trusts    map[string]reading // of the newest version that each owner knows is on the item
	troubled  time.Duration      // when something was last in its way
	hurting   int                // requests under way that something is in the way of
	trap      time.Duration      // how long it is paused once it has sent a write; 0: it is not
	contends  *contention        // the acquire under way
	conflicts map[string]int     // by operation, in a row
	lanes     map[string]int     // requests of each lease under way
	burst     int                // requests since burstAt
	burstAt   time.Duration
	done      chan struct{} // closed when its goroutine has returned
}

// reading is the world's time and the process's clocks at one moment.
type reading struct {
	at         time.Duration
	mono, wall time.Time
}

func (p *simProcess) read() reading {
	mono, wall := p.now()
	return reading{p.w.now(), mono, wall}
}

// since is how long ago an earlier reading was by whichever clock says more.
func (r reading) since(earlier reading) time.Duration {
	return max(r.mono.Sub(earlier.mono), r.wall.Sub(earlier.wall))
}

var (
	errGone   = errors.New("the process is gone")
	errBroken = errors.New("connection reset by peer")
)

// withoutEnd is a context for what goes on when its sender has given up.
func withoutEnd(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

func (w *simWorld) newProcess(slot int, cfg procPlan) *simProcess {
	p := &simProcess{
		machine: newMachine(cfg.rate(), cfg.Offset, rand.NewPCG(w.plan.Seed, uint64(slot)), w.over), w: w, slot: slot, cfg: cfg,
		sends: map[string]reading{}, trusts: map[string]reading{}, conflicts: map[string]int{}, lanes: map[string]int{}, done: make(chan struct{}),
	}
	p.client = dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("sim", "sim", ""),
		HTTPClient: p, Retryer: aws.NopRetryer{}, DisableValidateResponseChecksum: true,
	})
	options := []lockkit.Option{
		lockkit.WithSafetyMargin(cfg.Margin),
		lockkit.WithTakeoverDelay(w.plan.units(cfg.Delay)),
		lockkit.WithPollInterval(w.plan.units(cfg.Interval)),
	}
	if w.plan.Flavour == bounded {
		options = append(options, lockkit.WithMaxClockSkew(w.skew))
	}
	var err error
	if p.locks, err = lockkit.New(p.client, table, options...); err != nil {
		panic(err)
	}
	lockkit.SetClock(p.locks, p.clock())
	w.mu.Lock()
	defer w.mu.Unlock()
	p.id = len(w.processes)
	w.processes = append(w.processes, p)
	w.alive[slot] = p
	return p
}

// Do sends one request of the process. The request goes its own way; the process
// waits for the answer for as long as the request's ctx lasts, and gets it when
// it runs.
func (p *simProcess) Do(req *http.Request) (*http.Response, error) {
	if !p.gate() {
		return nil, errGone
	}
	r, err := readRequest(req)
	if err != nil {
		return nil, err
	}
	defer p.lane(req.Context(), r)()
	hurt := p.w.sent(p, r)
	answers := make(chan simAnswer, 1)
	p.w.wires.Go(func() { answers <- p.w.carry(p, r, req, hurt) })
	a := simAnswer{err: context.Canceled}
	select {
	case a = <-answers:
	case <-req.Context().Done():
		a.err = req.Context().Err()
	}
	if !p.gate() {
		return nil, errGone
	}
	if a.err != nil && req.Context().Err() != nil {
		select {
		case a = <-answers: // it came while the process did not run
		default:
		}
	}
	p.w.delivered(p, r, a, hurt)
	if a.err != nil {
		return nil, a.err
	}
	return a.response(req), nil
}

// lane notes that a request of a lease is under way, until it is done.
func (p *simProcess) lane(ctx context.Context, r *simRequest) (done func()) {
	owner := r.holder()
	if owner == "" || ctx.Value(rawWrite{}) != nil {
		return func() {}
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.lanes[owner]++
	p.w.ledger.lane(p.id, p.lanes[owner])
	return func() {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		p.lanes[owner]--
	}
}

// carry takes a request to the endpoint, and its answer back.
func (w *simWorld) carry(p *simProcess, r *simRequest, req *http.Request, hurt harm) simAnswer {
	time.Sleep(p.cfg.Out + apart(p.slot))
	switch hurt.kind {
	case fails:
		return failure(http.StatusInternalServerError, "InternalServerError")
	case throttled:
		return failure(http.StatusBadRequest, "ProvisionedThroughputExceededException")
	case conflicts:
		return conflictOf(r)
	case swallowed:
		<-req.Context().Done()
		return simAnswer{err: req.Context().Err()}
	case late:
		w.wires.Go(func() {
			time.Sleep(hurt.wait)
			w.apply(p, r, req)
		})
		return simAnswer{err: errBroken}
	case slowRequest:
		time.Sleep(hurt.wait)
	default:
	}
	a := w.apply(p, r, req)
	switch hurt.kind {
	case broken:
		return simAnswer{err: errBroken}
	case unanswered:
		<-req.Context().Done()
		return simAnswer{err: req.Context().Err()}
	case slowAnswer:
		time.Sleep(hurt.wait)
	case bare:
		a = a.withoutItem()
	default:
	}
	time.Sleep(p.cfg.Back + apart(p.slot))
	return a
}

// conflictOf is the answer while another transaction is under way on the item.
func conflictOf(r *simRequest) simAnswer {
	switch r.operation {
	case "TransactWriteItems":
		return cancelledBy(len(r.TransactItems), 0)
	case "UpdateItem":
		return failure(http.StatusBadRequest, "TransactionConflictException")
	default:
		return failure(http.StatusBadRequest, "ThrottlingException")
	}
}
