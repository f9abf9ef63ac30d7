package lockkit_test

import "github.com/solotick/solotick/lockkit"

// commit judges a fenced write that was carried out while the lock was as given.
func (l *ledger) commit(id int, owner string, token int64, lock lockState) {
	if lock.owner != owner || lock.token != token {
		l.broken(staleFenced, "a write of %.4s with token %d committed while the lock was %v", owner, token, lock)
	}
	if token < l.fenced {
		l.broken(staleFenced, "a write with token %d committed after one with %d", token, l.fenced)
	}
	l.fenced = max(l.fenced, token)
	switch outcome, known := l.outcomes[id]; {
	case known && outcome:
		l.broken(appliedOnce, "write %d was applied again", id)
	case known:
		l.broken(answersTrue, "write %d was applied although its transaction had failed for good", id)
	}
	l.outcomes[id] = true
}

// transacted judges what the sender of a fenced write was told.
func (l *ledger) transacted(id int, success, unknown bool) {
	applied := l.outcomes[id]
	switch {
	case unknown:
	case success && !applied:
		l.broken(answersTrue, "transaction %d reports success, and was not applied", id)
	case !success && applied:
		l.broken(answersTrue, "transaction %d reports failure, and was applied", id)
	default:
		l.outcomes[id] = success
	}
}

// fencedOff judges what the sender of a write was told: that it does not hold the
// lock.
func (l *ledger) fencedOff(process int, owner string, token int64) {
	if l.item.owner == owner && l.item.token == token {
		l.broken(answersTrue, "a write of process %d was fenced off, and it holds the lock: %v", process, l.item)
	}
}

// met judges a transaction that ended with a conflict, and whether it had to:
// its lease is over, or its caller has given up.
func (l *ledger) met(process int, over bool) {
	if !over {
		l.broken(conflictsPass, "a transaction of process %d failed with a conflict, and could have been tried again", process)
	}
}

// lane judges how many writes of one lease are under way at once.
func (l *ledger) lane(process, writes int) {
	if writes > 1 {
		l.broken(oneLane, "process %d has %d writes of one lease under way", process, writes)
	}
}

// got judges what an acquire returned.
func (l *ledger) got(owner string, token int64, held bool) {
	t := l.tenures[owner]
	if held && (t == nil || !t.tokens[token]) {
		l.broken(answersTrue, "an acquire returned a held lease with token %d that was never on the item", token)
	}
	if other, there := l.handed[token]; there {
		l.broken(tokensRise, "token %d was given to %.4s and to %.4s", token, other, owner)
	}
	l.handed[token] = owner
}

// gaveBack judges a release that reported success.
func (l *ledger) gaveBack(owner string) {
	if t := l.tenures[owner]; t == nil || !t.freed && !t.robbed {
		l.broken(answersTrue, "a release of %.4s reports success, and the lock was never given back: %v", owner, l.item)
	}
}

// lost judges the reason a lease ended for. disturbed says that something kept
// its process from renewing since the renewal that it last knew of.
func (l *ledger) lost(owner string, reason lockkit.Reason, disturbed bool) {
	t := l.tenures[owner]
	switch {
	case t == nil:
		l.broken(answersTrue, "a lease ended that was never on the item: %s", reason)
	case reason == lockkit.ReasonReleased:
	case reason == lockkit.ReasonTakenOver && l.item.owner == owner && !t.ghost:
		l.broken(lossHasCause, "ended as taken over, and the lock is %v", l.item)
	case reason == lockkit.ReasonDeleted && l.deletions == t.gone:
		l.broken(lossHasCause, "ended as deleted, and nobody deleted it")
	case reason == lockkit.ReasonExpired && !disturbed:
		l.broken(lossHasCause, "a lease expired although nothing kept process %d from renewing it", t.process)
	}
}

// alive judges an acquire that gave up because its holder proved to be alive,
// after so many changes of the lock.
func (l *ledger) alive(process, changes int) {
	if changes == 0 {
		l.broken(aliveTrue, "process %d took the holder for alive, and the lock had not changed since it began", process)
	}
}
