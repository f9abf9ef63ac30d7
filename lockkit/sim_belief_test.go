package lockkit_test

import (
	"errors"
	"time"
)

// believer is a lease whose holder runs and is told that it holds.
type believer struct {
	process int
	owner   string
}

// believe judges who believes to hold the lock at one moment.
func (l *ledger) believe(at time.Duration, all []believer) {
	for i, b := range all {
		for _, other := range all[:i] {
			l.broken(oneHolder, "processes %d and %d both believe at %s that they hold the lock", other.process, b.process, at)
		}
	}
}

// belief is what the holder of a lease is told at one moment at which it runs,
// and what it may be told by what it knows.
type belief struct {
	process  int
	believes bool          // Err is nil
	told     bool          // Done is closed
	over     bool          // it was seen as not held before, or its context has ended
	since    time.Duration // since the send of the newest write known to be on the item, by whichever clock says more
	running  time.Duration // the same by the monotonic clock
	limit    time.Duration // how long it may believe after that
	settled  bool          // what was due while it did not run is done
	noticed  bool          // it must have noticed a suspend by now
}

// judge judges what a holder is told. Err is exact by either clock; the signal
// is a timer, which stands still in a suspend.
func (l *ledger) judge(b belief) {
	switch {
	case b.believes && b.since > b.limit+tolerance:
		l.broken(toldInTime, "process %d believes %s after the send of the newest renewal that it knows of; expected at most %s", b.process, b.since, b.limit)
	case b.believes && (b.over || b.told):
		l.broken(endedStays, "process %d believes in a lease that had ended", b.process)
	case !b.told && b.running > b.limit+tolerance && b.settled:
		l.broken(toldInTime, "process %d is not told %s after the send of the newest renewal that it knows of; expected at most %s", b.process, b.running, b.limit)
	case !b.told && b.noticed:
		l.broken(toldInTime, "process %d is not told after a suspend", b.process)
	}
}

// stays judges a lease that has ended: Err stays what it was first, and is the
// cause of the lease's contexts.
func (l *ledger) stays(process int, first, now, cause error) {
	if !errors.Is(now, first) {
		l.broken(endedStays, "process %d: Err is %v after %v", process, now, first)
	}
	if !errors.Is(cause, first) {
		l.broken(endedStays, "process %d: the lease ended with %v, its context with %v", process, first, cause)
	}
}

// left judges what a process has left whose leases are all over.
func (l *ledger) left(process, timers int) {
	if timers > 0 {
		l.broken(nothingLeft, "process %d has %d timers left, and no lease", process, timers)
	}
}

// most is how many requests a process may send within a lease, whatever it does.
const most = 400

// asked judges how many requests a process has sent within a lease, and reports
// whether it has gone mad.
func (l *ledger) asked(process, requests int) bool {
	if requests == most+1 {
		l.broken(nobodyHammers, "process %d sent more than %d requests within a lease", process, most)
	}
	return requests > most
}
