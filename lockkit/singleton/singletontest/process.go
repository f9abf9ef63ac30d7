package singletontest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// Process is one process with its own LockTable and its own way to the outside,
// which can be cut off. It is safe for concurrent use.
type Process struct {
	w     *World
	locks *lockkit.LockTable
	label string

	// Guarded by the world's mu.
	dead   bool
	thawed chan struct{} // not nil while frozen; closed by Thaw
	woken  bool          // it was frozen before
	halted chan struct{} // closed when it is first killed or frozen
	panics any           // what its run panicked with
}

// errGone is what a request of a dead process ends with, when the world does.
var errGone = errors.New("singletontest: the process is dead")

// Process starts a process. Its label as a lock's holder is "process-1" for the
// first, and so on.
func (w *World) Process() *Process {
	w.T.Helper()
	w.mu.Lock()
	w.processes++
	p := &Process{w: w, label: fmt.Sprintf("process-%d", w.processes), halted: make(chan struct{})}
	w.mu.Unlock()
	p.locks = w.lockTable(p.Client(), p.label)
	return p
}

// Client returns a client of the process for DynamoDB, with the SDK's own
// retries unless the options say otherwise.
func (p *Process) Client(opts ...func(*dynamodb.Options)) *dynamodb.Client {
	return p.w.DB.Client(append([]func(*dynamodb.Options){func(o *dynamodb.Options) {
		o.HTTPClient = wire{process: p, read: dynamoRequest, send: p.w.DB.Do}
	}}, opts...)...)
}

// Locks returns the process's lock table, the one that its runs use.
func (p *Process) Locks() *lockkit.LockTable { return p.locks }

// World returns the world that the process lives in.
func (p *Process) World() *World { return p.w }

// Kill ends the process at once, as kill -9 does: it never reaches anything again.
// What it waits for goes on waiting until the world ends, so that none of its code
// runs on. A second call does nothing.
func (p *Process) Kill() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.dead = true
	p.halt()
}

// Freeze stops whatever the process sends from now on, and the answers to what it
// has sent, until Thaw. A second call does nothing.
func (p *Process) Freeze() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.thawed == nil {
		p.thawed = make(chan struct{})
	}
	p.halt()
}

// Thaw lets a frozen process go on. What it was about to send is sent now, whether
// or not it would still want that. Without a Freeze it does nothing.
func (p *Process) Thaw() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.thawed != nil {
		close(p.thawed)
		p.thawed, p.woken = nil, true
	}
}

// holdUp freezes the process and returns when it is thawed; false when the world
// ended first.
func (p *Process) holdUp() bool {
	p.Freeze()
	p.w.mu.Lock()
	thawed := p.thawed
	p.w.mu.Unlock()
	if thawed == nil {
		return true
	}
	select {
	case <-thawed:
		return true
	case <-p.w.over:
		return false
	}
}

// halt tells whoever waits for the process that it stands still.
func (p *Process) halt() {
	select {
	case <-p.halted:
	default:
		close(p.halted)
	}
}

// gate holds up a process that is frozen or dead. stale says that it has been
// frozen, so that it does not know what the time is.
func (p *Process) gate() (stale bool, err error) {
	for {
		p.w.mu.Lock()
		dead, thawed, woken := p.dead, p.thawed, p.woken
		p.w.mu.Unlock()
		switch {
		case dead:
			<-p.w.over
			return false, errGone
		case thawed == nil:
			return woken, nil
		}
		select {
		case <-thawed:
		case <-p.w.over:
			return false, errGone
		}
	}
}

// Ended is what became of a delivery.
type Ended struct {
	Result singleton.Result // the zero Result when the run panicked
	Err    error
	// Panic is what the run panicked with, after which its process is dead: the
	// work's own value, or singleton's for a work that ignored the end of its ctx.
	Panic any
	// World is where it happened.
	World *World
}

// String names the outcome in one line.
func (e Ended) String() string {
	switch {
	case e.Panic != nil:
		return fmt.Sprintf("panicked: %v", e.Panic)
	case e.Err != nil:
		return e.Err.Error()
	default:
		return string(e.Result.Outcome)
	}
}

// Start runs a job for a tick in this process as Lambda does: when the tick is
// due, with the deadline of the spec's Timeout (Lambda's longest, where it has
// none) and with an id of the request. The channel gets one value when the run has
// ended; that of a process that is dead by then, when the world ends.
func (p *Process) Start(spec job.Spec, program Program, tick events.Tick) <-chan Ended {
	ended := make(chan Ended, 1)
	p.w.mu.Lock()
	p.w.deliveries++
	id := fmt.Sprintf("request-%d", p.w.deliveries)
	p.w.mu.Unlock()
	p.w.runs.Go(func() {
		if wait := time.Until(tick.Time); !tick.Time.IsZero() && wait > 0 {
			time.Sleep(wait)
		}
		timeout := spec.Timeout
		if timeout == 0 {
			timeout = job.MaxTimeout
		}
		ctx, cancel := context.WithTimeout(p.w.T.Context(), timeout)
		defer cancel()
		ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: id})
		ended <- p.run(ctx, spec, program, tick)
	})
	return ended
}

func (p *Process) run(ctx context.Context, spec job.Spec, program Program, tick events.Tick) (e Ended) {
	e.World = p.w
	defer func() {
		v := recover()
		_, _ = p.gate() // neither the dead nor the frozen say how it ended
		if v != nil {
			p.w.mu.Lock()
			p.panics = v
			p.w.mu.Unlock()
			p.Kill()
			e.Panic = v
		}
	}()
	e.Result, e.Err = singleton.Do(ctx, p.locks, spec, tick, p.w.counted(program(p)))
	return e
}

// panicked is what the run panicked with, nil for one that did not.
func (p *Process) panicked() any {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.panics
}
