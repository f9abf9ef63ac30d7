package singleton_test

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

// jobPlan is all that a world is made of; rapid draws it and makes it smaller.
type jobPlan struct {
	Policy     job.Policy
	CatchUp    time.Duration
	MaxAge     time.Duration
	Style      simStyle
	Deliveries []simDelivery
	Faults     []simFault
	Controls   []simControl
}

// simStyle is how the job of a world writes.
type simStyle int

const (
	paging simStyle = iota // page by page with Checkpoint, the last one with Commit
	whole                  // everything with Commit
	marked                 // nothing: the release marks the tick
)

// simDelivery is one invocation, and what befalls it.
type simDelivery struct {
	At   time.Duration
	Tick int // which tick; -1: a manual run without one
	// Process is the environment; one that was killed is replaced by a new one.
	Process int
	Attempt int
	Force   bool
	Page    int           // its units
	Nap     time.Duration // before each page
	After   time.Duration // after the Commit
	FailAt  int           // the page at which the work fails; -1: never
	YieldAt int
	// Careless: the work returns nil when its ctx has ended, when its Commit failed
	// and when it does not know whether a transaction was applied.
	Careless bool
	Killed   time.Duration // after its beginning; 0: never
	Frozen   time.Duration
	For      time.Duration
}

// simFault befalls the requests of all processes, counted from 1.
type simFault struct {
	At, Count int
	Kind      simFate
	Wait      time.Duration
}

const (
	simTicks = 6
	lastTick = 15               // due when everything is quiet
	tickStep = 40 * time.Second // between two ticks
	unit     = 20 * time.Second // of the time that a tick covers
)

// The world's job: it may be taken over after 10 s, and has 45 s of work at most.
const (
	simLease   = 10 * time.Second
	simTimeout = time.Minute
)

func (p jobPlan) spec() job.Spec {
	return job.Spec{
		Name: spec.Name, Lease: simLease, Timeout: simTimeout, Retries: 2,
		Policy: p.Policy, CatchUp: p.CatchUp, MaxAge: p.MaxAge,
	}
}

func (p jobPlan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy %s, catch up %s, max age %s, style %d\n", p.Policy, p.CatchUp, p.MaxAge, p.Style)
	for i, d := range p.Deliveries {
		fmt.Fprintf(&b, "delivery %d: %+v\n", i, d)
	}
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "fault: %+v\n", f)
	}
	for _, c := range p.Controls {
		fmt.Fprintf(&b, "control: %+v\n", c)
	}
	return b.String()
}

// upTo draws a multiple of the grain, more often a small one.
func upTo(t *rapid.T, name string, most, grain time.Duration) time.Duration {
	return time.Duration(rapid.IntRange(0, int(most/grain)).Draw(t, name)) * grain
}

func oneIn(t *rapid.T, name string, n int) bool { return rapid.IntRange(0, n-1).Draw(t, name) == n-1 }

func drawJobPlan(t *rapid.T) jobPlan {
	p := jobPlan{
		Policy: rapid.SampledFrom(simPolicies).Draw(t, "policy"),
		Style:  rapid.SampledFrom([]simStyle{paging, whole, paging, marked}).Draw(t, "style"),
	}
	if oneIn(t, "catches up", 4) {
		p.CatchUp = 2 * time.Minute
	}
	if oneIn(t, "ages", 4) {
		p.MaxAge = time.Minute
	}
	p.Deliveries = rapid.SliceOfN(rapid.Custom(drawDelivery), 1, 12).Draw(t, "deliveries")
	p.Faults = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) simFault {
		return simFault{
			At: rapid.IntRange(1, 60).Draw(t, "at"), Count: rapid.SampledFrom([]int{1, 1, 2, 3, 8}).Draw(t, "count"),
			Kind: rapid.SampledFrom(simFates).Draw(t, "kind"), Wait: upTo(t, "wait", 25*time.Second, 500*time.Millisecond),
		}
	}), 0, 8).Draw(t, "faults")
	p.Controls = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) simControl {
		c := simControl{At: upTo(t, "at", 4*time.Minute, 100*time.Millisecond), Kind: rapid.SampledFrom(simOrders).Draw(t, "kind")}
		if c.Kind == orderPause && rapid.Bool().Draw(t, "ends") {
			c.For = upTo(t, "for", 90*time.Second, time.Second) + time.Second
		}
		return c
	}), 0, 4).Draw(t, "controls")
	return p
}

func drawDelivery(t *rapid.T) simDelivery {
	const grain = 100 * time.Millisecond
	d := simDelivery{
		Tick: rapid.IntRange(0, simTicks-1).Draw(t, "tick"), Process: rapid.IntRange(0, 3).Draw(t, "process"),
		Attempt: 1, FailAt: -1, YieldAt: -1, Page: rapid.IntRange(1, 3).Draw(t, "page"),
		Nap: upTo(t, "nap", 8*time.Second, grain),
	}
	d.At = time.Duration(d.Tick)*tickStep + upTo(t, "at", 100*time.Second, grain)
	if oneIn(t, "again", 3) {
		d.Attempt = 2
	}
	switch rapid.IntRange(0, 9).Draw(t, "manual") {
	case 8:
		d.Force, d.Attempt = true, 0
	case 9:
		d.Tick, d.Attempt = -1, 0
	default:
	}
	if oneIn(t, "long after", 5) {
		d.After = upTo(t, "after", 30*time.Second, grain)
	}
	if oneIn(t, "fails", 6) {
		d.FailAt = rapid.IntRange(0, 3).Draw(t, "fail")
	}
	if oneIn(t, "yields", 6) {
		d.YieldAt = rapid.IntRange(0, 3).Draw(t, "yield")
	}
	d.Careless = oneIn(t, "careless", 6)
	switch rapid.IntRange(0, 5).Draw(t, "fate") {
	case 4:
		d.Killed = upTo(t, "killed", 40*time.Second, grain) + time.Millisecond
	case 5:
		d.Frozen = upTo(t, "frozen", 40*time.Second, grain) + time.Millisecond
		d.For = upTo(t, "for", 50*time.Second, grain) + grain
	default:
	}
	return d
}
