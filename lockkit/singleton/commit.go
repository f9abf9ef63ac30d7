package singleton

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// Commit writes the items and completes the tick, in one transaction: both
// happen while this run holds the job's lock, or neither does. So what a tick
// writes with Commit it writes exactly once, whatever crashes and however often
// the tick is delivered.
//
// From the moment it is called, only a Commit that succeeded completes the tick:
// a work that ignores the error and returns nil does not. After one that
// succeeded the outcome is completed, and what the work still returns is
// reported and not tried again. A run has one Commit; a second is an error, and
// so are Checkpoint and Yield after it. One that was refused before it was sent
// may be corrected and called again.
//
// It takes up to 99 items (none: it only completes the tick), of the same account
// and Region, in any tables, but none on the lock's own item, which is in the
// transaction already: no held check is needed. What is wrong with the items is
// an error before any request.
//
// Conflicts, throttling and lost answers are tried again until ctx or the lease
// ends; a renewal does not collide with it. When one of the items' own conditions
// failed, the error has DynamoDB's TransactionCanceledException, where the items'
// reasons begin at index 1. When the lease was lost, it is a
// [lockkit.EndedError]. When the answer never came, it matches
// [lockkit.ErrUnknownOutcome]; return then: the run looks once more, and is
// completed if the transaction turns out to have been applied.
//
// Once the run has been asked to stop, a Commit is refused before any request,
// whatever ctx it is given, with an error that matches [ErrStopped]; one that was
// sent before goes on.
//
// In a run without a tick the items are written all the same, under the lock, and
// complete nothing. A forced run of a tick that is done leaves it as it is.
func (r *Run) Commit(ctx context.Context, items ...types.TransactWriteItem) error {
	r.did.ask()
	err := r.transact(ctx, &transaction{commit: true}, items)
	r.did.refused(err)
	return err
}

// transaction is one call of Commit or Checkpoint.
type transaction struct {
	commit bool
	cursor string // of a checkpoint
	// step numbers the call: one more than that of the call before, the first one
	// more than what the acquire found. It is higher than what the item shows, so
	// that the item tells which call was applied, and it counts calls that were
	// not applied, too: the item's own count may have gaps.
	step int64
	sent bool // a body was made for it
}

func (t *transaction) name() string {
	if t.commit {
		return "commit"
	}
	return "checkpoint"
}

// transact sends one call. The calls of a run take turns, because the extension
// must know whose body it is asked about.
func (r *Run) transact(ctx context.Context, tx *transaction, items []types.TransactWriteItem) error {
	failed := func(err error) error {
		return fmt.Errorf("singleton: %s of job %q: %w", tx.name(), r.lease.Name(), err)
	}
	select {
	case r.did.turn <- struct{}{}:
	case <-ctx.Done():
		return failed(fmt.Errorf("not sent: the context has ended: %w", context.Cause(ctx)))
	}
	defer func() { <-r.did.turn }()
	if err := r.did.begin(tx, r.ext); err != nil {
		return failed(err)
	}
	err := r.lease.Transact(ctx, items...)
	if errors.Is(err, errApplied) {
		err = nil
	}
	if err != nil {
		err = failed(err)
	}
	r.did.end(tx, r.ext, err)
	return err
}

// begin numbers a call. It refuses one of a run that was asked to stop, and a step
// on the item that cannot be counted.
func (e *extension) begin(tx *transaction) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped != nil { // whatever context the call was given
		return fmt.Errorf("not sent: %w %s", ErrStopped, e.stopped)
	}
	if e.step == 0 {
		next, err := wire.NextStep(e.old)
		if err != nil {
			return err
		}
		e.step = next - 1
	}
	e.step++ // also past a call that had no answer, or its success could be taken for this one's
	tx.step = e.step
	e.tx = tx
	return nil
}

// finish forgets the call and reports whether a body was made for it.
func (e *extension) finish() (sent bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	sent = e.tx.sent
	e.over = e.over || sent && e.tx.commit
	e.tx = nil
	return sent
}

// transact is what a Commit or Checkpoint adds to its renewal.
func (e *extension) transact() lockkit.Addition {
	tx := e.tx
	if tx == nil {
		return lockkit.Addition{}
	}
	tx.sent = true
	add := lockkit.Addition{
		// A body that was cancelled may still arrive once more, late. The next one
		// has the same step, so that only one of them is ever applied.
		Condition: "attribute_not_exists(#step) OR #step < :step",
		Set:       []string{"#step = :step"},
		Names:     map[string]string{"#step": lockkit.AttrStep},
		Values:    map[string]types.AttributeValue{":step": wire.Number(tx.step)},
	}
	switch {
	case e.covers.tick.IsZero():
	case tx.commit:
		if !e.covers.rerun {
			add.Condition = "(" + add.Condition + ") AND (attribute_not_exists(#tick) OR #tick < :tick)"
			add.Set = append(add.Set, "#tick = :tick")
			add.Names["#tick"] = lockkit.AttrTick
			add.Values[":tick"] = wire.Number(e.covers.tick.UnixMilli())
		}
		e.dropCursor(&add)
	case e.covers.keeps:
		add.Set = append(add.Set, "#cursor = :cursor")
		add.Names["#cursor"] = lockkit.AttrCursor
		add.Values[":cursor"] = wire.Cursor{Tick: e.covers.tick, Data: tx.cursor}.Value()
	}
	return add
}

// refuseTransaction says why the item keeps a Commit or Checkpoint from being
// applied, nil when it does not: then only a renewal of ours came between.
func (e *extension) refuseTransaction(item lockkit.Item) error {
	tx := e.tx
	if tx == nil {
		return nil
	}
	step, err := wire.ReadStep(item)
	switch {
	case err != nil:
		return err
	case step == tx.step:
		return errApplied
	case step > tx.step:
		return fmt.Errorf("attribute %s of the lock's item is %d, and this run's own count is %d: somebody else has changed it", lockkit.AttrStep, step, tx.step)
	}
	if tx.commit && !e.covers.tick.IsZero() && !e.covers.rerun {
		done, err := doneTick(item)
		if err != nil {
			return err
		}
		if !done.IsZero() && !done.Before(e.covers.tick) {
			return &doneError{tick: e.covers.tick, done: done}
		}
	}
	return nil
}

// shows notes the step of an item that is still this lease's, or that nobody has
// acquired since its release.
func (e *extension) shows(w lockkit.Write, item lockkit.Item) {
	by, held := item[lockkit.AttrOwner].(*types.AttributeValueMemberS)
	token, _ := wire.Integer(item[lockkit.AttrFence])
	if held && by.Value != w.Owner || !held && token != w.Token {
		return
	}
	if step, err := wire.ReadStep(item); err == nil {
		e.shown = step
	}
}

// found notes what a read showed.
func (e *extension) found(w lockkit.Write, item lockkit.Item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shows(w, item)
}

// seenStep is the highest step that the item is known to have had under this
// lease.
func (e *extension) seenStep() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shown
}

// errApplied says that the item, still under this lease, shows the step of the
// call under way: a body of it that was cancelled arrived once more.
var errApplied = errors.New("singleton: it was applied before")

var (
	errSecondCommit = errors.New("this run has sent its Commit already: put all items into one")
	errAfterCommit  = errors.New("this run has sent its Commit, which ends its tick: do it before")
	errAfterYield   = errors.New("this run has yielded: return what Yield returned")
	errOpen         = errors.New("an earlier transaction of this run had no answer and may have been applied: return, so that the next run goes on from what is stored")
)
