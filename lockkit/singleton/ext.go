package singleton

import (
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// extension puts a run's tick and record on the lock item, with the writes that
// the lease makes anyway. It serves one acquire and its lease.
type extension struct {
	lockkit.NoExtension

	tick    events.Tick
	request request

	mu      sync.Mutex
	old     lockkit.Item // what the acquire found, or left when its answer was lost
	reached time.Time    // the last completed tick that a release was shown which found the lock another's
	started time.Time
	end     ending
	covers  interval // what the run is to cover

	tx    *transaction // the Commit or Checkpoint under way
	step  int64        // of the last one
	shown int64        // the item's step, as far as this lease was shown it
	over  bool         // a Commit was sent: nothing more can change what becomes of the run

	queues  bool          // the policy is Queue
	maxAge  time.Duration // of the job; 0: no limit
	began   time.Time     // what is older than maxAge then is not run
	expired time.Time     // the newest tick that waited and was too old when its turn came
	handing *handover     // the renewal under way from one tick to the next

	stopped *Stop             // who asked this run to stop
	stop    func(cause error) // ends the work's ctx
}

// request names the invocation, for the record.
type request struct{ id, logStream string }

// ending is what the release is to write.
type ending struct {
	at        time.Time
	outcome   Outcome
	err       string
	committed bool // the tick is completed already
	takesOn   bool // not while a tick waits
}

// doneError refuses a tick that is not newer than the last completed one.
type doneError struct{ tick, done time.Time }

func (e *doneError) Error() string {
	return fmt.Sprintf("singleton: tick %s is not newer than the last completed one, %s", e.tick.Format(time.RFC3339Nano), e.done.Format(time.RFC3339Nano))
}

// outcome tells the two apart, because a retried older tick that is called a
// duplicate would look as if it had been run.
func (e *doneError) outcome() Outcome {
	if e.tick.Equal(e.done) {
		return Duplicate
	}
	return Superseded
}

// once reports whether the tick may run only if no newer one, and not itself, is
// done.
func (e *extension) once() bool { return !e.tick.Time.IsZero() && !e.tick.Force }

// Add carries the record and, with an acquire, the condition on the tick.
func (e *extension) Add(w lockkit.Write) lockkit.Addition {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch w.Verb {
	case lockkit.VerbAcquire:
		return e.acquire(w)
	case lockkit.VerbRelease:
		return e.release(w)
	case lockkit.VerbTransact:
		return e.transact()
	case lockkit.VerbRenew:
		return e.hand(w)
	default:
		return lockkit.Addition{}
	}
}

func (e *extension) acquire(w lockkit.Write) lockkit.Addition {
	e.started = w.Sent
	add := lockkit.Addition{
		// A record that is still in run is of a run that did not release. It is
		// moved and not dropped, so that this acquire, sent again after its answer
		// was lost, still finds it. Both clauses read the item before the write.
		Set:    []string{"#prev = if_not_exists(#run, if_not_exists(#prev, :none))", "#run = :run"},
		Remove: []string{"#stop"}, // it was addressed to a holder who is gone
		Names:  map[string]string{"#run": lockkit.AttrRun, "#prev": lockkit.AttrPrev, "#stop": lockkit.AttrStop},
		Values: map[string]types.AttributeValue{
			":run":  e.working(e.record(w.Owner)),
			":none": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
		},
	}
	if e.once() {
		newest, err := e.newest(w.Seen)
		if err != nil { // Refuse has said so, or will
			newest = e.tick.Time
		}
		add.Condition = "attribute_not_exists(#tick) OR #tick < :tick"
		add.Names["#tick"] = lockkit.AttrTick
		add.Values[":tick"] = wire.Number(newest.UnixMilli())
	}
	refusePaused(&add, w.Sent)
	return add
}

func (e *extension) release(w lockkit.Write) lockkit.Addition {
	r := e.record(w.Owner)
	r.Tick = e.covers.tick
	r.Ended, r.Outcome, r.Err = e.end.at, string(e.end.outcome), e.end.err
	add := lockkit.Addition{
		Set:    []string{"#prev = :prev"},
		Remove: []string{"#run"},
		Names:  map[string]string{"#run": lockkit.AttrRun, "#prev": lockkit.AttrPrev},
		Values: map[string]types.AttributeValue{":prev": r.Value()},
	}
	if e.marks() {
		add.Set = append(add.Set, "#tick = :tick")
		add.Names["#tick"] = lockkit.AttrTick
		add.Values[":tick"] = wire.Number(e.mark().UnixMilli())
		e.dropCursor(&add)
	}
	if e.end.takesOn {
		e.refuseRelease(&add)
	}
	return add
}

func (e *extension) record(owner string) wire.Record {
	return wire.Record{Owner: owner, Tick: e.tick.Time, Started: e.started, RequestID: e.request.id, LogStream: e.request.logStream}
}

// working encodes the record of this run while it works.
func (e *extension) working(r wire.Record) types.AttributeValue {
	if e.queues {
		return r.Queueing()
	}
	return r.Value()
}

// marks reports whether the release completes a tick.
func (e *extension) marks() bool {
	return e.end.outcome == Completed && !e.end.committed && !e.covers.tick.IsZero()
}

// mark is the tick that the release writes: never one before the one that is
// done already, which force may re-run. Only the holder of the lock changes the
// attribute, so what the acquire found is what is there now.
func (e *extension) mark() time.Time {
	if done, err := doneTick(e.old); err == nil && done.After(e.covers.tick) {
		return done
	}
	return e.covers.tick
}

// Refuse refuses a tick that is done and a job that is paused, which costs the
// delivery one request in all. A tick that is done is called so during a pause
// too: there is nothing that the pause holds back.
func (e *extension) Refuse(w lockkit.Write, item lockkit.Item) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch w.Verb {
	case lockkit.VerbAcquire:
	case lockkit.VerbTransact:
		e.heed(w, item)
		return e.refuseTransaction(item)
	case lockkit.VerbRelease:
		e.heed(w, item)
		return e.waiting(item)
	default:
		e.heed(w, item)
		e.handed(w, item)
		return nil
	}
	if item == nil {
		return nil
	}
	if e.once() {
		done, err := doneTick(item)
		if err != nil {
			return err
		}
		newest, err := e.newest(item)
		if err != nil {
			return err
		}
		if !done.IsZero() && !done.Before(newest) {
			return &doneError{tick: e.tick.Time, done: done}
		}
	}
	return checkPaused(item, time.Now())
}

