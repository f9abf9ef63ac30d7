package singletontest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// CrashEverywhere runs a job and disturbs it at each of its requests, each time in
// a world of its own: the process dies before the request is applied, or after;
// the connection breaks before, or after; the process stands still before, or
// after, is taken over, and goes on when its successor has finished. Then the tick
// is delivered again, or the next one comes. In the end the first tick is delivered
// once more, and check looks at the tables.
//
// The job has a history: the tick before the first, as long before it as the next
// comes after, was completed by a work that did nothing, before the world was set
// up.
//
// check returns an error for what is wrong in the world's tables, nil when each
// effect is there exactly once. It is called first for a run that nothing
// disturbs. No request is being answered meanwhile, so that it may look at what the
// handler of a [Server] keeps, too. A world may end with one tick completed or with both, see
// [World.Completed]; a job covers the time since the last completed tick, so both
// must come to the same for what was due at the first.
//
// Besides check it is wrong when what comes after the disturbance does not
// complete, when a delivery of a tick that is done runs the work, or when a run
// reports a tick as marked that the lock's item does not call completed.
//
// Every wrong world is an error of the test, with the request, the disturbance and
// what each delivery said. A job that does not complete undisturbed ends the test.
func CrashEverywhere(t *testing.T, spec job.Spec, program Program, check func(w *World) error, opts ...Option) Report {
	t.Helper()
	r, err := enumerate(t, spec, program, check, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Wrong() {
		t.Errorf("%s: %s", r.Job, p)
	}
	return r
}

// Ticks says when the two ticks of CrashEverywhere are due. The default is
// midnight 2000-01-02 UTC, and the spec's ExpectedInterval later, a day where it
// has none. A time before 2000 is due at once.
func Ticks(first, next time.Time) Option {
	return func(s *settings) { s.first, s.next = first, next }
}

const (
	// mostDeliveries is how often an undisturbed tick may need to be delivered,
	// for jobs that yield.
	mostDeliveries = 10
	// retryAfter is how long Lambda waits before it delivers a failed event again.
	retryAfter = time.Minute
)

// crash is one call of CrashEverywhere.
type crash struct {
	settings
	spec    job.Spec
	program Program
	check   func(w *World) error
	// deliveries is how many a tick needs undisturbed.
	deliveries int
}

// enumerate tries all points. The error is that of the undisturbed run.
func enumerate(t *testing.T, spec job.Spec, program Program, check func(w *World) error, opts ...Option) (Report, error) {
	t.Helper()
	switch {
	case check == nil:
		return Report{}, fmt.Errorf("singletontest: check of job %q is nil: give a function that looks whether each effect is there exactly once", spec.Name)
	case program == nil:
		return Report{}, fmt.Errorf("singletontest: the program of job %q is nil: give the function that makes its work", spec.Name)
	}
	c := crash{settings: newSettings(opts), spec: spec, program: program, check: check}
	if c.first.IsZero() {
		c.first = time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
	}
	if c.next.IsZero() {
		interval := spec.ExpectedInterval
		if interval == 0 {
			interval = 24 * time.Hour
		}
		c.next = c.first.Add(interval)
	}
	r := Report{Job: spec.Name}
	if !c.next.After(c.first) {
		return r, fmt.Errorf("singletontest: the next tick, %s, is not after the first, %s: correct the option Ticks", c.next, c.first)
	}
	c.deliveries = mostDeliveries
	calm := c.world(t, 0, disturbance{name: "undisturbed"})
	if calm.point.Err != nil {
		return r, fmt.Errorf("singletontest: job %q goes wrong without any disturbance: %s", spec.Name, calm.point)
	}
	r.Requests, c.deliveries = calm.requests, calm.deliveries
	for _, d := range disturbances() {
		for n := 1; ; n++ {
			tried := c.world(t, n, d)
			if !tried.struck {
				break
			}
			r.Points = append(r.Points, tried.point)
		}
	}
	return r, nil
}

// tried is what became of one world.
type tried struct {
	point      Point
	struck     bool
	requests   []Request
	deliveries int
}

// world disturbs the nth request of a world of its own.
func (c *crash) world(t *testing.T, n int, d disturbance) tried {
	t.Helper()
	got := tried{point: Point{Number: n, Disturbance: d.name, kind: d}}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, c.settings)
		defer w.end()
		time.Sleep(time.Until(c.first))
		c.before(w)
		if c.setup != nil {
			c.setup(w)
		}
		w.trap = trap{at: n, strike: d.strike}
		s := story{crash: c, w: w, d: d}
		got.deliveries = s.play()
		got.requests = w.Requests()
		got.point.Request, got.struck = w.disarm()
		if len(s.faults) == 0 {
			s.again()
		}
		synctest.Wait()
		if err := c.check(w); err != nil {
			s.wrong("check: %w", err)
		}
		got.point.Story, got.point.Err = s.told, errors.Join(s.faults...)
	})
	return got
}

