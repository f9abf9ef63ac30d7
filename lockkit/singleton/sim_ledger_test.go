package singleton_test

import (
	"fmt"
	"time"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

// invariant names what must be true in every world.
type invariant string

const (
	effectOnce   invariant = "no effect of a tick happens twice"
	nothingLost  invariant = "a completed tick's interval is covered"
	tickForward  invariant = "the last completed tick never goes back"
	stepForward  invariant = "each transaction raises the step"
	doneNotRun   invariant = "a tick that is done does not run"
	pausedRests  invariant = "a paused job never starts"
	stopHits     invariant = "a stop stops the run it is addressed to"
	queueServed  invariant = "what is queued is served"
	cursorStays  invariant = "a cursor stays until its tick is completed"
	recordTrue   invariant = "the record is that of the holder"
	toldTrue     invariant = "every outcome told is true"
	recordedTold invariant = "what is recorded is reported"
	oneAtATime   invariant = "one run at a time"
	takenOver    invariant = "a dead holder is taken over in time"
	noEarly      invariant = "a takeover waits for a whole lease"
)

// lockWrite is a write to the lock's item that was applied.
type lockWrite struct {
	at            time.Time
	process       int // 0: an operator
	transaction   bool
	before, after lockState
}

// tenure is what is known of one token's run.
type tenure struct {
	process  int
	owner    string
	acquired time.Time
	raised   map[time.Time]bool // the ticks that it completed
	from     int64              // the token that it was taken over from; 0: the lock was free
	forced   bool
	begun    bool               // its work
	tick     time.Time          // which its record names now
	named    map[time.Time]bool // and has named: under the policy Queue a run may have several
	how      string             // the outcome that its release wrote
}

// ledger knows what happened to the lock and checks it at each write.
type ledger struct {
	policy   job.Policy
	maxAge   time.Duration // of a tick; 0: any
	found    []violation
	tenures  map[int64]*tenure
	stops    map[int64]bool // tokens that a stop was addressed to
	pendings map[time.Time]bool
	pauses   []span
	lives    []sign // writes by holders, oldest first
	state    lockState
	versions map[string]time.Time // when each was first written
	done     map[time.Time]bool   // completed ticks
}

type violation struct {
	of   invariant
	text string
}

type span struct{ from, to time.Time }

// sign is a write by which a holder proves alive.
type sign struct {
	at    time.Time
	token int64
}

func newLedger(policy job.Policy, maxAge time.Duration) *ledger {
	return &ledger{
		policy: policy, maxAge: maxAge, tenures: map[int64]*tenure{}, stops: map[int64]bool{}, done: map[time.Time]bool{}, pendings: map[time.Time]bool{},
		versions: map[string]time.Time{},
	}
}

func (l *ledger) broken(of invariant, format string, args ...any) {
	l.found = append(l.found, violation{of, fmt.Sprintf(format, args...)})
}

// wrote notes a write and checks what it did.
func (l *ledger) wrote(w lockWrite) {
	b, a := w.before, w.after
	defer l.notes(w)
	if a.tick.Before(b.tick) {
		l.broken(tickForward, "process %d moved the tick from %s back to %s", w.process, hour(b.tick), hour(a.tick))
	}
	if w.process == 0 {
		return
	}
	if w.transaction && a.step <= b.step {
		l.broken(stepForward, "a transaction of process %d left the step at %d", w.process, a.step)
	}
	if a.owner != "" && a.owner != b.owner {
		l.acquired(w)
	} else if a.token != b.token {
		l.broken(recordTrue, "process %d changed the token from %d to %d without an acquire", w.process, b.token, a.token)
	}
	t := l.tenures[a.token]
	if t == nil {
		l.broken(recordTrue, "process %d writes under the token %d, which nobody acquired", w.process, a.token)
		return
	}
	if a.tick.After(b.tick) {
		t.raised[a.tick] = true
	}
	if a.owner != "" {
		t.tick, t.named[a.runTick] = a.runTick, true
	}
	if b.owner != "" && a.owner == "" {
		l.freed(w, t)
	}
	if b.cursor != "" && a.cursor == "" && !a.tick.After(b.tick) && !t.forced {
		l.broken(cursorStays, "process %d removed the cursor %q and completed nothing", w.process, b.cursor)
	}
	tooOld := l.maxAge > 0 && w.at.Sub(b.pending) > l.maxAge
	if !b.pending.IsZero() && a.pending.IsZero() && a.tick.Before(b.pending) && !tooOld {
		l.broken(queueServed, "process %d removed the queued tick %s, and %s is the last completed one", w.process, hour(b.pending), hour(a.tick))
	}
	if a.owner != "" && a.runOwner != a.owner {
		l.broken(recordTrue, "process %d holds the lock, and the record of the run is of %.4s", w.process, a.runOwner)
	}
}

// acquired checks a write that took the lock.
func (l *ledger) acquired(w lockWrite) {
	b, a := w.before, w.after
	t := &tenure{process: w.process, owner: a.owner, acquired: w.at, raised: map[time.Time]bool{}, named: map[time.Time]bool{}}
	if b.owner != "" {
		t.from = b.token
		if stood := w.at.Sub(l.versions[b.version]); stood < b.lease {
			l.broken(noEarly, "process %d took over %s after the version was written, of a lease of %s", w.process, stood, b.lease)
		}
	}
	l.tenures[a.token] = t
	if b.pausedAt(w.at) {
		l.broken(pausedRests, "process %d acquired the lock of the paused job", w.process)
	}
	if a.stop != 0 {
		l.broken(stopHits, "process %d acquired the lock and left the stop for %d", w.process, a.stop)
	}
}

// freed checks a write that freed the lock. A release writes the record of its run;
// an acquire that was given up and had landed takes the lock back, before any work,
// and leaves the record of the run before as it is.
func (l *ledger) freed(w lockWrite, t *tenure) {
	b, a := w.before, w.after
	if a.prevOwner == b.owner {
		t.how = a.prevHow
		return
	}
	if t.begun || a.prevOwner != b.prevOwner || a.prevHow != b.prevHow {
		l.broken(recordTrue, "process %d released the lock of %.4s and left a record of %.4s", w.process, b.owner, a.prevOwner)
	}
}

// notes keeps what later judgements need.
func (l *ledger) notes(w lockWrite) {
	// A copy of an acquire that arrives after the release has the version that the
	// first one had, and nobody behind it: who has seen that version for a whole lease
	// need not wait for another.
	if _, known := l.versions[w.after.version]; !known {
		l.versions[w.after.version] = w.at
	}
	if w.after.version != w.before.version || w.after.owner != w.before.owner {
		l.lives = append(l.lives, sign{w.at, w.after.token})
	}
	if w.after.stop != 0 {
		l.stops[w.after.stop] = true
	}
	if !w.after.pending.IsZero() {
		l.pendings[w.after.pending] = true
	}
	paused, was := w.after.paused, w.before.paused
	if was && len(l.pauses) > 0 && l.pauses[len(l.pauses)-1].to.After(w.at) {
		l.pauses[len(l.pauses)-1].to = w.at
	}
	if paused {
		to := w.after.until
		if to.IsZero() {
			to = w.at.Add(24 * time.Hour)
		}
		l.pauses = append(l.pauses, span{w.at, to})
	}
	if !w.after.tick.IsZero() {
		l.done[w.after.tick] = true
	}
	l.state = w.after
}

// covered checks the counts of the units up to a completed tick. gone is the last
// unit that the job's limit on catching up lets it leave out.
func (l *ledger) covered(tick time.Time, gone, last int, counts func(n int) (normal, forced int64)) {
	for n := 1; n <= last; n++ {
		normal, forced := counts(n)
		if normal+forced == 0 && n > gone {
			l.broken(nothingLost, "tick %s is completed, and unit %d was never counted", hour(tick), n)
			return
		}
	}
}

// counted checks that no unit was counted twice.
func (l *ledger) counted(n int, normal int64) {
	if normal > 1 {
		l.broken(effectOnce, "unit %d was counted %d times", n, normal)
	}
}

// begins checks that the work of a tick may begin.
func (l *ledger) begins(token int64, tick time.Time, forced bool) {
	if t := l.tenures[token]; t != nil {
		t.forced, t.begun = forced, true
	}
	if !forced && !tick.IsZero() && l.done[tick] {
		l.broken(doneNotRun, "token %d works on tick %s, which is done", token, hour(tick))
	}
}

func hour(t time.Time) string { return t.Format("15:04:05") }
