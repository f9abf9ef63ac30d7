package singleton

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// attempt is one run under way.
type attempt struct {
	*runner
	tick   events.Tick
	budget budget
	ext    *extension
	sent   atomic.Int64 // requests for the lock
	// counted are those of the ticks before this one under the same lease.
	counted int64
	res     Result
	expired []time.Time // ticks that waited and were too old when their turn came
}

// run is a run from its tick to its log line.
func (r *runner) run(ctx context.Context, tick events.Tick) (Result, error) {
	now := time.Now()
	if !tick.Time.IsZero() {
		tick.Time = tick.Time.UTC().Truncate(time.Millisecond) // as the item stores it
	}
	if tick.Source == "" {
		tick.Source = events.KindManual
	}
	if err := tick.Check(now); err != nil {
		return r.refuse(ctx, fmt.Errorf("singleton: job %q: %w", r.spec.Name, err))
	}
	a := &attempt{runner: r, tick: tick}
	a.ext = &extension{tick: tick, request: requestFrom(ctx), queues: r.spec.Policy == job.Queue, maxAge: r.spec.MaxAge, began: now}
	a.res = Result{
		Job: r.spec.Name, Tick: tick.Time, Source: tick.Source, Attempt: tick.Attempt, Forced: tick.Force,
		RequestID: a.ext.request.id,
	}
	if r.spec.MaxAge > 0 && !tick.Manual() && now.Sub(tick.Time) > r.spec.MaxAge {
		return a.finish(ctx, Expired, nil)
	}
	var err error
	if a.budget, err = newBudget(ctx, r.spec, r.locks.TakeoverDelay(), now); err != nil {
		return r.refuse(ctx, err)
	}
	lease, outcome, err := a.contend(ctx)
	a.res.WaitedMS = time.Since(now).Milliseconds()
	if lease == nil {
		return a.finish(ctx, outcome, err)
	}
	a.res.Token = lease.Token()
	a.res.Takeover = a.takeover(lease)
	return a.underLease(ctx, lease)
}

// finish writes the log line and makes the run's answer.
func (a *attempt) finish(ctx context.Context, outcome Outcome, err error) (Result, error) {
	return a.finishWith(ctx, outcome, err, "")
}

func (a *attempt) finishWith(ctx context.Context, outcome Outcome, err error, stack string) (Result, error) {
	a.res.Outcome = outcome
	a.res.Requests = int(a.sent.Load() - a.counted)
	if err != nil {
		a.res.Error = told(err)
	}
	a.res.Warning = wire.Cut(a.res.Warning, maxError)
	a.res.log(ctx, a.logger, stack)
	if !outcome.Err() {
		return a.res, nil
	}
	return a.res, &OutcomeError{Job: a.res.Job, Tick: a.res.Tick, Outcome: outcome, Token: a.res.Token, Err: err}
}
