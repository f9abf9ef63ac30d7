package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/lockkit/singleton"
)

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

// play goes through the steps. An error says which one did not get to its end;
// those after it are not played.
func (s *stage) play(ctx context.Context) error {
	for _, step := range []struct {
		title string
		run   func(context.Context) error
	}{
		{"two normal ticks", s.normal},
		{"one tick delivered twice at one instant, and once more later", s.twice},
		{"a tick is due while the run of the tick before still works", s.overlap},
		{"kill -9 in the middle of a run, and the next tick", s.kill},
		{"a run is frozen in the middle, taken over, and wakes up", s.freeze},
		{"the next tick, and Lambda's retry of the run that was lost", s.after},
	} {
		s.line.step(step.title)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("step %q: %w", step.title, err)
		}
	}
	return nil
}

func (s *stage) normal(ctx context.Context) error {
	// This one is not due at any of the ticks, and must be left alone.
	if err := s.place(ctx, "young", 1, false); err != nil {
		return err
	}
	for tick := 1; tick <= 2; tick++ {
		if err := s.place(ctx, fmt.Sprintf("order-%d", tick), 2, true); err != nil {
			return err
		}
		id, err := s.deliver(tick, 1)
		if err != nil {
			return err
		}
		if _, err := s.history.await(ctx, id[0], 1, "the end", hasEnded); err != nil {
			return err
		}
		s.expect("a normal run", first(id[0]), singleton.Completed)
	}
	return nil
}

func (s *stage) twice(ctx context.Context) error {
	if err := s.place(ctx, "order-3", 2, true); err != nil {
		return err
	}
	ids, err := s.deliver(3, 2)
	if err != nil {
		return err
	}
	s.wanted = append(s.wanted, expectation{
		what: "a tick delivered twice at one instant", deliveries: []attempt{{ids[0], 1}, {ids[1], 1}},
		allowed: [][]string{{string(singleton.Completed), string(singleton.Duplicate)}},
	})
	for _, id := range ids {
		if _, err := s.history.await(ctx, id, 1, "the end", hasEnded); err != nil {
			return err
		}
	}
	if ids, err = s.deliver(3, 1); err != nil {
		return err
	}
	s.expect("the same tick delivered again", first(ids[0]), singleton.Duplicate).requests = 1
	_, err = s.history.await(ctx, ids[0], 1, "the end", hasEnded)
	return err
}

