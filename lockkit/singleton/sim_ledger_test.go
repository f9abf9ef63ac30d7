package singleton_test

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
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

// lockState is the lock's item as far as the invariants look at it.
type lockState struct {
	exists             bool
	owner, version     string
	token, step        int64
	lease              time.Duration
	tick               time.Time
	pending            time.Time
	cursor             string
	paused             bool
	until              time.Time // of the pause; zero: without an end
	stop               int64     // the token that a stop is addressed to
	runOwner           string
	runTick            time.Time
	prevOwner, prevHow string
}

func readState(item lockkit.Item) lockState {
	at := func(v types.AttributeValue) time.Time {
		if ms := numberIn(v); ms != 0 {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	l := lockState{
		exists: item != nil, owner: textIn(item[lockkit.AttrOwner]), version: textIn(item[lockkit.AttrVersion]),
		token: numberIn(item[lockkit.AttrFence]), step: numberIn(item[lockkit.AttrStep]),
		lease: time.Duration(numberIn(item[lockkit.AttrLease])) * time.Millisecond,
		tick:  at(item[lockkit.AttrTick]), pending: at(item[lockkit.AttrPending]),
	}
	in := func(attribute, key string) types.AttributeValue {
		m, ok := item[attribute].(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		return m.Value[key]
	}
	l.cursor = textIn(in(lockkit.AttrCursor, "data"))
	l.paused, l.until = item[lockkit.AttrPaused] != nil, at(in(lockkit.AttrPaused, "until"))
	l.stop = numberIn(in(lockkit.AttrStop, "token"))
	l.runTick = at(in(lockkit.AttrRun, "t"))
	l.runOwner, l.prevOwner, l.prevHow = textIn(in(lockkit.AttrRun, "owner")), textIn(in(lockkit.AttrPrev, "owner")), textIn(in(lockkit.AttrPrev, "o"))
	return l
}

func textIn(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func numberIn(v types.AttributeValue) int64 {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err == nil {
			return i
		}
	}
	return 0
}

func (l lockState) pausedAt(now time.Time) bool {
	return l.paused && (l.until.IsZero() || now.Before(l.until))
}

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
	raised   time.Time // the tick that it completed
	from     int64     // the token that it was taken over from; 0: the lock was free
	forced   bool
	tick     time.Time // which its record names
	how      string    // the outcome that its release wrote
}

// ledger knows what happened to the lock and checks it at each write.
type ledger struct {
	policy   job.Policy
	found    []violation
	tenures  map[int64]*tenure
	stops    map[int64]bool // tokens that a stop was addressed to
	pendings map[time.Time]bool
	pauses   []span
	lives    []sign // writes by holders, oldest first
	state    lockState
	version  time.Time          // when the present version was written
	done     map[time.Time]bool // completed ticks
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

func newLedger(policy job.Policy) *ledger {
	return &ledger{
		policy: policy, tenures: map[int64]*tenure{}, stops: map[int64]bool{}, done: map[time.Time]bool{}, pendings: map[time.Time]bool{},
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
		t.raised = a.tick
	}
	if b.owner != "" && a.owner == "" && a.runOwner == "" { // and not just an acquire given up
		if t.how = a.prevHow; a.prevOwner != b.owner {
			l.broken(recordTrue, "process %d released the lock of %.4s and left a record of %.4s", w.process, b.owner, a.prevOwner)
		}
	}
	if b.cursor != "" && a.cursor == "" && !a.tick.After(b.tick) && !t.forced {
		l.broken(cursorStays, "process %d removed the cursor %q and completed nothing", w.process, b.cursor)
	}
	if !b.pending.IsZero() && a.pending.IsZero() && a.tick.Before(b.pending) {
		l.broken(queueServed, "process %d removed the queued tick %s, and %s is the last completed one", w.process, hour(b.pending), hour(a.tick))
	}
	if a.owner != "" && a.runOwner != a.owner {
		l.broken(recordTrue, "process %d holds the lock, and the record of the run is of %.4s", w.process, a.runOwner)
	}
}

// acquired checks a write that took the lock.
func (l *ledger) acquired(w lockWrite) {
	b, a := w.before, w.after
	t := &tenure{process: w.process, owner: a.owner, acquired: w.at, tick: a.runTick}
	if b.owner != "" {
		t.from = b.token
		if stood := w.at.Sub(l.version); stood < b.lease {
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

// notes keeps what later judgements need.
func (l *ledger) notes(w lockWrite) {
	// A copy of an acquire that arrives after the release has the version that the
	// first one had, and nobody behind it.
	if w.after.version != w.before.version {
		l.version = w.at
	}
	if w.process != 0 {
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
		t.forced = forced
	}
	if !forced && !tick.IsZero() && l.done[tick] {
		l.broken(doneNotRun, "token %d works on tick %s, which is done", token, hour(tick))
	}
}

func (l lockState) String() string {
	who := "free"
	if l.owner != "" {
		who = fmt.Sprintf("held by %.4s for %s", l.owner, hour(l.runTick))
	}
	s := fmt.Sprintf("%s, token %d, version %.4s, tick %s, step %d", who, l.token, l.version, hour(l.tick), l.step)
	if l.cursor != "" {
		s += fmt.Sprintf(", cursor %q", l.cursor)
	}
	if l.paused {
		s += ", paused until " + hour(l.until)
	}
	if l.stop != 0 {
		s += fmt.Sprintf(", stop for %d", l.stop)
	}
	if !l.pending.IsZero() {
		s += ", pending " + hour(l.pending)
	}
	if l.prevHow != "" {
		s += ", before: " + l.prevHow
	}
	return s
}

func hour(t time.Time) string { return t.Format("15:04:05") }
