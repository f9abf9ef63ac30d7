// Package scenario plays the job order-sweeper through what can happen to a
// scheduled function, with real processes on this machine, and judges the result
// by the table: normal runs, a tick delivered twice at one instant and again
// later, an overlap, a kill -9 in the middle of a run, and a holder that is
// frozen in the middle, taken over, and wakes up with a write under way.
//
// The function is the binary that is deployed, unchanged. It runs behind the
// local Lambda and talks to a DynamoDB endpoint on loopback that counts every
// request. What makes it short is in the function's environment: a lease of two
// seconds, a pause on each order, and retries after seconds in place of minutes.
//
// What is printed comes from the function's own log lines, from the local Lambda
// and from the endpoint; the verdict comes from the table and from nothing that
// the scenario believes to have done.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/internal/lambda"
)

// Options of a scenario.
type Options struct {
	// Functions is the folder with <job>/bootstrap, built for this machine.
	Functions string
	// WithoutFencing makes the job write without the held check. The verdict must
	// then be a failed one: a check that cannot fail shows nothing.
	WithoutFencing bool
	// Listen is the loopback address of the endpoint; a port of 0 takes a free one.
	Listen string
	// Endpoint is the URL of another DynamoDB to use; "": one in memory. The
	// tables made there have names of their own and are deleted at the end.
	Endpoint string
	// KeepLogs is a folder to write every event and request to; "": none.
	KeepLogs string
	// Out gets the time line and the report.
	Out io.Writer
}

// ErrSetup is matched by the errors of a scenario that could not be played at
// all, because of what it was given or of what it found.
var ErrSetup = errors.New("the scenario cannot be played")

// stage is a scenario under way.
type stage struct {
	options   Options
	bootstrap string
	tables    tables
	made      []string         // of the tables
	client    *dynamodb.Client // through the endpoint, as the functions go
	endpoint  *endpoint
	lambda    *lambda.Service
	history   *history
	line      *timeline
	ticks     []time.Time
	placed    []placed
	wanted    []expectation
	lost      attempt // the retry of the run that was frozen
}

// Run plays the scenario and reports whether every check of the verdict was
// passed. An error says that there is no verdict: it matches ErrSetup, also when
// the endpoint that was named stops answering, or is the cause of ctx, at whose
// end everything that was started is stopped.
func Run(ctx context.Context, o Options) (ok bool, err error) {
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	s, err := setUp(ctx, o, lost)
	if err != nil {
		return false, explain(ctx, err)
	}
	defer func() { err = errors.Join(err, s.tearDown(context.WithoutCancel(ctx))) }()
	stuck := s.play(ctx)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if errors.Is(stuck, errNotStarted) {
		return false, explain(ctx, fmt.Errorf("function %s, %s: %w; %s", functions.OrderSweeper.Name, s.bootstrap, stuck, buildIt))
	}
	evidence, err := s.gather(ctx)
	if err != nil {
		return false, explain(ctx, err)
	}
	if stuck != nil {
		evidence.stuck = stuck.Error()
	}
	s.line.costs(s.history.deliveriesByStart(), s.endpoint.calls())
	return s.line.verdict(evidence, judge(evidence)), nil
}

// explain tells an interruption from what was wrong.
func explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrSetup, err)
}

// tearDown stops what was started, in the reverse order.
func (s *stage) tearDown(ctx context.Context) error {
	err := s.lambda.Close()
	err = errors.Join(err, s.dropTables(ctx), s.endpoint.close(ctx))
	return errors.Join(err, s.keepLogs())
}
