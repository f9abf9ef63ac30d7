package lockkit

import (
	"context"
	"strconv"
	"time"
)

// Clock is the seam of a process's time as the simulation fills it.
type Clock struct {
	Now       func() (mono, wall time.Time)
	AfterFunc func(time.Duration, func()) Timer
	Sleep     func(context.Context, time.Duration) bool
	Random    func() float64
}

// Timer is what a Clock's AfterFunc returns.
type Timer = timer

// SetClock gives a LockTable that nobody uses yet another clock.
func SetClock(t *LockTable, c Clock) {
	t.clock = clock{
		now: func() moment {
			mono, wall := c.Now()
			return moment{mono: mono, wall: wall}
		},
		afterFunc: func(d time.Duration, f func()) timer { return c.AfterFunc(d, f) },
		sleep:     c.Sleep,
		random:    c.Random,
	}
}

// Believes reports what Err would say now, without ending a lease whose time is
// over: an observer that is no part of the process must not change what it sees.
func Believes(l *Lease) bool {
	now := l.t.clock.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended == nil && l.left(now) > 0
}

// Remember makes a LockTable see n held locks, and returns how many it remembers
// and whether the newest is among them.
func Remember(t *LockTable, n int) (remembered int, newest bool) {
	name := ""
	for i := range n {
		name = strconv.Itoa(i)
		t.memory.see(name, record{owner: "other", version: "v"}, t.clock.now().mono)
	}
	_, newest = t.memory.get(name)
	return len(t.memory.seen), newest
}
