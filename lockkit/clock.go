package lockkit

import (
	"context"
	"math/rand/v2"
	"time"
)

// moment is one reading of a process's two clocks. Trust in a lease is
// monotonic time; the wall clock ends a lease too, because the monotonic one
// stands still in a suspended machine, and it is what stamps are compared with.
type moment struct{ mono, wall time.Time }

// since returns how long ago an earlier moment was, by either clock.
func (m moment) since(earlier moment) (mono, wall time.Duration) {
	return m.mono.Sub(earlier.mono), m.wall.Sub(earlier.wall)
}

// clock is a process's time, with the chance that keeps processes from doing the
// same at the same moment. It is not for users: it exists so that a simulation
// can run processes whose clocks differ in rate and offset and which pause,
// which a single clock, real or virtual, cannot show, and can run them again.
type clock struct {
	now       func() moment
	afterFunc func(time.Duration, func()) timer
	// sleep reports whether it slept all of d before ctx ended.
	sleep func(ctx context.Context, d time.Duration) bool
	// random returns a number from [0, 1). It is safe for concurrent use.
	random func() float64
}

// timer is what lockkit uses of a *time.Timer.
type timer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// system is the clock of this process.
func system() clock {
	return clock{
		now: func() moment {
			now := time.Now()
			return moment{mono: now, wall: now.Round(0)}
		},
		afterFunc: func(d time.Duration, f func()) timer { return time.AfterFunc(d, f) },
		sleep: func(ctx context.Context, d time.Duration) bool {
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-t.C:
				return true
			case <-ctx.Done():
				return false
			}
		},
		random: rand.Float64,
	}
}
