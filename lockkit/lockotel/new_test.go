package lockotel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/aws/smithy-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/lockotel"
)

type globals struct {
	tracer lockkit.Tracer
	err    error
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
}

// global is a tracer made before the global providers were set. They pass on
// what was made before them only when they are set for the first time, so that
// runs of the test share it.
var global = sync.OnceValue(func() (g globals) {
	g.tracer, g.err = lockotel.New(lockotel.WithTracerProvider(nil), lockotel.WithMeterProvider(nil))
	g.spans = tracetest.NewInMemoryExporter()
	g.reader = sdkmetric.NewManualReader(sdkmetric.WithTemporalitySelector(sdkmetric.DeltaTemporalitySelector))
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(g.spans)))
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(g.reader)))
	return g
})

// Without options, and with nil ones, the global providers are told, also when
// they are set after New.
func TestGlobalProviders(t *testing.T) {
	g := global()
	if g.err != nil {
		t.Fatal(g.err)
	}
	g.spans.Reset()
	ctx := g.tracer.TraceStart(t.Context(), lockkit.TraceStart{Operation: lockkit.OpRenew, Lock: name, Table: table})
	g.tracer.TraceEnd(ctx, lockkit.TraceEnd{Operation: lockkit.OpRenew, Lock: name, Table: table})
	w := &world{t: t, spans: g.spans, reader: g.reader}
	w.wantSpans("Lock.Renew db.collection.name=shop name=order-sweeper")
	w.wantMetrics("solotick.lock.renewals {renewal} db.collection.name=shop 1")
}

// stubborn makes no counters.
type stubborn struct{ noop.MeterProvider }

func (stubborn) Meter(string, ...metric.MeterOption) metric.Meter { return refusing{} }

type refusing struct{ noop.Meter }

func (refusing) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, io.ErrUnexpectedEOF
}

func TestNoCounters(t *testing.T) {
	if _, err := lockotel.New(lockotel.WithMeterProvider(stubborn{})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

type ownError struct{}

func (ownError) Error() string { return "own" }

func TestErrorType(t *testing.T) {
	for want, err := range map[string]error{
		"deleted":                    fmt.Errorf("renew: %w", &lockkit.EndedError{Reason: lockkit.ReasonDeleted, Err: io.EOF}),
		"not_a_lock":                 &lockkit.NotALockError{},
		"held":                       fmt.Errorf("acquire: %w", &lockkit.HeldError{}),
		"ThrottlingException":        fmt.Errorf("send: %w", &smithy.GenericAPIError{Code: "ThrottlingException"}),
		"canceled":                   &smithy.CanceledError{Err: io.EOF},
		"timeout":                    fmt.Errorf("send: %w", context.DeadlineExceeded),
		"lockotel_test.ownError":     errors.Join(fmt.Errorf("a: %w, b: %w", fmt.Errorf("c: %w", ownError{}), io.EOF)),
		"_OTHER":                     fmt.Errorf("x: %w", io.EOF),
		"*smithy.OperationError":     &smithy.OperationError{Err: errors.New("x")},
		"*smithy.SerializationError": &smithy.OperationError{Err: &smithy.SerializationError{Err: errors.New("x")}},
	} {
		spans := tracetest.NewInMemoryExporter()
		tracer, failed := lockotel.New(lockotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))))
		if failed != nil {
			t.Fatal(failed)
		}
		end := lockkit.TraceEnd{Operation: lockkit.OpRelease, Err: err}
		tracer.TraceEnd(tracer.TraceStart(t.Context(), lockkit.TraceStart{Operation: lockkit.OpRelease}), end)
		if got := spans.GetSpans()[0].Status.Description; got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}
