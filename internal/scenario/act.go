package scenario

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// act is what one job is put through. The acts are played side by side: each job
// has a lock of its own, so that none is in another's way.
type act struct {
	*stage
	spec      job.Spec
	bootstrap string
	ticks     []time.Time
	wanted    []expectation
	stuck     error // why it did not get to its end
}

// drama is an act with its story and its own checks.
type drama interface {
	part() *act
	// environment is what the job's function gets besides that of every function.
	environment() map[string]string
	steps() []step
	// gather returns what the checks need; common is the part that all acts have.
	gather(ctx context.Context, common evidence) (testimony, error)
}

// testimony is what the verdict on one act is made from.
type testimony interface {
	// judge returns what is wrong, a sentence for each.
	judge() []string
	// summary prints what the tables show.
	summary(t *timeline)
}

func (a *act) part() *act { return a }

// step is a scene of an act.
type step struct {
	title string
	run   func(context.Context) error
}

// play goes through the steps. An error says which one did not get to its end;
// those after it are not played.
func (a *act) play(ctx context.Context, steps []step) error {
	for _, step := range steps {
		a.line.step(a.spec.Name, step.title)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("step %q: %w", step.title, err)
		}
	}
	return nil
}

// expectation is what the deliveries of a tick must have ended as. The order of
// the deliveries does not count, for of two at one instant either may win.
type expectation struct {
	what       string
	deliveries []attempt
	allowed    [][]string // each as many outcomes as deliveries, sorted
	requests   int        // exactly so many for the lock, if not 0
	takeover   bool       // the lock was taken over
}

// attempt names a delivery.
type attempt struct {
	request string
	number  int
}

func first(request string) attempt { return attempt{request, 1} }

// expect notes what a delivery must end as, one of the outcomes, and returns the
// note to be refined.
func (a *act) expect(what string, of attempt, outcomes ...singleton.Outcome) *expectation {
	e := expectation{what: what, deliveries: []attempt{of}}
	for _, o := range outcomes {
		e.allowed = append(e.allowed, []string{string(o)})
	}
	a.wanted = append(a.wanted, e)
	return &a.wanted[len(a.wanted)-1]
}

// expectKill notes that a delivery ends with its process.
func (a *act) expectKill(request string) {
	a.expect("the run that is killed", first(request)).allowed = [][]string{{outcomeKilled}}
}

// deliver sends a tick as EventBridge Scheduler does, so many times at once.
func (a *act) deliver(tick, copies int) ([]string, error) {
	payload, err := events.Encode(events.Tick{
		Time: a.ticks[tick-1], Source: events.KindSchedule, ID: fmt.Sprintf("scenario-%d", tick), Attempt: 1,
	}, time.Now())
	if err != nil {
		return nil, err
	}
	return a.lambda.InvokeAsync(a.spec.Name, payload, copies)
}

// deliverOne sends a tick once.
func (a *act) deliverOne(tick int) (request string, err error) {
	ids, err := a.deliver(tick, 1)
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// normal delivers a tick, and waits until its run is completed.
func (a *act) normal(ctx context.Context, tick int, what string) error {
	id, err := a.deliverOne(tick)
	if err != nil {
		return err
	}
	a.expect(what, first(id), singleton.Completed)
	return a.ended(ctx, first(id))
}

// ended waits until deliveries have ended.
func (a *act) ended(ctx context.Context, deliveries ...attempt) error {
	for _, of := range deliveries {
		if _, err := a.history.await(ctx, of.request, of.number, "the end", hasEnded); err != nil {
			return err
		}
	}
	return nil
}

// kill ends the process of a run when it is at work on its n-th piece.
func (a *act) kill(ctx context.Context, request string, n int) error {
	d, err := a.history.await(ctx, request, 1, fmt.Sprintf("piece %d of the work", n), isAtWork(n))
	if err != nil {
		return err
	}
	a.expectKill(request)
	return a.lambda.Kill(d.env)
}

// note prints what the runner itself has done.
func (a *act) note(format string, args ...any) {
	a.line.note(a.spec.Name, format, args...)
}

func hasEnded(d delivery) bool { return !d.ended.IsZero() }

func isAtWork(n int) func(delivery) bool {
	return func(d delivery) bool { return len(d.working) >= n }
}

// deliveriesOf are those of one job.
func deliveriesOf(job string, all []delivery) []delivery {
	return slices.DeleteFunc(slices.Clone(all), func(d delivery) bool { return d.job != job })
}
