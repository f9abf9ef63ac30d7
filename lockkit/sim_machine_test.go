package lockkit_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// runState is what a simulated machine and its process are in.
type runState int

const (
	running   runState = iota
	paused             // the process does not run, its machine's clocks do
	suspended          // the machine sleeps: its monotonic clock stands still too
	dead               // for good
)

// machine is the clocks and the scheduler of one simulated process, driven by
// the bubble's clock. While it is not running, none of its timers fires and
// gate lets nobody through.
type machine struct {
	began time.Time
	rate  float64 // how fast its clocks go, against the bubble's

	mu       sync.Mutex // a leaf: nothing is called with it held
	offset   time.Duration
	state    runState
	since    time.Time // when it left running
	stood    time.Duration
	thawed   chan struct{} // closed when it runs again; nil while it runs
	thawedAt time.Time
	timers   map[*simTimer]struct{}
	chance   *rand.Rand
	over     <-chan struct{} // closed at the end of the world, which frees the dead
}

func newMachine(rate float64, offset time.Duration, chance rand.Source, over <-chan struct{}) *machine {
	return &machine{began: time.Now(), rate: rate, offset: offset, timers: map[*simTimer]struct{}{}, chance: rand.New(chance), over: over}
}

// clock is the seam that lockkit is given.
func (m *machine) clock() lockkit.Clock {
	return lockkit.Clock{
		Now:       m.now,
		AfterFunc: func(d time.Duration, f func()) lockkit.Timer { return m.afterFunc(d, f) },
		Sleep:     m.sleep,
		Random:    m.random,
	}
}

func (m *machine) random() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.chance.Float64()
}

// now reads both clocks.
func (m *machine) now() (mono, wall time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mono(), m.began.Round(0).Add(m.scaled(time.Since(m.began)) + m.offset)
}

// mono reads the monotonic clock. Callers hold mu.
func (m *machine) mono() time.Time {
	gone := time.Since(m.began) - m.stood
	if m.state == suspended {
		gone -= time.Since(m.since)
	}
	return time.Unix(1<<30, 0).Add(m.scaled(gone))
}

func (m *machine) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * m.rate)
}

// freeze stops the process, unless it is stopped already.
func (m *machine) freeze(how runState) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == dead || m.state != running && how != dead {
		return false
	}
	if m.state == running {
		m.since, m.thawed = time.Now(), make(chan struct{})
	}
	m.state = how
	for t := range m.timers {
		t.stop()
	}
	return true
}

// thaw lets the process go on; what was due meanwhile is due now.
func (m *machine) thaw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == running || m.state == dead {
		return
	}
	if m.state == suspended {
		m.stood += time.Since(m.since)
	}
	m.state, m.thawedAt = running, time.Now()
	close(m.thawed)
	for t := range m.timers {
		t.arm()
	}
}

// jump sets the wall clock by d.
func (m *machine) jump(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offset += d
}

// status returns the condition, and since when the process runs if it does.
func (m *machine) status() (state runState, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, m.thawedAt
}

// pending is the number of timers that are set.
func (m *machine) pending() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.timers)
}

// gate returns when the process runs. It reports false for one that never will:
// its goroutines come back only to be gone at the end of the world.
func (m *machine) gate() bool {
	for {
		m.mu.Lock()
		state, thawed := m.state, m.thawed
		m.mu.Unlock()
		switch state {
		case running:
			return true
		case dead:
			<-m.over
			return false
		default:
			select {
			case <-thawed:
			case <-m.over:
				return false
			}
		}
	}
}

func (m *machine) sleep(ctx context.Context, d time.Duration) bool {
	fired := make(chan struct{})
	t := m.afterFunc(d, func() { close(fired) })
	defer t.Stop()
	select {
	case <-fired:
		return m.gate()
	case <-ctx.Done():
		m.gate()
		return false
	case <-m.over: // the dead have no timers
		return false
	}
}

// simTimer fires when its machine's monotonic clock gets there and it runs.
type simTimer struct {
	m    *machine
	f    func()
	due  time.Time
	real *time.Timer
}

func (m *machine) afterFunc(d time.Duration, f func()) *simTimer {
	t := &simTimer{m: m, f: f}
	t.Reset(d)
	return t
}

// Stop is that of time.Timer.
func (t *simTimer) Stop() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	_, active := t.m.timers[t]
	delete(t.m.timers, t)
	t.stop()
	return active
}

// Reset is that of time.Timer.
func (t *simTimer) Reset(d time.Duration) bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	_, active := t.m.timers[t]
	t.m.timers[t] = struct{}{}
	t.due = t.m.mono().Add(max(d, 0))
	t.stop()
	t.arm()
	return active
}

// stop and arm are called with the machine's mu held.
func (t *simTimer) stop() {
	if t.real != nil {
		t.real.Stop()
	}
}

func (t *simTimer) arm() {
	if t.m.state != running {
		return // thaw does it
	}
	left := float64(t.due.Sub(t.m.mono())) / t.m.rate
	t.real = time.AfterFunc(time.Duration(max(left, 0))+1, t.fire)
}

func (t *simTimer) fire() {
	t.m.mu.Lock()
	_, active := t.m.timers[t]
	ready := active && t.m.state == running
	if ready && t.m.mono().Before(t.due) {
		t.arm() // set anew while this firing was on its way, or a rounding
		ready = false
	}
	if ready {
		delete(t.m.timers, t)
	}
	t.m.mu.Unlock()
	if ready {
		t.f()
	}
}
