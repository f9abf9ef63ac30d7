package singleton_test

import (
	"fmt"
	"time"

	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// said is what a delivery told, and when.
type said struct {
	res        singleton.Result
	err        error
	process    int
	begin, end time.Time
	troubled   bool // something was in its way
	maxAge     time.Duration
}

// ran is the tick that the run was for.
func (s said) ran() time.Time {
	if !s.res.RunsTick.IsZero() {
		return s.res.RunsTick
	}
	return s.res.Tick
}

// said checks what a live process told of its run.
func (l *ledger) said(s said) {
	untrue := func(why string) {
		l.broken(toldTrue, "process %d told of tick %s, token %d: %s; %s", s.process, hour(s.res.Tick), s.res.Token, s.res.Outcome, why)
	}
	switch s.res.Outcome {
	case singleton.Completed:
		l.completed(s, untrue)
	case singleton.Skipped:
		if !l.lived(s) {
			untrue("no other run proved alive")
		}
	case singleton.Duplicate:
		if !l.done[s.res.Tick] && !l.runs(s.res.Tick, s.end) {
			untrue("it is neither done nor run by anybody")
		}
	case singleton.Queued:
		if !l.waited(s.res.Tick) {
			untrue("neither it nor a newer one ever waited on the item")
		}
	case singleton.Superseded:
		if !l.doneAfter(s.res.Tick) {
			untrue("no newer one is done")
		}
	case singleton.Paused:
		if !l.pausedIn(s.begin, s.end) {
			untrue("the job was not paused")
		}
	case singleton.Stopped:
		if !l.stops[s.res.Token] {
			l.broken(stopHits, "process %d was stopped, and no stop was addressed to its token %d", s.process, s.res.Token)
		}
	case singleton.Expired:
		if s.maxAge == 0 || s.begin.Sub(s.res.Tick) <= s.maxAge {
			untrue("it is not too old")
		}
	case singleton.Blocked:
		if !s.troubled {
			untrue("nothing was in its way: " + s.err.Error())
		}
	default: // failed, lost, out of time: whatever happened to the work
	}
	if s.res.Outcome != singleton.Completed && (s.res.Marked || s.res.Committed) {
		untrue("and says that the tick is completed")
	}
	// The first tick under a lease tells whom it was taken over from.
	if t := l.tenures[s.res.Token]; t != nil && (s.res.Takeover != nil) != (t.from != 0 && !s.res.Queued) {
		untrue(fmt.Sprintf("it took over from token %d, and says from %+v", t.from, s.res.Takeover))
	} else if t != nil && s.res.Takeover != nil {
		if from := l.tenures[t.from]; s.res.Takeover.Token != t.from || from != nil && !s.res.Takeover.Tick.Equal(from.tick) {
			untrue("the lock was taken over from another run than it says")
		}
	}
}

// completed checks a run that says it has completed its tick.
func (l *ledger) completed(s said, untrue func(string)) {
	if s.ran().IsZero() || s.res.Forced {
		return
	}
	t := l.tenures[s.res.Token]
	switch {
	case t == nil:
		untrue("it never held the lock")
	case s.res.Marked || s.res.Committed:
		if !t.raised[s.ran()] {
			untrue(fmt.Sprintf("what it wrote has completed %v", t.raised))
		}
	case s.res.Warning == "":
		untrue("and neither marked nor warned")
	}
}

// lived reports whether another holder has given a sign of life while a run
// contended, or is on schedule where that is enough.
func (l *ledger) lived(s said) bool {
	for _, sign := range l.lives {
		since := s.begin
		if l.policy == job.SkipAtOnce {
			since = since.Add(-simLease / 2)
		}
		if sign.at.After(since) && !sign.at.After(s.end) {
			return true
		}
	}
	return false
}

// runs reports whether a run of the tick has begun until then.
func (l *ledger) runs(tick, until time.Time) bool {
	for _, t := range l.tenures {
		if t.named[tick] && !t.acquired.After(until) {
			return true
		}
	}
	return false
}

// waited reports whether the tick, or a newer one, was left for a holder.
func (l *ledger) waited(tick time.Time) bool {
	for pending := range l.pendings {
		if !pending.Before(tick) {
			return true
		}
	}
	return false
}

func (l *ledger) doneAfter(tick time.Time) bool {
	for done := range l.done {
		if done.After(tick) {
			return true
		}
	}
	return false
}

func (l *ledger) pausedIn(from, to time.Time) bool {
	for _, p := range l.pauses {
		if !p.from.After(to) && p.to.After(from) {
			return true
		}
	}
	return false
}

// open reports whether the run left open what became of its tick: the tick is a
// duplicate when it is delivered again. A careless work keeps the error of its
// Commit to itself, and then the lease is all that is told to be lost.
func (e ending) open() bool {
	return e.outcome == singleton.Lost && e.troubled || e.unknown && (e.outcome == singleton.Lost || e.outcome == singleton.OutOfTime)
}

// settled checks, when nothing is under way any more, that what every run wrote is
// what it told.
func (l *ledger) settled(told map[int64]ending) {
	for token, t := range l.tenures {
		told, ok := told[token]
		if !ok {
			continue // it died
		}
		// A run whose release was answered has seen the item, and so what became of
		// its tick.
		knows := t.how != "" && !told.warned
		if t.raised[t.tick] && told.outcome != singleton.Completed && (knows || !told.open()) {
			l.broken(recordedTold, "token %d completed tick %s and told: %s", token, hour(t.tick), told.outcome)
		}
		// A Commit without an answer may turn out by the release's to have been
		// applied, when that has written what was known until then.
		// So may a release, and where the run completes no tick, nothing on the item
		// tells once a successor has come and gone: then the lease is lost.
		lost := told.outcome == singleton.Lost && told.troubled
		if t.how != "" && t.how != string(told.outcome) && !told.committed && !lost {
			l.broken(recordTrue, "token %d told %s and recorded %s", token, told.outcome, t.how)
		}
	}
}
