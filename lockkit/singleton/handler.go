package singleton

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// Work is a job. Its ctx ends when the lease is lost, when the run is asked to
// stop, when the reserve before the deadline begins, or when the caller's does;
// [context.Cause] tells which. It must return soon after that, and must not leave
// goroutines behind that write: the lock is released when it returns. Returning
// nil completes the tick, unless ctx had ended by then. Under the policy Queue it
// may then be called again in the same invocation, with the tick that waited.
type Work func(ctx context.Context, run *Run) error

// Option changes how jobs are run.
type Option func(*runner)

// WithLogger writes one line per run, message "run ended", to the logger: at
// level error for outcomes that are errors and for runs that were refused, as a
// warning for a completed tick that is not marked, as information otherwise.
// Without it, or with nil, nothing is logged.
func WithLogger(logger *slog.Logger) Option {
	return func(r *runner) {
		if logger != nil {
			r.logger = logger
		}
	}
}

// Handler returns the handler of a Lambda function that runs one job, for
// lambda.Start. It decodes the tick with [events.Decode] and runs the job as
// [Do] does.
//
// A spec that is not valid, or an argument that is nil, is the error of every
// invocation, before any request. It is not a panic: Lambda starts the process
// only when an invocation waits for it, so that a panic would come no earlier,
// and would reach whoever looks as "Runtime exited" instead of by the list of
// faults. To fail before lambda.Start, call spec.Validate; the job's tests and
// the program that deploys it should, too.
func Handler(locks *lockkit.LockTable, spec job.Spec, work Work, opts ...Option) func(context.Context, json.RawMessage) (Result, error) {
	r, err := newRunner(locks, spec, work, opts)
	return func(ctx context.Context, input json.RawMessage) (Result, error) {
		if err != nil {
			return r.refuse(ctx, err)
		}
		tick, err := events.Decode(input, time.Now())
		if err != nil {
			return r.refuse(ctx, fmt.Errorf("singleton: job %q: %w", spec.Name, err))
		}
		return r.run(ctx, tick)
	}
}

// Do runs a job once for a tick, outside Lambda: in a container, from a cron
// line, in a test. The tick's time is cut to milliseconds; the zero tick is a
// manual run. Without a deadline in ctx there is no limit to the work, and Do
// returns only after the work has.
//
// The error is an [OutcomeError] for the outcomes that are errors, and another
// for a run that was refused before it began: an invalid spec, a tick that
// [events.Tick.Check] refuses, a ctx that has ended or leaves too little time.
func Do(ctx context.Context, locks *lockkit.LockTable, spec job.Spec, tick events.Tick, work Work, opts ...Option) (Result, error) {
	r, err := newRunner(locks, spec, work, opts)
	if err != nil {
		return r.refuse(ctx, err)
	}
	return r.run(ctx, tick)
}

// runner is a job that is ready to run. It is not changed once it is made, so
// that invocations may run side by side in one process.
type runner struct {
	locks  *lockkit.LockTable
	spec   job.Spec // with its defaults
	work   Work
	logger *slog.Logger
}

// newRunner returns a runner that can at least log, also beside an error.
func newRunner(locks *lockkit.LockTable, spec job.Spec, work Work, opts []Option) (*runner, error) {
	r := &runner{locks: locks, spec: spec.WithDefaults(), work: work, logger: slog.New(slog.DiscardHandler)}
	for _, o := range opts {
		o(r)
	}
	err := spec.Validate()
	if locks == nil {
		err = errors.Join(err, errors.New("the lock table is nil: make one with lockkit.New"))
	}
	if work == nil {
		err = errors.Join(err, errors.New("the work is nil: pass the function that does the job"))
	}
	if err != nil {
		return r, fmt.Errorf("singleton: cannot run job %q: %w", spec.Name, err)
	}
	return r, nil
}

// refuse reports a run that did not begin.
func (r *runner) refuse(ctx context.Context, err error) (Result, error) {
	res := Result{Job: r.spec.Name, RequestID: requestFrom(ctx).id, Error: told(err)}
	res.log(ctx, r.logger, "")
	return res, err
}

func requestFrom(ctx context.Context) request {
	lc, ok := lambdacontext.FromContext(ctx)
	if !ok {
		return request{}
	}
	return request{id: lc.AwsRequestID, logStream: lambdacontext.LogStreamName}
}
