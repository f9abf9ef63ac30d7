package lockkit_test

import (
	"fmt"
	"time"
)

// invariant is what must be true of every history.
type invariant string

const (
	oneHolder       invariant = "one holder at a time"
	tokensRise      invariant = "tokens rise"
	staleFenced     invariant = "stale writes are fenced"
	takenInTime     invariant = "a free or dead lock is taken in time"
	noEarlyTakeover invariant = "nobody takes over early"
	versionsNew     invariant = "no record version comes back"
	endedStays      invariant = "ended stays ended"
	toldInTime      invariant = "the holder is told in time"
	answersTrue     invariant = "success means success"
	aliveTrue       invariant = "alive means alive"
	lossHasCause    invariant = "no loss without a cause"
	successorSpared invariant = "another's lease is left alone"
	onlyTheLock     invariant = "only the lock is written"
	appliedOnce     invariant = "a write is applied once"
	nobodyHammers   invariant = "nobody hammers the table"
	nothingLeft     invariant = "nothing is left behind"
	conflictsPass   invariant = "a conflict passes"
	oneLane         invariant = "a lease sends one write at a time"
)

type violation struct {
	of   invariant
	text string
}

// nobody is the process of an operator's doing.
const nobody = -1

// ledger is the history of one lock as its table saw it, and the judge of it. It
// knows nothing of how lockkit works: times are the world's own, since its
// beginning, and facts are items, requests, answers and beliefs.
type ledger struct {
	bounded bool // takeovers may come early: holders said when they are gone
	found   []violation

	item      lockState
	changed   time.Duration      // when owner or version last changed
	changes   int                // how often they did
	lease     time.Duration      // of the newest holder
	longest   time.Duration      // lease of any holder
	versions  map[string]string  // whose each is that was ever sent
	order     map[string]int     // in which they were first sent
	were      map[string]bool    // versions ever on the item
	tenures   map[string]*tenure // by owner
	highest   int64              // token ever on the item
	handed    map[int64]string   // tokens that an acquire returned
	fenced    int64              // token of the newest fenced write
	outcomes  map[int]bool       // of fenced writes, whether they were applied
	deletions int                // of the item
}

// tenure is an owner's time on the item.
type tenure struct {
	process int
	tokens  map[int64]bool
	ghost   bool // the newest acquire came after the owner had been there before
	freed   bool // it left the item free once
	robbed  bool // an operator freed or deleted the item under it
	gone    int  // deletions of the item before it came
}

func newLedger() *ledger {
	return &ledger{versions: map[string]string{}, order: map[string]int{}, were: map[string]bool{}, tenures: map[string]*tenure{}, handed: map[int64]string{}, outcomes: map[int]bool{}}
}

func (l *ledger) broken(of invariant, format string, args ...any) {
	l.found = append(l.found, violation{of, fmt.Sprintf(format, args...)})
}

// sent judges what a process of the lock sends, and remembers whose lease a record
// version belongs to.
func (l *ledger) sent(process int, operation, key, version, owner string) {
	switch operation {
	case "TransactWriteItems":
	case "UpdateItem", "GetItem":
		if key != lockKey {
			l.broken(onlyTheLock, "process %d sent a %s for the key %q", process, operation, key)
		}
	default:
		l.broken(onlyTheLock, "process %d sent a %s", process, operation)
	}
	if _, again := l.versions[version]; version != "" && !again {
		l.versions[version] = owner
		l.order[version] = len(l.order) + 1
	}
}

// lockWrite is a request that changed the lock's item.
type lockWrite struct {
	at            time.Duration
	process       int
	before, after lockState
}

