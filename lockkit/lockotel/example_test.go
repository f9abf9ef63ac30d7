package lockotel_test

import (
	"context"
	"fmt"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/lockotel"
	"github.com/solotick/solotick/lockkit/locktest"
)

// A service passes no options once it has set OpenTelemetry's global providers.
func ExampleNew() {
	ctx := context.Background()
	client := locktest.New().Client()
	if err := locktest.CreateTable(ctx, client, "shop", "pk", "sk"); err != nil {
		panic(err)
	}
	exporter := tracetest.NewInMemoryExporter()
	tracer, err := lockotel.New(lockotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))))
	if err != nil {
		panic(err)
	}
	locks, err := lockkit.New(client, "shop", lockkit.WithTracer(tracer))
	if err != nil {
		panic(err)
	}
	lease, err := locks.Acquire(ctx, "order-sweeper", 30*time.Second)
	if err != nil {
		panic(err)
	}
	_ = lease.Release(ctx)
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name, span.Attributes[0].Value.AsString())
	}
	// Output:
	// Lock.Acquire order-sweeper
	// Lock.Release order-sweeper
}
