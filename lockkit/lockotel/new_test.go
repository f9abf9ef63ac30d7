package lockotel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Without options, and with nil ones, the global providers are told, also when
// they are set after New.
func TestGlobalProviders(t *testing.T) {
	tracer, err := lockotel.New(lockotel.WithTracerProvider(nil), lockotel.WithMeterProvider(nil))
	if err != nil {
		t.Fatal(err)
	}
	spans, reader := tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	ctx := tracer.TraceStart(t.Context(), lockkit.TraceStart{Operation: lockkit.OpRenew, Lock: name, Table: table})
	tracer.TraceEnd(ctx, lockkit.TraceEnd{Operation: lockkit.OpRenew, Lock: name, Table: table})
	w := &world{t: t, spans: spans, reader: reader}
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
