package lockkit_test

import (
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// aLease and its tokens are those of planted histories.
const aLease = 10 * time.Second

func heldBy(owner, version string, token int64) lockState {
	return lockState{exists: true, lock: true, owner: owner, version: version, token: token, lease: aLease, kept: "keep"}
}

func freeWith(token int64) lockState {
	return lockState{exists: true, lock: true, version: "v", token: token, kept: "keep"}
}

// acquired is a history in which process 1 has just taken a free lock.
func acquired() *ledger {
	l := newLedger()
	l.note(0, freeWith(6))
	l.sent(1, "UpdateItem", lockKey, "a1", "a")
	l.wrote(lockWrite{time.Second, 1, freeWith(6), heldBy("a", "a1", 7)})
	return l
}

// Each invariant can fail: a planted history breaks it, and the same history
// without the last fact breaks none.
func TestInvariantsCatchBadHistories(t *testing.T) {
	now := heldBy("a", "a1", 7)
	later := 20 * time.Second
	for _, c := range []struct {
		name string
		of   invariant
		last func(*ledger)
	}{
		{"two believe", oneHolder, func(l *ledger) { l.believe(later, []believer{{1, "a"}, {2, "b"}}) }},
		{"a token is used again", tokensRise, func(l *ledger) { l.wrote(lockWrite{later, 2, now, heldBy("b", "b1", 7)}) }},
		{"a token goes back after a deletion", tokensRise, func(l *ledger) {
			l.operated(2*time.Second, lockState{})
			l.wrote(lockWrite{later, 2, lockState{}, heldBy("b", "b1", 1)})
		}},
		{"a renewal changes the token", tokensRise, func(l *ledger) { l.wrote(lockWrite{later, 1, now, heldBy("a", "a2", 8)}) }},
		{"a release lowers the token", tokensRise, func(l *ledger) { l.wrote(lockWrite{later, 1, now, freeWith(5)}) }},
		{"a token is handed out twice", tokensRise, func(l *ledger) { l.got("a", 7, true); l.got("b", 7, false) }},
		{"a stale write commits", staleFenced, func(l *ledger) { l.commit(1, "a", 7, heldBy("b", "b1", 8)) }},
		{"a write commits on a free lock", staleFenced, func(l *ledger) { l.commit(1, "a", 7, freeWith(7)) }},
		{"fenced tokens go back", staleFenced, func(l *ledger) { l.commit(1, "b", 8, heldBy("b", "b1", 8)); l.commit(2, "a", 7, now) }},
		{"a write commits twice", appliedOnce, func(l *ledger) { l.commit(1, "a", 7, now); l.commit(1, "a", 7, now) }},
		{"a write that failed commits later", answersTrue, func(l *ledger) { l.transacted(1, false, false); l.commit(1, "a", 7, now) }},
		{"a write that failed had committed", answersTrue, func(l *ledger) { l.commit(1, "a", 7, now); l.transacted(1, false, false) }},
		{"a write that succeeded did not commit", answersTrue, func(l *ledger) { l.transacted(1, true, false) }},
		{"a write is fenced off for no reason", answersTrue, func(l *ledger) { l.fencedOff(1, "a", 7) }},
		{"a conflict is the end", conflictsPass, func(l *ledger) { l.met(1, false) }},
		{"two writes of a lease at once", oneLane, func(l *ledger) { l.lane(1, 2) }},
		{"a contender is stuck", takenInTime, func(l *ledger) { l.waited(2, later, l.patience(0, 0)) }},
		{"a takeover comes early", noEarlyTakeover, func(l *ledger) {
			l.wrote(lockWrite{time.Second + aLease*97/100, 2, now, heldBy("b", "b1", 8)})
		}},
		{"a version comes back", versionsNew, func(l *ledger) {
			l.wrote(lockWrite{3 * time.Second, 1, now, heldBy("a", "a2", 7)})
			l.wrote(lockWrite{5 * time.Second, 1, heldBy("a", "a2", 7), now})
		}},
		{"a version replaces one sent later", versionsNew, func(l *ledger) {
			l.sent(1, "UpdateItem", lockKey, "a2", "a")
			l.sent(1, "UpdateItem", lockKey, "a3", "a")
			l.wrote(lockWrite{3 * time.Second, 1, now, heldBy("a", "a3", 7)})
			l.wrote(lockWrite{5 * time.Second, 1, heldBy("a", "a3", 7), heldBy("a", "a2", 7)})
		}},
		{"an acquire returns a lease that was never there", answersTrue, func(l *ledger) { l.got("b", 8, true) }},
		{"an acquire returns a token that was never there", answersTrue, func(l *ledger) { l.got("a", 8, true) }},
		{"a release says so and did not", answersTrue, func(l *ledger) { l.gaveBack("a") }},
		{"a release of a lock taken over says so", answersTrue, func(l *ledger) {
			l.wrote(lockWrite{later, 2, now, heldBy("b", "b1", 8)})
			l.gaveBack("a")
		}},
		{"a holder that did nothing is alive", aliveTrue, func(l *ledger) { l.alive(2, 0) }},
		{"taken over by nobody", lossHasCause, func(l *ledger) { l.lost("a", lockkit.ReasonTakenOver, false) }},
		{"deleted by nobody", lossHasCause, func(l *ledger) { l.lost("a", lockkit.ReasonDeleted, false) }},
		{"expired for no reason", lossHasCause, func(l *ledger) { l.lost("a", lockkit.ReasonExpired, false) }},
		{"another's lock is freed", successorSpared, func(l *ledger) { l.wrote(lockWrite{later, 2, now, freeWith(7)}) }},
		{"another's lease is renewed", successorSpared, func(l *ledger) { l.wrote(lockWrite{later, 2, now, heldBy("a", "a2", 7)}) }},
		{"a holder believes too long", toldInTime, func(l *ledger) { l.judge(belief{believes: true, since: 10 * time.Second, limit: 9 * time.Second}) }},
		{"a holder is not told", toldInTime, func(l *ledger) { l.judge(belief{running: 10 * time.Second, limit: 9 * time.Second, settled: true}) }},
		{"a holder is not told after a suspend", toldInTime, func(l *ledger) { l.judge(belief{noticed: true}) }},
		{"a holder believes again", endedStays, func(l *ledger) { l.judge(belief{believes: true, over: true, limit: aLease}) }},
		{"a holder believes what Done denies", endedStays, func(l *ledger) { l.judge(belief{believes: true, told: true, limit: aLease}) }},
		{"Err is nil again", endedStays, func(l *ledger) { l.stays(1, lockkit.ErrLeaseLost, nil, lockkit.ErrLeaseLost) }},
		{"a context goes on", endedStays, func(l *ledger) { l.stays(1, lockkit.ErrLeaseLost, lockkit.ErrLeaseLost, nil) }},
		{"a process sends without end", nobodyHammers, func(l *ledger) { l.asked(1, most+1) }},
		{"a timer is left", nothingLeft, func(l *ledger) { l.left(1, 1) }},
		{"the item is deleted", onlyTheLock, func(l *ledger) { l.wrote(lockWrite{later, 1, now, lockState{}}) }},
		{"the item is no lock any more", onlyTheLock, func(l *ledger) { l.wrote(lockWrite{later, 1, lockState{}, lockState{exists: true}}) }},
		{"another's attribute is gone", onlyTheLock, func(l *ledger) {
			changed := heldBy("a", "a2", 7)
			changed.kept = ""
			l.wrote(lockWrite{later, 1, now, changed})
		}},
		{"another item is written", onlyTheLock, func(l *ledger) { l.sent(1, "UpdateItem", "ORDER#1", "", "") }},
		{"an item is deleted by request", onlyTheLock, func(l *ledger) { l.sent(1, "DeleteItem", lockKey, "", "") }},
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

// What is documented as possible breaks nothing.
func TestInvariantsAllowGoodHistories(t *testing.T) {
	now := heldBy("a", "a1", 7)
	for name, story := range map[string]func(*ledger){
		"renewed, released and taken again": func(l *ledger) {
			l.sent(1, "UpdateItem", lockKey, "a2", "a")
			l.wrote(lockWrite{3 * time.Second, 1, now, heldBy("a", "a2", 7)})
			l.got("a", 7, true)
			l.lane(1, 1)
			l.met(1, true)
			l.commit(1, "a", 7, heldBy("a", "a2", 7))
			l.transacted(1, true, false)
			l.wrote(lockWrite{4 * time.Second, 1, heldBy("a", "a2", 7), freeWith(7)})
			l.gaveBack("a")
			l.lost("a", lockkit.ReasonReleased, false)
			l.wrote(lockWrite{5 * time.Second, 2, freeWith(7), heldBy("b", "b1", 8)})
			l.waited(3, l.patience(0, 0), l.patience(0, 0))
		},
		"taken over after a lease": func(l *ledger) {
			l.wrote(lockWrite{time.Second + aLease, 2, now, heldBy("b", "b1", 8)})
			l.lost("a", lockkit.ReasonTakenOver, false)
			l.fencedOff(1, "a", 7)
			l.believe(12*time.Second, []believer{{2, "b"}})
		},
		"a write without an answer is applied": func(l *ledger) {
			l.transacted(1, false, true)
			l.commit(1, "a", 7, now)
		},
		"an operator frees the lock": func(l *ledger) {
			l.operated(2*time.Second, freeWith(7))
			l.lost("a", lockkit.ReasonTakenOver, false)
			l.gaveBack("a")
		},
		"a late acquire holds a free lock": func(l *ledger) {
			l.wrote(lockWrite{4 * time.Second, 1, now, freeWith(7)})
			l.wrote(lockWrite{6 * time.Second, 1, freeWith(7), heldBy("a", "a1", 8)})
			l.wrote(lockWrite{6*time.Second + aLease, 2, heldBy("a", "a1", 8), heldBy("b", "b1", 9)})
		},
	} {
		l := acquired()
		story(l)
		for _, v := range l.found {
			t.Errorf("%s: breaks %q: %s", name, v.of, v.text)
		}
	}
}