func (s *stage) overlap(ctx context.Context) error {
	if err := s.place(ctx, "order-4", 8, true); err != nil {
		return err
	}
	slow, err := s.deliver(4, 1)
	if err != nil {
		return err
	}
	if _, err := s.history.await(ctx, slow[0], 1, "the first order", isAtWork(1)); err != nil {
		return err
	}
	next, err := s.deliver(5, 1)
	if err != nil {
		return err
	}
	s.expect("the run that works on", first(slow[0]), singleton.Completed)
	s.expect("the tick that is due meanwhile", first(next[0]), singleton.Skipped)
	for _, id := range []string{next[0], slow[0]} {
		if _, err := s.history.await(ctx, id, 1, "the end", hasEnded); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) kill(ctx context.Context) error {
	if err := s.place(ctx, "order-6", 4, true); err != nil {
		return err
	}
	victim, err := s.deliver(6, 1)
	if err != nil {
		return err
	}
	d, err := s.history.await(ctx, victim[0], 1, "the second order", isAtWork(2))
	if err != nil {
		return err
	}
	if err := s.lambda.Kill(d.env); err != nil {
		return err
	}
	s.expect("the run that is killed", first(victim[0])).allowed = [][]string{{outcomeKilled}}
	next, err := s.deliver(7, 1)
	if err != nil {
		return err
	}
	s.expect("the next tick, which takes over", first(next[0]), singleton.Completed).takeover = true
	if _, err := s.history.await(ctx, next[0], 1, "the end", hasEnded); err != nil {
		return err
	}
	// On a loaded machine the retry may come while the successor still works.
	s.expect("Lambda's retry of the killed run", attempt{victim[0], 2}, singleton.Superseded, singleton.Skipped)
	_, err = s.history.await(ctx, victim[0], 2, "the end", hasEnded)
	return err
}

// freeze stops a run whose write is on its way, which reaches the table after
// the run was taken over: nothing but the table can refuse it then.
func (s *stage) freeze(ctx context.Context) error {
	if err := s.place(ctx, "order-8", 4, true); err != nil {
		return err
	}
	write := s.endpoint.holdWrite("order-8", 2)
	frozen, err := s.deliver(8, 1)
	if err != nil {
		return err
	}
	d, err := s.freezeWriting(ctx, frozen[0], write)
	if err != nil {
		return err
	}
	s.expect("the run that is frozen", first(frozen[0]), singleton.Lost)
	next, err := s.deliver(9, 1)
	if err != nil {
		return err
	}
	s.expect("the next tick, which takes over", first(next[0]), singleton.Completed).takeover = true
	if _, err := s.history.await(ctx, next[0], 1, "the end", hasEnded); err != nil {
		return err
	}
	s.line.line(time.Now(), d.name, d.env, d.pid, "its write of "+write.order+" reaches the table")
	if err := write.release(ctx); err != nil {
		return err
	}
	if err := s.lambda.Thaw(d.env); err != nil {
		return err
	}
	_, err = s.history.await(ctx, frozen[0], 1, "the end", hasEnded)
	s.lost = attempt{frozen[0], 2}
	s.expect("Lambda's retry of the lost run", s.lost, singleton.Superseded, singleton.Skipped)
	return err
}

// freezeWriting stops a run whose write is held, and makes sure by the table that
// it has not been carried out some other way.
func (s *stage) freezeWriting(ctx context.Context, request string, write *hold) (delivery, error) {
	d, err := s.history.await(ctx, request, 1, "the second order", func(d delivery) bool {
		return len(d.working) >= 2 || hasEnded(d)
	})
	if err != nil {
		return d, err
	}
	order := ""
	if !hasEnded(d) {
		if order, err = write.await(ctx); err != nil {
			return d, err
		}
		s.line.line(time.Now(), d.name, d.env, d.pid, "has sent its write of "+order+", which is held on its way")
		if err := s.lambda.Freeze(d.env); err != nil {
			return d, err
		}
		still, err := s.staysPlaced(ctx, order)
		if err != nil {
			return d, err
		}
		if still {
			return d, nil
		}
	}
	return d, fmt.Errorf("the run of %s could not be frozen while its write was on its way: this machine is too slow for the scenario; try again", d.name)
}

func (s *stage) after(ctx context.Context) error {
	if err := s.place(ctx, "order-10", 2, true); err != nil {
		return err
	}
	id, err := s.deliver(10, 1)
	if err != nil {
		return err
	}
	s.expect("a normal run", first(id[0]), singleton.Completed)
	for _, a := range []attempt{first(id[0]), s.lost} {
		if _, err := s.history.await(ctx, a.request, a.number, "the end", hasEnded); err != nil {
			return err
		}
	}
	return s.lambda.Idle(ctx)
}

func hasEnded(d delivery) bool { return !d.ended.IsZero() }

func isAtWork(n int) func(delivery) bool {
	return func(d delivery) bool { return len(d.working) >= n }
}

func first(request string) attempt { return attempt{request, 1} }

// expect notes what a delivery must end as, one of the outcomes, and returns the
// note to be refined.
func (s *stage) expect(what string, a attempt, outcomes ...singleton.Outcome) *expectation {
	e := expectation{what: what, deliveries: []attempt{a}}
	for _, o := range outcomes {
		e.allowed = append(e.allowed, []string{string(o)})
	}
	s.wanted = append(s.wanted, e)
	return &s.wanted[len(s.wanted)-1]
}

// deliver sends a tick as EventBridge Scheduler does, so many times at once.
func (s *stage) deliver(tick, copies int) ([]string, error) {
	payload, err := events.Encode(events.Tick{
		Time: s.ticks[tick-1], Source: events.KindSchedule, ID: fmt.Sprintf("scenario-%d", tick), Attempt: 1,
	}, time.Now())
	if err != nil {
		return nil, err
	}
	return s.lambda.InvokeAsync(functions.OrderSweeper.Name, payload, copies)
}

// place puts orders into the table, due at every tick or at none.
func (s *stage) place(ctx context.Context, prefix string, n int, due bool) error {
	age := 2 * time.Hour
	if !due {
		age = time.Minute
	}
	var names []string
	for i := range n {
		p := placed{id: fmt.Sprintf("%s%c", prefix, 'a'+i), due: due}
		if err := s.putOrder(ctx, p.id, time.Now().Add(-age)); err != nil {
			return err
		}
		s.placed = append(s.placed, p)
		names = append(names, p.id)
	}
	kind := "due"
	if !due {
		kind = "not due"
	}
	s.line.note("placed %s (%s)", strings.Join(names, ", "), kind)
	return nil
}
