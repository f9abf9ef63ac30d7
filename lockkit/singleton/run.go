package singleton

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// Run is what a work is told about its run, and how it protects its writes. Its
// methods are safe for concurrent use. After the run has ended it keeps its
// token, so that a late write is refused where the token is checked.
type Run struct {
	// Tick is when the job was due, in UTC; zero for a manual run without a tick.
	// It is the delivered tick, or a newer one whose run was begun, has left a
	// cursor and did not complete: then that interval is finished first; or, under
	// the policy Queue, a newer one that waits on the lock's item.
	Tick time.Time
	// Since is where the run's interval begins: the work is for the time after
	// Since up to and including Tick. It is the last completed tick; if that lies
	// further back than the spec's CatchUp, or none is completed yet, it is Tick
	// less CatchUp, or zero if that has no limit. A forced run of a done tick gets
	// Tick less ExpectedInterval, or zero if that is not known. It is zero for a
	// run without a tick.
	Since time.Time
	// Cursor is what the last Checkpoint of a run that was not completed left, ""
	// if there is none: go on from there. CursorTick is the tick of that run; it
	// may be one before Tick, when a later tick goes on with what is left.
	Cursor     string
	CursorTick time.Time
	// Attempt is Scheduler's count of deliveries of this tick, from 1; 0 where
	// nobody counts. Above 1, an earlier delivery may have done part of the work.
	Attempt int
	// RequestID is the id of the Lambda invocation; "" outside Lambda.
	RequestID string

	lease     *lockkit.Lease
	ext       *extension
	maxCursor int
	did       did
	counts    counts
}

// newRun makes what the work is told.
func (a *attempt) newRun(lease *lockkit.Lease, c interval) *Run {
	return &Run{
		Tick: c.tick, Since: c.since, Cursor: c.cursor.Data, CursorTick: c.cursor.Tick,
		Attempt: a.tick.Attempt, RequestID: a.res.RequestID,
		lease: lease, ext: a.ext, maxCursor: a.spec.MaxCursor, did: did{turn: make(chan struct{}, 1)},
	}
}

// counts are what a work counted, for the run's result.
type counts struct {
	mu sync.Mutex
	of map[string]int64
}

// Count adds n to a count of the run's result, such as the orders closed. The
// counts appear in the log line and in the answer to the invocation, whatever
// the outcome. Names are code constants in snake_case; a run keeps up to 20, and
// drops what comes beyond.
func (r *Run) Count(name string, n int) {
	r.counts.mu.Lock()
	defer r.counts.mu.Unlock()
	if r.counts.of == nil {
		r.counts.of = map[string]int64{}
	}
	if _, known := r.counts.of[name]; !known && len(r.counts.of) == maxCounts {
		return
	}
	r.counts.of[name] += int64(n)
}

const maxCounts = 20

// copy returns the counts so far, nil without any; a work that was given up may
// still be counting.
func (c *counts) copy() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.of)
}

// Token returns the run's fencing token: higher than that of every run before
// it. Send it with every write to a resource that can refuse a lower one.
func (r *Run) Token() int64 { return r.lease.Token() }

// ConditionCheck returns an action for TransactWriteItems that lets the
// transaction commit only while this run holds the job's lock. See
// [lockkit.Lease.ConditionCheck]. Code that is not handed the run gets the same
// from the work's ctx with [lockkit.ConditionCheckFromContext].
func (r *Run) ConditionCheck() types.TransactWriteItem { return r.lease.ConditionCheck() }

// Write sends the items in one transaction with the held check, so that they are
// written only while this run holds the job's lock. It completes nothing. See
// [lockkit.Lease.Write] for what is tried again and what the errors mean.
func (r *Run) Write(ctx context.Context, items ...types.TransactWriteItem) error {
	return r.lease.Write(ctx, items...)
}

// Renew renews the lease now, before a step that must not start on a short one.
// The heartbeat needs no help with anything else. The error is a
// [lockkit.EndedError] when the lease is lost; any other error leaves it to the
// heartbeat. See [lockkit.Lease.Renew].
func (r *Run) Renew(ctx context.Context) error { return r.lease.Renew(ctx) }
