package lockotel_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/lockotel"
	"github.com/solotick/solotick/lockkit/locktest"
)

const (
	table = "shop"
	name  = "order-sweeper"
	lease = 30 * time.Second
)

// world is a table on virtual time, and what was told of its locks.
type world struct {
	t      *testing.T
	db     *locktest.DB
	client *dynamodb.Client
	traces *sdktrace.TracerProvider
	spans  *tracetest.InMemoryExporter
	reader *metric.ManualReader
	tracer lockkit.Tracer
}

func inWorld(t *testing.T, f func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, db: locktest.New(), spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
		w.client = w.db.Client()
		if err := locktest.CreateTable(t.Context(), w.client, table, "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		w.traces = sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.spans))
		tracer, err := lockotel.New(
			lockotel.WithTracerProvider(w.traces),
			lockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(w.reader))),
		)
		if err != nil {
			t.Fatal(err)
		}
		w.tracer = tracer
		f(w)
	})
}

func (w *world) process(client lockkit.Client, opts ...lockkit.Option) *lockkit.LockTable {
	w.t.Helper()
	locks, err := lockkit.New(client, table, append(opts, lockkit.WithTracer(w.tracer))...)
	if err != nil {
		w.t.Fatal(err)
	}
	return locks
}

func (w *world) acquire(locks *lockkit.LockTable) *lockkit.Lease {
	w.t.Helper()
	l, err := locks.Acquire(w.t.Context(), name, lease)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (*world) key() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "LOCK#" + name}, "sk": &types.AttributeValueMemberS{Value: "LOCK"},
	}
}

// occupy puts another process's lock on the table.
func (w *world) occupy(token string) {
	w.t.Helper()
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	n := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
	if err := w.db.Put(table, map[string]types.AttributeValue{
		"pk": s("LOCK#" + name), "sk": s("LOCK"), "_type": s("LOCK"), "owner": s("another"), "rvn": s("its-version"),
		"fence": n(token), "leaseMs": n("30000"), "holder": s(secret),
	}); err != nil {
		w.t.Fatal(err)
	}
}

// secret is a holder label, which must show up nowhere.
const secret = "pod-7d4f"

func (w *world) wantSpans(want ...string) {
	w.t.Helper()
	var got []string
	for _, s := range w.spans.GetSpans() {
		line := s.Name + " " + describe(s.Attributes)
		if s.Status.Description != "" {
			line += " " + s.Status.Code.String() + ":" + s.Status.Description
		}
		got = append(got, line)
	}
	compare(w.t, "spans", got, want)
}

// wantMetrics compares all counters, one line for each set of attributes.
func (w *world) wantMetrics(want ...string) {
	w.t.Helper()
	compare(w.t, "metrics", w.metrics(), want)
}

func (w *world) metrics() []string {
	w.t.Helper()
	var all metricdata.ResourceMetrics
	if err := w.reader.Collect(w.t.Context(), &all); err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok || !sum.IsMonotonic {
				w.t.Fatalf("%s is a %T, want a counter", m.Name, m.Data)
			}
			for _, p := range sum.DataPoints {
				lines = append(lines, fmt.Sprintf("%s %s %s %d", m.Name, m.Unit, describe(p.Attributes.ToSlice()), p.Value))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// describe writes attributes in the order of their names, without the prefix.
func describe(attributes []attribute.KeyValue) string {
	all := map[string]string{}
	for _, a := range attributes {
		all[strings.TrimPrefix(string(a.Key), "solotick.lock.")] = fmt.Sprint(a.Value.AsInterface())
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, k+"="+all[k])
	}
	return strings.Join(parts, " ")
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n\t%s\nwant:\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}
