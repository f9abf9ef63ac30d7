package lockkit_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"
)

// simPlan is everything that rapid draws for one world. Durations are whole numbers
// of units, so that shrinking makes them simple.
type simPlan struct {
	Lease    time.Duration // of the first process; the unit is a twentieth of it
	Span     int           // how long the world is disturbed
	Flavour  flavour
	Busy     time.Duration // how long a transaction takes the endpoint
	Item     simOrigin
	Procs    []procPlan
	Peers    []peerPlan
	Troubles []trouble
	Events   []simEvent
	Seed     uint64 // of the chance that lockkit takes
}

func (p simPlan) unit() time.Duration       { return p.Lease / 20 }
func (p simPlan) units(n int) time.Duration { return time.Duration(n) * p.unit() }

// flavour is what must not happen in the same world, because only what is
// documented as not guaranteed would come of it.
type flavour int

const (
	ordinary flavour = iota // wall clocks minutes apart
	deleting                // the item is deleted; wall clocks are seconds apart, as tokens go on from them
	mixed                   // processes of another client, which start tokens at 1 after a deletion
	forward                 // wall clocks are set forward
	backward                // wall clocks are set back, and no machine is suspended, which needs them
	bounded                 // holders say when they are gone, and clocks are known to be close
)

func (f flavour) String() string {
	return [...]string{"ordinary", "deleting", "mixed", "forward", "backward", "bounded"}[f]
}

// origin is the item at the beginning.
type simOrigin int

const (
	itemMissing simOrigin = iota
	itemFree
	itemHeldByTheDead
)

// procPlan is one process and all that start in its place after it has died.
type procPlan struct {
	Rate      int // of its clocks, in thousandths off
	Offset    time.Duration
	Margin    float64
	Delay     int // takeover delay in units
	Interval  int // fixed poll interval in units, 0 for none
	Out, Back time.Duration
	Start     int
	Rounds    []simRound
}

func (p procPlan) rate() float64 { return 1 + float64(p.Rate)/1000 }

// simRound is one acquire and what follows.
type simRound struct {
	How      simHow
	Patience int // how long it waits for the lock at most
	Lease    int // in quarters of the world's
	Steps    []simStep
	End      simEnd
	Rest     int
}

type simHow int

const (
	byAcquire simHow = iota
	byAliveness
	bySchedule
	byTries
)

type simStep struct {
	After int
	Do    simDeed
}

type simDeed int

const (
	doNothing simDeed = iota
	doWrite
	doFenced
	doCrowd // writes from several goroutines, for as long as it takes a renewal to be due
	doTransact
	doBoth // a transaction, and a renewal while it is under way
	doRenew
	doAct
)

type simEnd int

const (
	endRelease simEnd = iota
	endReleaseTwice
	endReleaseCancelled
	endDie
)

type peerPlan struct {
	Rate     int
	Start    int
	Renewals int
	Dies     bool
}

// Whom something befalls: a process by its number, or one of these.
const (
	everybody = -1 - iota
	theHolder // whoever holds when it begins
	theOthers // everybody else then
)

// trouble is what befalls requests for a while.
type trouble struct {
	From, For int
	Who       int
	Kinds     []fate // in turn
	Reads     bool   // reads only; else writes only, unless All
	All       bool
	Every     int // one of so many
	Wait      int
	Brief     bool // Wait is in 2 ms, to fall between two tries
}

type fate int

const (
	unhurt      fate = iota
	fails            // answered 500, not applied
	throttled        //
	conflicts        //
	swallowed        // never applied, never answered
	unanswered       // applied, never answered
	broken           // applied, and the connection breaks
	slowAnswer       // applied, answered late
	slowRequest      // applied late, then answered
	late             // the connection breaks, and it is applied late
	bare             // a refusal does not bring the item
)

// fates are all, and those more often that make one write overtake another.
var fates = []fate{fails, throttled, conflicts, swallowed, unanswered, broken, slowAnswer, slowRequest, late, bare, unhurt, unhurt, broken, late, late}

func (f fate) String() string {
	return [...]string{"fine", "fails", "throttled", "conflicts", "swallowed", "unanswered", "broken", "slow answer", "slow request", "late", "bare"}[f]
}

// simEvent is what befalls a process, or the item.
type simEvent struct {
	At, For int
	Who     int
	Kind    incident
}

type incident int

const (
	pauses        incident = iota
	pausesSending          // as soon as it has sent its next write
	suspends
	crashes
	setsClock
	deletesItem
	freesItem
)

func (i incident) String() string {
	return [...]string{"pause", "pause when sending", "suspend", "crash", "set clock", "delete", "free"}[i]
}