// before completes the tick before the first, with a work that does nothing, so
// that the first tick's interval begins where that one ended.
func (c *crash) before(w *World) {
	earlier := events.Tick{Time: c.first.Add(c.first.Sub(c.next))} // by hand: no age limit applies
	nothing := func(context.Context, *singleton.Run) error { return nil }
	if _, err := singleton.Do(w.T.Context(), w.lockTable(w.Client(), "before"), c.spec, earlier, nothing); err != nil {
		w.T.Fatal(err)
	}
}

// story is what happens in one world.
type story struct {
	*crash
	w      *World
	d      disturbance
	told   []string
	faults []error
}

func (s *story) wrong(format string, args ...any) {
	s.faults = append(s.faults, fmt.Errorf(format, args...))
}

// play delivers until the tick that is to be completed is, and returns how often.
func (s *story) play() (deliveries int) {
	// The disturbed delivery comes on top of those that a tick needs.
	limit, due, target := s.deliveries, s.first, s.first
	if s.d.strike != nothing {
		limit++
	}
	attempt := 0
	var frozen []invocation
	for deliveries < limit && (deliveries == 0 || s.w.Completed(s.spec.Name).Before(target)) {
		deliveries++
		attempt++
		i := s.deliver(due, attempt)
		pause := retryAfter
		select {
		case e := <-i.ended:
			s.ended(i, e)
			if e.Result.Outcome == singleton.Expired {
				due, target, attempt = s.next, s.next, 0 // nobody else will do it
				limit = deliveries + 2*s.deliveries
			}
		case <-i.process.halted:
			if s.d.strike.freezes() {
				frozen, pause = append(frozen, i), 0
				s.tell(i, "stands still")
			} else if v := i.process.panicked(); v != nil {
				s.tell(i, Ended{Panic: v}.String())
			} else {
				s.tell(i, "dies")
			}
			if s.d.next {
				due, target, attempt = s.next, s.next, 0
				limit = deliveries + 2*s.deliveries // it has what two ticks have
			}
		}
		if deliveries < limit {
			time.Sleep(pause)
		}
	}
	if s.w.Completed(s.spec.Name).Before(target) {
		s.wrong("tick %s is not completed after %d deliveries", target.Format(time.RFC3339), deliveries)
	}
	for _, i := range frozen {
		i.process.Thaw()
		s.ended(i, <-i.ended)
		synctest.Wait() // for a work that its run did not wait for
	}
	return deliveries
}

// again delivers the first tick once more, when it is done.
func (s *story) again() {
	i := s.deliver(s.first, 2)
	e := <-i.ended
	s.ended(i, e)
	switch e.Result.Outcome {
	case singleton.Duplicate, singleton.Superseded, singleton.Expired:
	default:
		s.wrong("a tick that is done was delivered again, and its run ended as: %s", e)
	}
}

// invocation is one delivery under way.
type invocation struct {
	process *Process
	tick    events.Tick
	ended   <-chan Ended
}

func (s *story) deliver(due time.Time, attempt int) invocation {
	tick := At(due)
	tick.Attempt = attempt
	p := s.w.Process()
	return invocation{p, tick, p.Start(s.spec, s.program, tick)}
}

func (s *story) tell(i invocation, what string) {
	s.told = append(s.told, fmt.Sprintf("%s, tick %s attempt %d: %s", i.process.label, i.tick.Time.Format(time.DateTime), i.tick.Attempt, what))
}

// ended notes what a delivery said, and whether it is true.
func (s *story) ended(i invocation, e Ended) {
	told := e.String()
	if gap := e.Result.Gap; gap != nil {
		told += fmt.Sprintf(" (nothing covers the time from %s to %s, which lies further back than the job's CatchUp: choose other Ticks, or a longer CatchUp)", gap.From.Format(time.DateTime), gap.To.Format(time.DateTime))
	}
	s.tell(i, told)
	if e.Result.Outcome == singleton.Completed && e.Result.Marked && s.w.Completed(s.spec.Name).Before(i.tick.Time) {
		s.wrong("%s reported tick %s as completed and marked, and the lock's item does not call it completed", i.process.label, i.tick.Time.Format(time.RFC3339))
	}
}
