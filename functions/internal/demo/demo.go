// Package demo is what `solotick up --scenario` changes about a function, each by
// an environment variable that no stack sets:
//
//	SOLOTICK_DEMO_PAUSE     what each piece of the work takes, up to 10 s, such as 300ms
//	SOLOTICK_DEMO_LEASE     the lease in place of the job's own, such as 2s
//	SOLOTICK_DEMO_UNFENCED  1: write without the held check, to show what goes wrong (order-sweeper)
//	SOLOTICK_DEMO_PAGE      orders on a page, such as 4 (nightly-report)
package demo

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/solotick/solotick/functions/internal/wiring"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// Switches are what was set. The zero value changes nothing. They are read at
// cold start and not changed afterwards.
type Switches struct {
	Pause    time.Duration
	Lease    time.Duration
	Unfenced bool
	Page     int32
}

const fix = "it is for demonstrations: remove it"

// Variables are those that every function has.
func (s *Switches) Variables() []wiring.Variable {
	return []wiring.Variable{
		{Name: "SOLOTICK_DEMO_PAUSE", Want: "a duration up to 10s, such as 300ms", Fix: fix, Optional: true, Set: duration(&s.Pause, 0, 10*time.Second)},
		{Name: "SOLOTICK_DEMO_LEASE", Want: "a duration from 1s to 30s, such as 2s", Fix: fix, Optional: true, Set: duration(&s.Lease, job.MinLease, 30*time.Second)},
	}
}

// UnfencedVariable is for a function that can write without the held check.
func (s *Switches) UnfencedVariable() wiring.Variable {
	return wiring.Variable{Name: "SOLOTICK_DEMO_UNFENCED", Want: `"1"`, Fix: fix, Optional: true, Set: func(value string) error {
		if value != "1" {
			return errors.New("unknown value")
		}
		s.Unfenced = true
		return nil
	}}
}

// PageVariable is for a function that reads pages.
func (s *Switches) PageVariable() wiring.Variable {
	return wiring.Variable{Name: "SOLOTICK_DEMO_PAGE", Want: "a number from 1 to 1000", Fix: fix, Optional: true, Set: func(value string) error {
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 || n > 1000 {
			return errors.New("out of range")
		}
		s.Page = int32(n)
		return nil
	}}
}

func duration(into *time.Duration, least, most time.Duration) func(string) error {
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

// Apply returns the spec as the switches want it, and says aloud that any are on.
func (s *Switches) Apply(spec job.Spec, logger *slog.Logger) job.Spec {
	if *s == (Switches{}) {
		return spec
	}
	logger.LogAttrs(context.Background(), slog.LevelWarn, "demonstration switches are on",
		slog.Int64("pause_ms", s.Pause.Milliseconds()), slog.Int64("lease_ms", s.Lease.Milliseconds()),
		slog.Bool("unfenced", s.Unfenced), slog.Int("page", int(s.Page)))
	if s.Lease > 0 {
		spec.Lease = s.Lease
	}
	return spec
}

// Work stands for work on something that takes its time and pays no attention to
// a context, as a call of a slow service would. Without a pause it does nothing.
func (s *Switches) Work(ctx context.Context, logger *slog.Logger, on string) {
	if s.Pause == 0 {
		return
	}
	logger.LogAttrs(ctx, slog.LevelDebug, "at work", slog.String("on", on))
	time.Sleep(s.Pause)
}