// Wrote notes what the acquire found, what the item shows after it, and who asks
// this run to stop.
func (e *extension) Wrote(w lockkit.Write, item lockkit.Item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch w.Verb {
	case lockkit.VerbAcquire:
		e.old = item
		return
	case lockkit.VerbRenew:
		e.heed(w, item)
		e.handed(w, item)
	case lockkit.VerbTransact:
		e.heed(w, item)
	default: // a release is the end
	}
	e.shows(w, item)
}

// Landed recognises this run's release by the record it left, under whoever
// holds the lock now, or by the tick it completed while nobody has acquired the
// lock since. It recognises a transaction by its step, under this lease.
func (e *extension) Landed(w lockkit.Write, item lockkit.Item) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.Verb == lockkit.VerbTransact {
		step, err := wire.ReadStep(item)
		return err == nil && e.tx != nil && step == e.tx.step
	}
	done, err := doneTick(item)
	if err == nil && w.Verb == lockkit.VerbRelease {
		e.reached = done
	}
	if prev, ok := wire.ReadRecord(item[lockkit.AttrPrev]); ok && prev.Owner == w.Owner {
		return prev.Outcome == string(e.end.outcome)
	}
	if !e.NoExtension.Landed(w, item) || !e.marks() {
		return false
	}
	return err == nil && done.Equal(e.mark())
}

// begins works out what the run is to cover from what its acquire found.
func (e *extension) begins(spec job.Spec) (interval, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := cover(e.tick, e.old, spec, e.began)
	if err == nil {
		e.covers = c
	}
	return c, err
}

// ends says what the release will write.
func (e *extension) ends(end ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end = end
}

// left returns the record that the holder with this owner id left. It is in prev
// when the item is the one that this run's own acquire made.
func (e *extension) left(owner string) (wire.Record, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range []string{lockkit.AttrRun, lockkit.AttrPrev} {
		if r, ok := wire.ReadRecord(e.old[name]); ok && r.Owner == owner {
			return r, true
		}
	}
	return wire.Record{}, false
}

// leftCursor returns the cursor that the acquire found, for people: cut.
func (e *extension) leftCursor() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := wire.ReadCursor(e.old)
	if err != nil {
		return ""
	}
	return wire.Cut(c.Data, maxShownCursor)
}

const maxShownCursor = 120 // bytes

// doneTick reads the last completed tick; zero when there is none.
func doneTick(item lockkit.Item) (time.Time, error) {
	done, err := wire.DoneTick(item)
	if err != nil {
		return time.Time{}, fmt.Errorf("singleton: %w", err)
	}
	return done, nil
}
