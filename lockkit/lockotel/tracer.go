package lockotel

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/solotick/solotick/lockkit"
)

// scope names this package as the origin of its spans and metrics.
const scope = "github.com/solotick/solotick/lockkit/lockotel"

// Attributes of spans and metrics.
const (
	keyTable      = attribute.Key("db.collection.name")
	keyErrorType  = attribute.Key("error.type")
	keyName       = attribute.Key("solotick.lock.name")          // spans only
	keyAcquired   = attribute.Key("solotick.lock.acquired")      // spans only
	keyToken      = attribute.Key("solotick.lock.fencing_token") // spans only
	keyTakeover   = attribute.Key("solotick.lock.takeover")
	keyLossReason = attribute.Key("solotick.lock.loss_reason")
)

// Option changes where a tracer reports to.
type Option func(*config)

type config struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
}

// WithTracerProvider sends spans to the provider instead of the global one. Nil
// leaves the global one.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) {
		if p != nil {
			c.tracers = p
		}
	}
}

// WithMeterProvider sends metrics to the provider instead of the global one. Nil
// leaves the global one.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) {
		if p != nil {
			c.meters = p
		}
	}
}

// tracer keeps no state of its own: what belongs to an operation is in its span.
type tracer struct {
	lockkit.NoTracer // so that a hook added later does not break this one
	spans            trace.Tracer

	acquisitions, renewals, losses, retries metric.Int64Counter
}

// New returns a tracer for [lockkit.WithTracer]. One may serve any number of
// lock tables at once; it starts no goroutine and needs no closing. It reports
// to the global providers, those set later too, unless options name others. The
// error is that of a meter provider that refuses to make a counter.
func New(opts ...Option) (lockkit.Tracer, error) {
	c := config{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, o := range opts {
		o(&c)
	}
	t := &tracer{spans: c.tracers.Tracer(scope)}
	meter := c.meters.Meter(scope)
	for _, counter := range []struct {
		at                *metric.Int64Counter
		name, unit, about string
	}{
		{&t.acquisitions, "acquisitions", "{lease}", "Leases acquired"},
		{&t.renewals, "renewals", "{renewal}", "Renewals of leases, failed ones too"},
		{&t.losses, "losses", "{lease}", "Leases lost before they were released"},
		{&t.retries, "contention_retries", "{retry}", "Elections that contend again after an acquire failed with an error that may pass"},
	} {
		made, err := meter.Int64Counter("solotick.lock."+counter.name, metric.WithUnit(counter.unit), metric.WithDescription(counter.about))
		if err != nil {
			return nil, fmt.Errorf("lockotel: counter solotick.lock.%s: %w", counter.name, err)
		}
		*counter.at = made
	}
	return t, nil
}

// TraceStart begins the span of an operation.
func (t *tracer) TraceStart(ctx context.Context, s lockkit.TraceStart) context.Context {
	opts := []trace.SpanStartOption{trace.WithAttributes(keyName.String(s.Lock), keyTable.String(s.Table))}
	if s.Acquired != nil {
		opts = append(opts, trace.WithNewRoot())
		if acquired := trace.SpanContextFromContext(s.Acquired); acquired.IsValid() {
			opts = append(opts, trace.WithLinks(trace.Link{SpanContext: acquired}))
		}
	}
	ctx, _ = t.spans.Start(ctx, "Lock."+string(s.Operation), opts...) //nolint:spancheck // TraceEnd ends it
	return ctx
}

// TraceEnd ends the span that TraceStart put into ctx and counts what happened.
func (t *tracer) TraceEnd(ctx context.Context, e lockkit.TraceEnd) {
	span := trace.SpanFromContext(ctx)
	defer span.End()
	attributes := []attribute.KeyValue{keyTable.String(e.Table)}
	failed := e.Err != nil && !e.Benign
	switch e.Operation {
	case lockkit.OpAcquire, lockkit.OpTryAcquire:
		span.SetAttributes(keyAcquired.Bool(e.Lease != nil))
		if e.Lease != nil {
			_, takeover := e.Lease.Takeover()
			span.SetAttributes(keyTakeover.Bool(takeover), keyToken.Int64(e.Lease.Token()))
			t.acquisitions.Add(ctx, 1, metric.WithAttributes(append(attributes, keyTakeover.Bool(takeover))...))
		}
	case lockkit.OpRenew:
		if e.Benign {
			break // a release cut it off: neither a renewal nor a failed one
		}
		if failed {
			attributes = append(attributes, keyErrorType.String(errorType(e.Err)))
		}
		t.renewals.Add(ctx, 1, metric.WithAttributes(attributes...))
	default: // a release, or what a later version of lockkit adds: its span says it all
	}
	if failed {
		kind := errorType(e.Err)
		span.SetAttributes(keyErrorType.String(kind))
		span.SetStatus(codes.Error, kind)
	}
}

// TraceLoss counts a lease that was lost.
func (t *tracer) TraceLoss(ctx context.Context, l lockkit.Loss) {
	t.losses.Add(ctx, 1, metric.WithAttributes(keyTable.String(l.Table), keyLossReason.String(string(l.Reason))))
}

// TraceContentionRetry counts an election that contends again.
func (t *tracer) TraceContentionRetry(ctx context.Context, r lockkit.ContentionRetry) {
	t.retries.Add(ctx, 1, metric.WithAttributes(keyTable.String(r.Table), keyErrorType.String(errorType(r.Err))))
}