// wrote judges a change of the item by a process of the lock.
func (l *ledger) wrote(w lockWrite) {
	b, a := w.before, w.after
	switch {
	case !a.exists:
		l.broken(onlyTheLock, "process %d deleted the item", w.process)
	case !a.lock:
		l.broken(onlyTheLock, "process %d left an item that is not a lock", w.process)
	case b.exists && a.kept != b.kept:
		l.broken(onlyTheLock, "process %d changed an attribute that is not its own: %q to %q", w.process, b.kept, a.kept)
	}
	if a.token < b.token {
		l.broken(tokensRise, "process %d: token %d after %d", w.process, a.token, b.token)
	}
	switch {
	case a.owner == b.owner && a.owner != "":
		l.renewed(w)
	case a.owner == b.owner:
	case a.owner == "":
		t := l.tenures[b.owner]
		if t.process != w.process {
			l.broken(successorSpared, "process %d freed the lock of process %d", w.process, t.process)
		}
		t.freed = true
	default:
		if b.owner != "" {
			l.tookOver(w)
		}
		l.acquired(w)
	}
	l.note(w.at, a)
}

func (l *ledger) renewed(w lockWrite) {
	b, a := w.before, w.after
	if t := l.tenures[a.owner]; t.process != w.process {
		l.broken(successorSpared, "process %d renewed the lease of process %d", w.process, t.process)
	}
	if a.token != b.token {
		l.broken(tokensRise, "a renewal changed the token from %d to %d", b.token, a.token)
	}
	switch {
	case a.version == b.version:
	case l.were[a.version]:
		l.broken(versionsNew, "version %.4s of process %d is back", a.version, w.process)
	case l.order[a.version] < l.order[b.version]:
		l.broken(versionsNew, "version %.4s of process %d replaced %.4s, which was sent after it", a.version, w.process, b.version)
	}
}

// tookOver is about time only: the condition of a takeover is right when nobody
// takes over before the version it replaces stood for a lease.
func (l *ledger) tookOver(w lockWrite) {
	least := time.Duration(float64(w.before.lease) / 1.0201)
	if stood := w.at - l.changed; stood < least && !l.bounded && !l.tenures[w.before.owner].ghost {
		l.broken(noEarlyTakeover, "process %d took over %s after the version was written, of a lease of %s", w.process, stood, w.before.lease)
	}
}

func (l *ledger) acquired(w lockWrite) {
	a := w.after
	if a.token <= l.highest {
		l.broken(tokensRise, "process %d acquired with token %d after %d", w.process, a.token, l.highest)
	}
	t := l.tenures[a.owner]
	if t == nil {
		t = &tenure{process: w.process, tokens: map[int64]bool{}, gone: l.deletions}
		l.tenures[a.owner] = t
	} else {
		// A request that was late: its lease is over or was never had. That holds
		// a free lock for a lease, and is documented.
		t.ghost = true
	}
	t.tokens[a.token] = true
	l.lease, l.longest = a.lease, max(l.longest, a.lease)
}

// note remembers an item.
func (l *ledger) note(at time.Duration, s lockState) {
	if s.owner != l.item.owner || s.version != l.item.version || s.exists != l.item.exists {
		l.changed = at
		l.changes++
	}
	l.item = s
	l.highest = max(l.highest, s.token)
	if s.version != "" {
		l.were[s.version] = true
	}
}

// operated is an item that was changed by hand.
func (l *ledger) operated(at time.Duration, after lockState) {
	if t := l.tenures[l.item.owner]; t != nil && after.owner == "" {
		t.robbed = true
	}
	if !after.exists {
		l.deletions++
	}
	l.note(at, after)
}

// robbed reports whether an owner lost the item to an operator, who thereby took
// the blame for whatever follows.
func (l *ledger) robbed(owner string) bool {
	t := l.tenures[owner]
	return t != nil && t.robbed
}

// patience is how long a lock may stay as it is while a contender runs
// undisturbed: it looks after a third of the lease that it saw before, which may
// be another holder's, waits for a lease and its takeover delay from then on, and
// its clock may be slow.
func (l *ledger) patience(delay, extra time.Duration) time.Duration {
	look := min(l.longest/3, 10*time.Second)
	return time.Duration(float64(look+l.lease+delay)*1.021) + extra + time.Second/2
}

// waited judges how long a contender has gone without anything in its way, and
// without any change of the lock.
func (l *ledger) waited(process int, quiet, bound time.Duration) {
	if quiet > bound {
		l.broken(takenInTime, "process %d waited %s, undisturbed, for a lock that stayed %v; expected at most %s", process, quiet, l.item, bound)
	}
}
