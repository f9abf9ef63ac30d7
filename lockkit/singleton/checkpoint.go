package singleton

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// Checkpoint stores how far a long job has come, and writes the items, such as
// what the page just read leads to, in the same transaction: a page whose cursor
// is stored has been written exactly once. It follows the rules of [Run.Commit],
// but for one: a run makes as many checkpoints as it likes, and returning nil
// still completes the tick, unless the last Checkpoint failed: a work that ignores
// its error and returns nil would complete the tick without that page. One that
// failed may be corrected and called again.
//
// The next run of the job that is not completed before gets the cursor as
// [Run.Cursor], with the tick it belongs to. Completing a tick removes it.
//
// The cursor is text of 1 byte up to the spec's MaxCursor, for this package
// without a meaning; a longer one is an error before any request. It costs 2
// write units for each KB of the lock's item, and 2 for each KB of each item.
//
// After one whose answer never came ([lockkit.ErrUnknownOutcome]) every further
// Checkpoint or Commit of the run is an error, because the same page could be
// written twice: return, and the next run begins where the stored cursor is.
//
// In a run without a tick, and in a forced run of a done tick while a later
// tick's cursor is stored, the items are written and the cursor is not kept.
func (r *Run) Checkpoint(ctx context.Context, cursor string, items ...types.TransactWriteItem) error {
	var why string
	switch {
	case cursor == "":
		why = "the cursor is empty, which is no cursor to the next run: pass where to go on"
	case !utf8.ValidString(cursor):
		why = "the cursor is not valid UTF-8, which DynamoDB's strings must be: encode it, for example with base64"
	case len(cursor) > r.maxCursor:
		why = fmt.Sprintf("the cursor has %d bytes, expected at most %d: store a position and not the data, or raise MaxCursor in the job's spec", len(cursor), r.maxCursor)
	}
	if why != "" {
		err := fmt.Errorf("singleton: checkpoint of job %q: %s", r.lease.Name(), why)
		r.did.stored(err)
		return err
	}
	err := r.transact(ctx, &transaction{cursor: cursor}, items)
	r.did.stored(err)
	return err
}

// errYielded ends a run that leaves the rest of its tick to the next one.
var errYielded = errors.New("singleton: the work yielded before it was done; the next run of the job goes on from its last checkpoint")

// Yield ends the run before the tick is done, for example because the next page
// may not fit in the time that is left: write "return run.Yield()". The outcome
// is out_of_time, the tick is not completed, and the cursor of the last
// Checkpoint stays. The job goes on with Lambda's next try of the same event,
// after one and after two minutes, if its spec has Retries; after that with the
// next tick, which gets the cursor.
//
// It sends nothing. A run that has called it completes nothing, also if the work
// returns nil after all. A second call does the same as the first. After a
// Commit, which has ended the tick, it is another error and changes nothing.
func (r *Run) Yield() error {
	r.did.mu.Lock()
	defer r.did.mu.Unlock()
	if r.did.spent {
		return fmt.Errorf("singleton: yield of job %q: %w", r.lease.Name(), errAfterCommit)
	}
	r.did.yielded = true
	return errYielded
}

// dropCursor removes the cursor with the write that completes its tick.
func (e *extension) dropCursor(add *lockkit.Addition) {
	if e.covers.keeps {
		add.Remove = append(add.Remove, "#cursor")
		add.Names["#cursor"] = lockkit.AttrCursor
	}
}
