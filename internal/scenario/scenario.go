// Package scenario plays the jobs of this application through what can happen to
// a scheduled function, with real processes on this machine, and judges the
// result by what is in the tables:
//
//   - order-sweeper: normal runs, a tick delivered twice at one instant and again
//     later, an overlap, a kill -9 in the middle of a run, and a holder that is
//     frozen and taken over while a write of its own is on its way;
//   - nightly-report: a kill -9 between two pages, after which Lambda's retry, or
//     the next tick, goes on behind the last page that was stored;
//   - cache-refresh: a holder that is frozen with an old document in its hands,
//     taken over, and wakes up to put it, at a target outside of DynamoDB.
//
// The functions are the binaries that are deployed, unchanged. They run behind the
// local Lambda and talk to a DynamoDB endpoint on loopback that counts every
// request. What makes it short is in the functions' environment: a lease of two
// seconds, a pause on each piece of the work, and retries after seconds in place
// of minutes. The jobs are played side by side.
//
// What is printed comes from the functions' own log lines, from the local Lambda,
// from the endpoint and from the target; the verdict comes from the tables and
// the target, and from nothing that the scenario believes to have done.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/internal/lambda"
)

// Options of a scenario.
type Options struct {
	// Functions is the folder with <job>/bootstrap, built for this machine.
	Functions string
	// WithoutFencing makes order-sweeper write without the held check, and the
	// target of cache-refresh ignore the tokens. The verdict must then be a failed
	// one: a check that cannot fail shows nothing.
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

// stage is a scenario under way, with what all acts share.
type stage struct {
	options  Options
	tables   tables
	made     []string         // of the tables
	client   *dynamodb.Client // through the endpoint, as the functions go
	endpoint *endpoint
	services *services // the source and the target of cache-refresh
	lambda   *lambda.Service
	history  *history
	line     *timeline
	dramas   []drama
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
	if err := s.play(ctx); err != nil {
		return false, explain(ctx, err)
	}
	heard, err := s.gather(ctx)
	if err != nil {
		return false, explain(ctx, err)
	}
	s.line.costs(s.jobs(), s.history.deliveriesByStart(), s.endpoint.calls())
	return s.line.verdict(s.jobs(), heard), nil
}

// play plays all acts side by side. One that does not get to its end is a matter
// of the verdict; a function that does not start ends them all.
func (s *stage) play(ctx context.Context) error {
	playing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var acts sync.WaitGroup
	for _, d := range s.dramas {
		acts.Go(func() {
			a := d.part()
			a.stuck = a.play(playing, d.steps())
			if errors.Is(a.stuck, errNotStarted) {
				stop(fmt.Errorf("function %s, %s: %w; %s", a.spec.Name, a.bootstrap, a.stuck, buildIt))
			}
		})
	}
	acts.Wait()
	if playing.Err() != nil {
		return context.Cause(playing)
	}
	for _, d := range s.dramas {
		if d.part().stuck != nil {
			return nil
		}
	}
	return s.lambda.Idle(ctx)
}

// jobs are the names of the jobs, in the order of their acts.
func (s *stage) jobs() []string {
	var names []string
	for _, d := range s.dramas {
		names = append(names, d.part().spec.Name)
	}
	return names
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
	err = errors.Join(err, s.dropTables(ctx), s.endpoint.close(ctx), s.services.close())
	return errors.Join(err, s.keepLogs())
}
