// Package lockotel reports the work of a [lockkit.LockTable] to OpenTelemetry,
// as spans and metrics. It needs the OpenTelemetry API only; without an SDK set
// up it does nothing.
//
//	tracer, err := lockotel.New()
//	locks, err := lockkit.New(client, "locks", lockkit.WithTracer(tracer))
//
// # Spans
//
//	Lock.TryAcquire  one try
//	Lock.Acquire     an acquire with all its looks
//	Lock.Renew       a renewal, by the heartbeat or by a caller
//	Lock.Release     a release
//
// Each carries solotick.lock.name and db.collection.name, the table. An acquire
// also carries solotick.lock.acquired and, with a lease,
// solotick.lock.takeover and solotick.lock.fencing_token. The requests to
// DynamoDB are sent under these spans, so an instrumented client's spans are
// their children. Renewals of the heartbeat go on for as long as the lease, long
// after the call that acquired it, so each is the root of a trace of its own,
// linked to the span of the acquire.
//
// A span has the status Error and error.type when the operation failed. A lock
// that is held, and a wait that its caller ended, are outcomes and not failures:
// solotick.lock.acquired is false and the status stays unset.
//
// # Metrics
//
//	solotick.lock.acquisitions        {lease}    leases acquired; solotick.lock.takeover
//	solotick.lock.renewals            {renewal}  renewals; error.type on those that failed
//	solotick.lock.losses              {lease}    leases lost; solotick.lock.loss_reason
//	solotick.lock.contention_retries  {retry}    elections that contend again after an error; error.type
//
// All are counters and carry db.collection.name. The name of a lock is on spans
// only, since on a metric it would be a time series per lock. The label of a
// holder is on neither, and so no error's text is: use the log for those.
//
// # Values of error.type
//
// The error code of DynamoDB, such as "AccessDeniedException"; the reason that
// ended a lease, such as "taken_over"; "not_a_lock", "held", "canceled" or
// "timeout"; otherwise the Go type of the innermost error that has one of its
// own, and "_OTHER" where none has.
package lockotel
