package singleton

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// Run is what a work is told about its run, and how it protects its writes. Its
// methods are safe for concurrent use. After the run has ended it keeps its
// token, so that a late write is refused where the token is checked.
type Run struct {
	// Tick is when the job was due, in UTC; zero for a manual run without a tick.
	Tick time.Time
	// Attempt is Scheduler's count of deliveries of this tick, from 1; 0 where
	// nobody counts. Above 1, an earlier delivery may have done part of the work.
	Attempt int
	// RequestID is the id of the Lambda invocation; "" outside Lambda.
	RequestID string

	lease *lockkit.Lease
}

// Token returns the run's fencing token: higher than that of every run before
// it. Send it with every write to a resource that can refuse a lower one.
func (r *Run) Token() int64 { return r.lease.Token() }

// ConditionCheck returns an action for TransactWriteItems that lets the
// transaction commit only while this run holds the job's lock. See
// [lockkit.Lease.ConditionCheck]. Code that is not handed the run gets the same
// from the work's ctx with [lockkit.ConditionCheckFromContext].
func (r *Run) ConditionCheck() types.TransactWriteItem { return r.lease.ConditionCheck() }

// Renew renews the lease now, before a step that must not start on a short one.
// The heartbeat needs no help with anything else. The error is a
// [lockkit.EndedError] when the lease is lost; any other error leaves it to the
// heartbeat. See [lockkit.Lease.Renew].
func (r *Run) Renew(ctx context.Context) error { return r.lease.Renew(ctx) }
