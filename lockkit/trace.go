package lockkit

import (
	"context"
	"log/slog"
)

// Operation is what a [Tracer] is told about.
type Operation string

// The operations of a lock.
const (
	OpTryAcquire Operation = "TryAcquire"
	OpAcquire    Operation = "Acquire" // with all its looks
	OpRenew      Operation = "Renew"   // by the heartbeat or by a caller
	OpRelease    Operation = "Release"
)

// TraceStart describes an operation that begins.
type TraceStart struct {
	Operation Operation
	Lock      string
	Table     string
	// Acquired is set for a renewal of the heartbeat: the context that the tracer
	// returned for the acquire. Such a renewal is no part of the call that
	// acquired the lock, which may have ended long ago; link to it instead.
	Acquired context.Context
}

// TraceEnd describes an operation that has ended.
type TraceEnd struct {
	Operation Operation
	Lock      string
	Table     string
	Err       error
	// Benign says that Err is an outcome and no failure: the lock is held, the
	// extension refused, the caller's ctx ended, or a release cut a renewal off.
	Benign bool
	Lease  *Lease // of an acquire that succeeded
}

// Loss describes a lease that ended before it was released.
type Loss struct {
	Lock   string
	Table  string
	Reason Reason
}

// ContentionRetry describes an election that contends again after an acquire
// failed with an error that may pass.
type ContentionRetry struct {
	Lock  string
	Table string
	Err   error
}

// Tracer watches a [LockTable], for spans and metrics. Every start has one end.
// Requests to DynamoDB are sent under the context that TraceStart returned, so
// their spans are its children. The methods are called from the goroutine that
// does the work, must not block, and must be safe for concurrent use. Embed
// [NoTracer] so that a later version of this interface does not break yours.
type Tracer interface {
	TraceStart(ctx context.Context, start TraceStart) context.Context
	TraceEnd(ctx context.Context, end TraceEnd)
	TraceLoss(ctx context.Context, loss Loss)
	TraceContentionRetry(ctx context.Context, retry ContentionRetry)
}

// NoTracer watches nothing. Embed it in a tracer and write only what matters.
type NoTracer struct{}

var _ Tracer = NoTracer{}

// TraceStart returns ctx.
func (NoTracer) TraceStart(ctx context.Context, _ TraceStart) context.Context { return ctx }

// TraceEnd does nothing.
func (NoTracer) TraceEnd(context.Context, TraceEnd) {}

// TraceLoss does nothing.
func (NoTracer) TraceLoss(context.Context, Loss) {}

// TraceContentionRetry does nothing.
func (NoTracer) TraceContentionRetry(context.Context, ContentionRetry) {}

// WithTracer has tracer watch the operations of the LockTable. See package
// lockotel for OpenTelemetry.
func WithTracer(tracer Tracer) Option { return func(c *config) { c.tracer = tracer } }

// WithLogger logs what no caller sees, with the lock's name, the table, and
// event_id and event for filters. Without it nothing is logged.
//
//	40 lease_lost              warning      a lease was lost, with the reason
//	41 lock_taken_over         information  from a holder that stopped renewing
//	42 renewal_failed          warning      a heartbeat failed and is tried again
//	43 release_failed          warning      the lock is free once its lease is over
//	44 contend_failed          warning      an election goes on after a passing error; once per outage
//	45 leading                 information  this process leads
//	46 not_leading             information  it leads no longer, with the reason
//	47 work_error_after_loss   debug        the work failed after its lease was lost
//	48 work_error_after_cancel debug        the work failed after the caller cancelled
//	49 contend_recovered       information  the outage of 44 is over
func WithLogger(logger *slog.Logger) Option { return func(c *config) { c.logger = logger } }

// event is one line of the log; the numbers are those of clients in other
// languages, so that one filter finds both.
type event struct {
	id      int
	name    string
	level   slog.Level
	message string
}

var (
	eventLeaseLost            = event{40, "lease_lost", slog.LevelWarn, "lease lost"}
	eventLockTakenOver        = event{41, "lock_taken_over", slog.LevelInfo, "lock taken over from a holder that stopped renewing it"}
	eventRenewalFailed        = event{42, "renewal_failed", slog.LevelWarn, "renewal failed; it is tried again until the lease is over"}
	eventReleaseFailed        = event{43, "release_failed", slog.LevelWarn, "release failed; the lock is free once its lease is over"}
	eventContendFailed        = event{44, "contend_failed", slog.LevelWarn, "acquire failed with an error that may pass; the election contends again"}
	eventLeading              = event{45, "leading", slog.LevelInfo, "this process leads"}
	eventNotLeading           = event{46, "not_leading", slog.LevelInfo, "this process no longer leads"}
	eventWorkErrorAfterLoss   = event{47, "work_error_after_loss", slog.LevelDebug, "the work failed after its lease was lost"}
	eventWorkErrorAfterCancel = event{48, "work_error_after_cancel", slog.LevelDebug, "the work failed after the caller cancelled"}
	eventContendRecovered     = event{49, "contend_recovered", slog.LevelInfo, "contending works again"}
)

func (t *LockTable) log(ctx context.Context, e event, lock string, attrs ...slog.Attr) {
	if t.cfg.logger == nil || !t.cfg.logger.Enabled(ctx, e.level) {
		return
	}
	all := make([]slog.Attr, 0, 4+len(attrs))
	all = append(all, slog.Int("event_id", e.id), slog.String("event", e.name), slog.String("lock", lock), slog.String("table", t.table))
	t.cfg.logger.LogAttrs(ctx, e.level, e.message, append(all, attrs...)...) //nolint:sloglint // the messages are the constants above
}

func (t *LockTable) traceStart(ctx context.Context, s TraceStart) context.Context {
	if t.cfg.tracer == nil {
		return ctx
	}
	s.Table = t.table
	return t.cfg.tracer.TraceStart(ctx, s)
}

func (t *LockTable) traceEnd(ctx context.Context, e TraceEnd) {
	if t.cfg.tracer == nil {
		return
	}
	e.Table = t.table
	t.cfg.tracer.TraceEnd(ctx, e)
}
