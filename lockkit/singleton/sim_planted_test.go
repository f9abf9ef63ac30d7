package singleton_test

import (
	"errors"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// plantedAt is a time after the beginning of planted histories.
func plantedAt(d time.Duration) time.Time { return time.Unix(1_000_000_000, 0).UTC().Add(d) }

// heldFor is a lock that a run holds for a tick.
func heldFor(owner, version string, token int64, tick time.Time) lockState {
	return lockState{exists: true, owner: owner, version: version, token: token, lease: simLease, tick: plantedAt(0), runOwner: owner, runTick: tick}
}

// after changes a copy of a state.
func (l lockState) after(change func(l *lockState)) lockState {
	change(&l)
	return l
}

var (
	plantedTick = plantedAt(time.Minute)
	plantedFree = lockState{exists: true, version: "v", token: 6, tick: plantedAt(0)}
	plantedHeld = heldFor("a", "a1", 7, plantedTick)
	plantedDone = plantedHeld.after(func(l *lockState) {
		l.owner, l.runOwner, l.tick, l.prevOwner, l.prevHow = "", "", plantedTick, "a", "completed"
	})
)

// acquired is a history in which process 1 has just taken the free lock.
func acquired() *ledger {
	l := newLedger(job.SkipWhenAlive, 0)
	l.wrote(lockWrite{at: plantedAt(time.Minute), process: 1, before: plantedFree, after: plantedHeld})
	l.begins(7, plantedTick, false)
	return l
}

// completes is what the planted run tells when it completes its tick.
func completes() said {
	return said{
		res:   singleton.Result{Tick: plantedTick, Token: 7, Outcome: singleton.Completed, Marked: true},
		begin: plantedAt(time.Minute), end: plantedAt(2 * time.Minute), process: 1,
	}
}

// Each invariant can fail: a planted history breaks it, and the same history
// without the last fact breaks none.
func TestInvariantsCatchBadHistories(t *testing.T) {
	at := plantedAt(61 * time.Second)
	write := func(l *ledger, change func(l *lockState)) {
		l.wrote(lockWrite{at: at, process: 1, before: plantedHeld, after: plantedHeld.after(change)})
	}
	tells := func(l *ledger, change func(s *said)) {
		s := completes()
		s.res.Marked = false
		change(&s)
		l.said(s)
	}
	for _, c := range []struct {
		name string
		of   invariant
		last func(*ledger)
	}{
		{"an effect twice", effectOnce, func(l *ledger) { l.counted(3, 2) }},
		{"an effect left out", nothingLost, func(l *ledger) {
			l.covered(plantedTick, 0, 3, func(n int) (int64, int64) { return int64(n % 2), 0 })
		}},
		{"the tick goes back", tickForward, func(l *ledger) { write(l, func(l *lockState) { l.tick = plantedAt(-time.Hour) }) }},
		{"the tick goes away", tickForward, func(l *ledger) { write(l, func(l *lockState) { l.tick = time.Time{} }) }},
		{"the step stays", stepForward, func(l *ledger) {
			l.wrote(lockWrite{at: at, process: 1, transaction: true, before: plantedHeld, after: plantedHeld.after(func(l *lockState) { l.version = "a2" })})
		}},
		{"a done tick runs", doneNotRun, func(l *ledger) { l.begins(7, plantedAt(0), false) }},
		{"a paused job starts", pausedRests, func(l *ledger) {
			paused := plantedDone.after(func(l *lockState) { l.paused = true })
			l.wrote(lockWrite{at: at, process: 0, before: plantedDone, after: paused})
			l.wrote(lockWrite{at: at, process: 2, before: paused, after: heldFor("b", "b1", 8, at).after(func(l *lockState) { l.tick = plantedTick })})
		}},
		{"stopped by nobody", stopHits, func(l *ledger) { tells(l, func(s *said) { s.res.Outcome = singleton.Stopped }) }},
		{"a stop stays for the next", stopHits, func(l *ledger) {
			l.wrote(lockWrite{at: at, process: 2, before: plantedDone, after: heldFor("b", "b1", 8, at).after(func(l *lockState) { l.tick, l.stop = plantedTick, 7 })})
		}},
		{"a queued tick is dropped", queueServed, func(l *ledger) {
			queued := plantedHeld.after(func(l *lockState) { l.pending = plantedAt(time.Hour) })
			l.wrote(lockWrite{at: at, process: 1, before: queued, after: plantedDone})
		}},
		{"a cursor is dropped", cursorStays, func(l *ledger) {
			l.wrote(lockWrite{at: at, process: 1, before: plantedHeld.after(func(l *lockState) { l.cursor = "3" }), after: plantedHeld})
		}},
		{"the record is another's", recordTrue, func(l *ledger) { write(l, func(l *lockState) { l.runOwner = "b" }) }},
		{"the token changes", recordTrue, func(l *ledger) { write(l, func(l *lockState) { l.token = 9 }) }},
		{"a release records another", recordTrue, func(l *ledger) {
			l.wrote(lockWrite{at: at, process: 1, before: plantedHeld, after: plantedDone.after(func(l *lockState) { l.prevOwner = "b" })})
		}},
		{"a release leaves the record of the run before", recordTrue, func(l *ledger) {
			before := func(l *lockState) { l.prevOwner, l.prevHow = "z", "failed" }
			l.wrote(lockWrite{at: at, process: 1, before: plantedHeld.after(before), after: plantedDone.after(before)})
		}},
		{"recorded in another way than told", recordTrue, func(l *ledger) {
			l.wrote(lockWrite{at: at, process: 1, before: plantedHeld, after: plantedDone.after(func(l *lockState) { l.prevHow, l.tick = "failed", plantedAt(0) })})
			l.settled(map[int64]ending{7: {outcome: singleton.OutOfTime}})
		}},
		{"completed and told as failed", recordedTold, func(l *ledger) {
			l.wrote(lockWrite{at: at, process: 1, before: plantedHeld, after: plantedDone.after(func(l *lockState) { l.prevHow = "" })})
			l.settled(map[int64]ending{7: {outcome: singleton.Failed, unknown: true}})
		}},
		{"marked and not on the item", toldTrue, func(l *ledger) { l.said(completes()) }},
		{"neither marked nor warned", toldTrue, func(l *ledger) { tells(l, func(*said) {}) }},
		{"marked and lost", toldTrue, func(l *ledger) { tells(l, func(s *said) { s.res.Outcome, s.res.Marked = singleton.Lost, true }) }},
		{"skipped without a sign of life", toldTrue, func(l *ledger) {
			tells(l, func(s *said) { s.res.Outcome, s.res.Token, s.begin = singleton.Skipped, 0, at })
		}},
		{"a duplicate of nothing", toldTrue, func(l *ledger) {
			tells(l, func(s *said) { s.res.Outcome, s.res.Tick = singleton.Duplicate, plantedAt(time.Hour) })
		}},
		{"superseded by nothing", toldTrue, func(l *ledger) { tells(l, func(s *said) { s.res.Outcome = singleton.Superseded }) }},
		{"paused by nobody", toldTrue, func(l *ledger) { tells(l, func(s *said) { s.res.Outcome = singleton.Paused }) }},
		{"expired while young", toldTrue, func(l *ledger) {
			tells(l, func(s *said) { s.res.Outcome, s.maxAge = singleton.Expired, time.Minute })
		}},
		{"blocked by nothing", toldTrue, func(l *ledger) {
			tells(l, func(s *said) { s.res.Outcome, s.err = singleton.Blocked, errors.New("blocked") })
		}},
		{"taken over from nobody", toldTrue, func(l *ledger) {
			tells(l, func(s *said) { s.res.Outcome, s.res.Takeover = singleton.Failed, &singleton.Takeover{Token: 6} })
		}},
		{"a takeover comes early", noEarly, func(l *ledger) {
			l.wrote(lockWrite{at: plantedAt(time.Minute + simLease - 1), process: 2, before: plantedHeld, after: heldFor("b", "b1", 8, at)})
		}},
	} {
		l := acquired()
		if len(l.found) > 0 {
			t.Fatalf("the good beginning breaks %q: %s", l.found[0].of, l.found[0].text)
		}
		c.last(l)
		if len(l.found) == 0 {
			t.Errorf("%s: nothing caught it", c.name)
		} else if l.found[0].of != c.of {
			t.Errorf("%s: caught by %q (%s), want %q", c.name, l.found[0].of, l.found[0].text, c.of)
		}
	}
}

// What is allowed breaks nothing.
func TestInvariantsAllowGoodHistories(t *testing.T) {
	at := plantedAt(61 * time.Second)
	for name, story := range map[string]func(*ledger){
		"completed, marked and told": func(l *ledger) {
			l.wrote(lockWrite{at: at, process: 1, before: plantedHeld, after: plantedDone})
			l.said(completes())
			l.settled(map[int64]ending{7: {outcome: singleton.Completed}})
			s := completes()
			s.res = singleton.Result{Tick: plantedTick, Outcome: singleton.Duplicate}
			l.said(s)
			s.res = singleton.Result{Tick: plantedAt(time.Second), Outcome: singleton.Superseded}
			l.said(s)
		},
		"taken over after a lease": func(l *ledger) {
			late := plantedAt(time.Minute + simLease)
			l.wrote(lockWrite{at: late, process: 2, before: plantedHeld, after: heldFor("b", "b1", 8, plantedTick)})
			l.said(said{res: singleton.Result{Token: 8, Outcome: singleton.Failed, Takeover: &singleton.Takeover{Token: 7, Tick: plantedTick}}, begin: plantedAt(0), end: late})
			l.settled(map[int64]ending{8: {outcome: singleton.Failed}})
		},
		"an operator stops, and pauses and resumes": func(l *ledger) {
			stopped := plantedHeld.after(func(l *lockState) { l.stop = 7 })
			l.wrote(lockWrite{at: at, process: 0, before: plantedHeld, after: stopped})
			paused := stopped.after(func(l *lockState) { l.paused = true })
			l.wrote(lockWrite{at: at, process: 0, before: stopped, after: paused})
			l.wrote(lockWrite{at: at.Add(time.Second), process: 0, before: paused, after: stopped})
			s := completes()
			s.res = singleton.Result{Tick: plantedTick, Token: 7, Outcome: singleton.Stopped}
			l.said(s)
			s.res = singleton.Result{Tick: plantedTick, Outcome: singleton.Paused}
			l.said(s)
		},
		"an acquire is given up that had landed": func(l *ledger) {
			before := func(l *lockState) { l.prevOwner, l.prevHow = "a", "completed" }
			free := plantedDone.after(before)
			taken := heldFor("b", "b1", 8, at).after(before).after(func(l *lockState) { l.tick = plantedTick })
			l.wrote(lockWrite{at: at, process: 1, before: plantedHeld, after: free})
			l.wrote(lockWrite{at: at, process: 2, before: free, after: taken})
			l.wrote(lockWrite{at: at, process: 2, before: taken, after: taken.after(func(l *lockState) { l.owner, l.runOwner = "", "" })})
			l.settled(map[int64]ending{7: {outcome: singleton.Completed}})
		},
		"a copy of an acquire arrives after the release and is taken over": func(l *ledger) {
			renewed := plantedHeld.after(func(l *lockState) { l.version = "a2" })
			free := plantedDone.after(func(l *lockState) { l.version = "a2" })
			copied := heldFor("a", "a1", 8, plantedTick).after(func(l *lockState) { l.tick, l.prevOwner, l.prevHow = plantedTick, "a", "completed" })
			l.wrote(lockWrite{at: at, process: 1, before: plantedHeld, after: renewed})
			l.wrote(lockWrite{at: at, process: 1, before: renewed, after: free})
			l.wrote(lockWrite{at: at.Add(time.Second), process: 1, before: free, after: copied})
			next := heldFor("b", "b1", 9, plantedAt(time.Hour)).after(func(l *lockState) { l.tick = plantedTick })
			l.wrote(lockWrite{at: plantedAt(time.Minute + simLease), process: 2, before: copied, after: next})
		},
		"it may not know what became of its Commit": func(l *ledger) {
			l.wrote(lockWrite{at: at, process: 1, transaction: true, before: plantedHeld, after: plantedHeld.after(func(l *lockState) { l.step, l.tick = 1, plantedTick })})
			l.settled(map[int64]ending{7: {outcome: singleton.Lost, unknown: true}})
		},
	} {
		l := acquired()
		story(l)
		for _, v := range l.found {
			t.Errorf("%s: breaks %q: %s", name, v.of, v.text)
		}
	}
}