func drawPlan(t *rapid.T) simPlan {
	p := simPlan{
		Lease:   rapid.SampledFrom([]time.Duration{2 * time.Second, time.Second, 5 * time.Second, 20 * time.Second}).Draw(t, "lease"),
		Span:    rapid.IntRange(60, 240).Draw(t, "span"),
		Flavour: rapid.SampledFrom([]flavour{ordinary, ordinary, deleting, mixed, forward, backward, bounded}).Draw(t, "flavour"),
		Busy:    rapid.SampledFrom([]time.Duration{0, 40 * time.Millisecond, 10 * time.Millisecond, 2 * time.Millisecond}).Draw(t, "busy"),
		Item:    rapid.SampledFrom([]simOrigin{itemMissing, itemFree, itemHeldByTheDead}).Draw(t, "item"),
	}
	p.Procs = rapid.SliceOfN(rapid.Custom(p.drawProc), 2, 8).Draw(t, "processes")
	if p.Flavour == mixed {
		p.Peers = rapid.SliceOfN(rapid.Custom(p.drawPeer), 1, 2).Draw(t, "peers")
	}
	p.Troubles = rapid.SliceOfN(rapid.Custom(p.drawTrouble), 0, 10).Draw(t, "troubles")
	p.Events = rapid.SliceOfN(rapid.Custom(p.drawEvent), 0, 10).Draw(t, "events")
	p.Seed = rapid.Uint64().Draw(t, "seed")
	return p
}

func (p simPlan) drawProc(t *rapid.T) procPlan {
	ms := func(name string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Millisecond
	}
	apart := 5 * 60_000
	if p.Flavour == deleting || p.Flavour == bounded {
		apart = 1000
	}
	c := procPlan{
		Rate:   rapid.SampledFrom([]int{0, 20, -20, 7, -13}).Draw(t, "rate"),
		Offset: time.Duration(rapid.IntRange(-apart, apart).Draw(t, "offset")) * time.Millisecond,
		// What clocks 2 % off take at least, the default, and more.
		Margin: rapid.SampledFrom([]float64{0.1, 0.04, 0.2}).Draw(t, "margin"),
		Out:    ms("out", 20), Back: ms("back", 20),
		Start:  rapid.IntRange(0, 40).Draw(t, "start"),
		Rounds: rapid.SliceOfN(rapid.Custom(p.drawRound), 1, 3).Draw(t, "rounds"),
	}
	if rapid.IntRange(0, 3).Draw(t, "special") == 3 {
		c.Delay, c.Interval = rapid.IntRange(0, 5).Draw(t, "delay"), rapid.IntRange(0, 10).Draw(t, "interval")
	}
	return c
}

func (simPlan) drawRound(t *rapid.T) simRound {
	return simRound{
		How:      rapid.SampledFrom([]simHow{byAcquire, byAcquire, byAliveness, bySchedule, byTries}).Draw(t, "how"),
		Patience: rapid.SampledFrom([]int{200, 200, 60, 10, 2}).Draw(t, "patience"),
		Lease:    rapid.SampledFrom([]int{4, 4, 8, 3}).Draw(t, "lease"),
		Steps: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) simStep {
			return simStep{After: rapid.IntRange(0, 30).Draw(t, "after"), Do: rapid.SampledFrom([]simDeed{doNothing, doWrite, doFenced, doCrowd, doTransact, doRenew, doAct, doBoth}).Draw(t, "deed")}
		}), 1, 4).Draw(t, "steps"),
		End:  rapid.SampledFrom([]simEnd{endRelease, endReleaseTwice, endReleaseCancelled, endDie, endDie}).Draw(t, "end"),
		Rest: rapid.IntRange(0, 30).Draw(t, "rest"),
	}
}

func (simPlan) drawPeer(t *rapid.T) peerPlan {
	return peerPlan{
		Rate:     rapid.SampledFrom([]int{0, 20, -20}).Draw(t, "rate"),
		Start:    rapid.IntRange(0, 60).Draw(t, "start"),
		Renewals: rapid.IntRange(0, 6).Draw(t, "renewals"),
		Dies:     rapid.Bool().Draw(t, "dies"),
	}
}

func (p simPlan) drawTrouble(t *rapid.T) trouble {
	return trouble{
		From: rapid.IntRange(0, p.Span).Draw(t, "from"), For: rapid.IntRange(1, 60).Draw(t, "for"),
		Who:   rapid.SampledFrom([]int{theHolder, theOthers, everybody, 0, 1, 2, 3, theHolder}).Draw(t, "who"),
		Kinds: rapid.SliceOfN(rapid.SampledFrom(fates), 1, 4).Draw(t, "kinds"),
		Reads: rapid.Bool().Draw(t, "reads"), All: rapid.Bool().Draw(t, "all"),
		Every: rapid.IntRange(1, 3).Draw(t, "every"),
		Wait:  rapid.IntRange(1, 50).Draw(t, "wait"),
		Brief: rapid.Bool().Draw(t, "brief"),
	}
}

func (p simPlan) drawEvent(t *rapid.T) simEvent {
	kinds := []incident{pauses, pausesSending, suspends, crashes, freesItem}
	switch p.Flavour {
	case deleting:
		kinds = append(kinds, deletesItem, deletesItem)
	case forward:
		kinds = append(kinds, setsClock, setsClock)
	case backward:
		kinds = []incident{pauses, pausesSending, crashes, setsClock, setsClock, freesItem}
	default:
	}
	return simEvent{
		At: rapid.IntRange(0, p.Span).Draw(t, "at"), For: rapid.IntRange(1, 60).Draw(t, "for"),
		Who:  rapid.SampledFrom([]int{theHolder, 0, 1, 2, 3, theOthers, everybody}).Draw(t, "who"),
		Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
	}
}

func (t trouble) String() string {
	return fmt.Sprintf("%v for %d of %d, one of %d, wait %d, brief %v reads %v all %v", t.Kinds, t.For, t.Who, t.Every, t.Wait, t.Brief, t.Reads, t.All)
}
