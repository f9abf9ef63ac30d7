package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/solotick/solotick/lockkit/singleton"
)

// sweeping is the act of order-sweeper: what befalls a job that changes items one
// by one, each with the held check.
type sweeping struct {
	*act
	placed []placed
	lost   attempt // the retry of the run that was frozen
}

func (s *sweeping) environment() map[string]string {
	env := map[string]string{"SOLOTICK_ORDERS_TABLE": s.tables.orders}
	if s.options.WithoutFencing {
		env["SOLOTICK_DEMO_UNFENCED"] = "1"
	}
	return env
}

func (s *sweeping) steps() []step {
	return []step{
		{"two normal ticks", s.twoTicks},
		{"one tick delivered twice at one instant, and once more later", s.twice},
		{"a tick is due while the run of the tick before still works", s.overlap},
		{"kill -9 in the middle of a run, and the next tick", s.killed},
		{"a run is frozen with a write on its way, taken over, and the write arrives", s.freeze},
		{"the next tick, and Lambda's retry of the run that was lost", s.after},
	}
}

func (s *sweeping) twoTicks(ctx context.Context) error {
	// This one is not due at any of the ticks, and must be left alone.
	if err := s.place(ctx, "young", 1, false); err != nil {
		return err
	}
	for tick := 1; tick <= 2; tick++ {
		if err := s.place(ctx, fmt.Sprintf("order-%d", tick), 2, true); err != nil {
			return err
		}
		if err := s.normal(ctx, tick, "a normal run"); err != nil {
			return err
		}
	}
	return nil
}

func (s *sweeping) twice(ctx context.Context) error {
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
	if err := s.ended(ctx, first(ids[0]), first(ids[1])); err != nil {
		return err
	}
	later, err := s.deliverOne(3)
	if err != nil {
		return err
	}
	s.expect("the same tick delivered again", first(later), singleton.Duplicate).requests = 1
	return s.ended(ctx, first(later))
}

func (s *sweeping) overlap(ctx context.Context) error {
	if err := s.place(ctx, "order-4", 8, true); err != nil {
		return err
	}
	slow, err := s.deliverOne(4)
	if err != nil {
		return err
	}
	if _, err := s.history.await(ctx, slow, 1, "the first order", isAtWork(1)); err != nil {
		return err
	}
	next, err := s.deliverOne(5)
	if err != nil {
		return err
	}
	s.expect("the run that works on", first(slow), singleton.Completed)
	s.expect("the tick that is due meanwhile", first(next), singleton.Skipped)
	return s.ended(ctx, first(next), first(slow))
}

func (s *sweeping) killed(ctx context.Context) error {
	if err := s.place(ctx, "order-6", 4, true); err != nil {
		return err
	}
	victim, err := s.deliverOne(6)
	if err != nil {
		return err
	}
	if err := s.kill(ctx, victim, 2); err != nil {
		return err
	}
	next, err := s.deliverOne(7)
	if err != nil {
		return err
	}
	s.expect("the next tick, which takes over", first(next), singleton.Completed).takeover = true
	// On a loaded machine the retry may come while the successor still works.
	retry := attempt{victim, 2}
	s.expect("Lambda's retry of the killed run", retry, singleton.Superseded, singleton.Skipped)
	return s.ended(ctx, first(next), retry)
}

// freeze stops a run that has sent a write which has not arrived. It arrives when
// the successor has finished, and before the run goes on.
func (s *sweeping) freeze(ctx context.Context) error {
	if err := s.place(ctx, "order-8", 4, true); err != nil {
		return err
	}
	write := s.endpoint.holdWrite("order-8b")
	defer write.release()
	frozen, err := s.deliverOne(8)
	if err != nil {
		return err
	}
	if _, err := s.history.await(ctx, frozen, 1, "the second order", isAtWork(2)); err != nil {
		return err
	}
	if err := until(ctx, write.arrived, "the write of order-8b"); err != nil {
		return err
	}
	d, _ := s.history.find(frozen, 1)
	if err := s.lambda.Freeze(d.env); err != nil {
		return err
	}
	s.line.line(time.Now(), d, "has sent the write of order-8b, which is still on its way")
	s.expect("the run that is frozen", first(frozen), singleton.Lost)
	next, err := s.deliverOne(9)
	if err != nil {
		return err
	}
	s.expect("the next tick, which takes over", first(next), singleton.Completed).takeover = true
	if err := s.ended(ctx, first(next)); err != nil {
		return err
	}
	write.release()
	if err := until(ctx, write.answered, "the table's answer to the write of order-8b"); err != nil {
		return err
	}
	if err := s.lambda.Thaw(d.env); err != nil {
		return err
	}
	s.lost = attempt{frozen, 2}
	s.expect("Lambda's retry of the lost run", s.lost, singleton.Superseded, singleton.Skipped)
	return s.ended(ctx, first(frozen))
}

func (s *sweeping) after(ctx context.Context) error {
	if err := s.place(ctx, "order-10", 2, true); err != nil {
		return err
	}
	if err := s.normal(ctx, 10, "a normal run"); err != nil {
		return err
	}
	return s.ended(ctx, s.lost)
}

// place puts orders into the table, due at every tick or at none.
func (s *sweeping) place(ctx context.Context, prefix string, n int, due bool) error {
	age := 2 * time.Hour
	if !due {
		age = time.Minute
	}
	var names []string
	for i := range n {
		p := placed{id: fmt.Sprintf("%s%c", prefix, 'a'+i), due: due}
		if err := s.putOrder(ctx, s.tables.orders, p.id, time.Now().Add(-age), 100); err != nil {
			return err
		}
		s.placed = append(s.placed, p)
		names = append(names, p.id)
	}
	kind := "due"
	if !due {
		kind = "not due"
	}
	s.note("placed %s (%s)", strings.Join(names, ", "), kind)
	return nil
}
