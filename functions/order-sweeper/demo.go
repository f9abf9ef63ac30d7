package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/solotick/solotick/functions/internal/wiring"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// demo is what `solotick up --scenario` changes about this function, each by an
// environment variable that no stack sets. The zero value changes nothing.
//
//	SOLOTICK_DEMO_UNFENCED  1: write without the held check, to show what goes wrong
//	SOLOTICK_DEMO_PAUSE     what the work on each order takes, up to 10 s, such as 300ms
//	SOLOTICK_DEMO_LEASE     the lease in place of the job's own, such as 2s
type demo struct {
	unfenced bool
	pause    time.Duration
	lease    time.Duration
}

func (d *demo) variables() []wiring.Variable {
	duration := func(into *time.Duration, least, most time.Duration) func(string) error {
		return func(value string) error {
			parsed, err := time.ParseDuration(value)
			if err != nil {
				return errors.New("not a duration")
			}
			if parsed < least || parsed > most {
				return errors.New("out of range")
			}
			*into = parsed
			return nil
		}
	}
	const fix = "it is for demonstrations: remove it"
	return []wiring.Variable{
		{Name: "SOLOTICK_DEMO_UNFENCED", Want: `"1"`, Fix: fix, Optional: true, Set: func(value string) error {
			if value != "1" {
				return errors.New("unknown value")
			}
			d.unfenced = true
			return nil
		}},
		{Name: "SOLOTICK_DEMO_PAUSE", Want: "a duration up to 10s, such as 300ms", Fix: fix, Optional: true, Set: duration(&d.pause, 0, 10*time.Second)},
		{Name: "SOLOTICK_DEMO_LEASE", Want: "a duration from 1s to 30s, such as 2s", Fix: fix, Optional: true, Set: duration(&d.lease, job.MinLease, 30*time.Second)},
	}
}

// apply changes the job's parts and says aloud that it did.
func (d *demo) apply(spec job.Spec, s *sweeper) job.Spec {
	if *d == (demo{}) {
		return spec
	}
	s.logger.LogAttrs(context.Background(), slog.LevelWarn, "demonstration switches are on", slog.Bool("unfenced", d.unfenced),
		slog.Int64("pause_ms", d.pause.Milliseconds()), slog.Int64("lease_ms", d.lease.Milliseconds()))
	if d.lease > 0 {
		spec.Lease = d.lease
	}
	work := func(ctx context.Context, o order) {
		s.logger.LogAttrs(ctx, slog.LevelDebug, "at work on order", slog.String("order", o.id))
		time.Sleep(d.pause)
	}
	switch {
	case d.unfenced:
		s.closer = plain{table: s.table, work: work}
	case d.pause > 0:
		s.closer = slow{closer: s.closer, work: work}
	}
	return spec
}

// slow does something before it closes an order that pays no attention to the
// context, as a call of a slow service would.
type slow struct {
	closer closer
	work   func(context.Context, order)
}

func (s slow) close(ctx context.Context, h holder, o order) error {
	s.work(ctx, o)
	return s.closer.close(ctx, h, o)
}
