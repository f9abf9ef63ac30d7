package lockotel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestSpansOfALease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process(w.client))
		time.Sleep(lease/3 + time.Second)
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		common := "db.collection.name=shop name=order-sweeper"
		w.wantSpans(
			fmt.Sprintf("Lock.Acquire acquired=true db.collection.name=shop fencing_token=%d name=order-sweeper takeover=false", l.Token()),
			"Lock.Renew "+common, "Lock.Renew "+common, "Lock.Release "+common,
		)
		w.wantMetrics(
			"solotick.lock.acquisitions {lease} db.collection.name=shop takeover=false 1",
			"solotick.lock.renewals {renewal} db.collection.name=shop 2",
		)
	})
}

func TestHeldIsNoFailure(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.occupy("7")
		locks := w.process(w.client)
		if _, err := locks.TryAcquire(t.Context(), name, lease); !errors.Is(err, lockkit.ErrHeld) {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := locks.Acquire(ctx, name, lease); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		w.wantSpans(
			"Lock.TryAcquire acquired=false db.collection.name=shop name=order-sweeper",
			"Lock.Acquire acquired=false db.collection.name=shop name=order-sweeper",
		)
		w.wantMetrics()
	})
}

func TestTakeoverAndLoss(t *testing.T) {
	inWorld(t, func(w *world) {
		w.occupy("7")
		l := w.acquire(w.process(w.client))
		w.occupy("9")
		<-l.Done()
		synctest.Wait() // for the renewal that found out
		w.wantSpans(
			"Lock.Acquire acquired=true db.collection.name=shop fencing_token=8 name=order-sweeper takeover=true",
			"Lock.Renew db.collection.name=shop error.type=taken_over name=order-sweeper Error:taken_over",
		)
		w.wantMetrics(
			"solotick.lock.acquisitions {lease} db.collection.name=shop takeover=true 1",
			"solotick.lock.losses {lease} db.collection.name=shop loss_reason=taken_over 1",
			"solotick.lock.renewals {renewal} db.collection.name=shop error.type=taken_over 1",
		)
	})
}

func TestFailures(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process(w.client)
		// An election goes through an outage: each acquire tries four times.
		remove := w.db.Inject(locktest.Fault{Kind: locktest.FaultThrottle, Count: 8})
		if err := locks.RunAsLeader(t.Context(), name, lease, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		remove()
		w.spans.Reset()
		// A lease cannot be renewed any more, nor released.
		l := w.acquire(locks)
		w.spans.Reset()
		w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1})
		if err := l.Renew(t.Context()); err == nil {
			t.Fatal("renewed")
		}
		if err := l.Release(t.Context()); err == nil {
			t.Fatal("released")
		}
		w.wantSpans(
			"Lock.Renew db.collection.name=shop error.type=AccessDeniedException name=order-sweeper Error:AccessDeniedException",
			"Lock.Release db.collection.name=shop error.type=AccessDeniedException name=order-sweeper Error:AccessDeniedException",
		)
		w.wantMetrics(
			"solotick.lock.acquisitions {lease} db.collection.name=shop takeover=false 2",
			"solotick.lock.contention_retries {retry} db.collection.name=shop error.type=ProvisionedThroughputExceededException 2",
			"solotick.lock.renewals {renewal} db.collection.name=shop error.type=AccessDeniedException 1",
		)
	})
}

// A renewal of the heartbeat does not join the trace of whoever acquired the
// lease; one that a caller asks for joins the caller's.
func TestTraces(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ctx, caller := w.traces.Tracer("test").Start(t.Context(), "caller")
		l, err := w.process(w.client).Acquire(ctx, name, lease)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(lease/3 + time.Second)
		_ = l.Renew(ctx)
		_ = l.Release(ctx)
		caller.End()
		spans := w.spans.GetSpans()
		acquire, beat := spans[0], spans[1]
		if beat.Parent.IsValid() || beat.SpanContext.TraceID() == acquire.SpanContext.TraceID() {
			t.Error("the heartbeat's renewal is not the root of a trace of its own")
		}
		if len(beat.Links) != 1 || !beat.Links[0].SpanContext.Equal(acquire.SpanContext) {
			t.Errorf("the heartbeat's renewal links to %v, want the acquire", beat.Links)
		}
		for _, i := range []int{0, 2, 3} {
			if spans[i].Parent.SpanID() != caller.SpanContext().SpanID() || len(spans[i].Links) != 0 {
				t.Errorf("%s is no child of the caller's span, or links elsewhere", spans[i].Name)
			}
		}
	})
}

// spied notes under which span each request is sent.
type spied struct {
	*dynamodb.Client
	under []string
}

func (c *spied) note(ctx context.Context, operation string) {
	span, ok := trace.SpanFromContext(ctx).(sdktrace.ReadOnlySpan)
	if !ok {
		c.under = append(c.under, operation+" without a span")
		return
	}
	c.under = append(c.under, operation+" under "+span.Name())
}

func (c *spied) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	c.note(ctx, "UpdateItem")
	return c.Client.UpdateItem(ctx, in, o...)
}

func (c *spied) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	c.note(ctx, "GetItem")
	return c.Client.GetItem(ctx, in, o...)
}

func TestRequestsAreSentUnderTheSpans(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		client := &spied{Client: w.client}
		locks := w.process(client)
		w.occupy("7")
		_, _ = locks.TryAcquire(t.Context(), name, lease)
		_, _ = locks.TryAcquire(t.Context(), name, lease)
		_ = w.db.Delete(table, w.key())
		l := w.acquire(w.process(client))
		time.Sleep(lease/3 + time.Second)
		synctest.Wait()
		_ = l.Release(t.Context())
		compare(t, "requests", client.under, []string{
			"UpdateItem under Lock.TryAcquire", "GetItem under Lock.TryAcquire",
			"UpdateItem under Lock.Acquire", "UpdateItem under Lock.Renew", "UpdateItem under Lock.Release",
		})
	})
}

// Whatever happens, no holder's label gets out, and no lock's name onto a metric.
func TestWhatStaysOut(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process(w.client, lockkit.WithHolderLabel(secret))
		w.occupy("7")
		_, _ = locks.TryAcquire(t.Context(), name, lease)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = locks.Acquire(short, name, lease)
		l := w.acquire(w.process(w.client, lockkit.WithHolderLabel(secret)))
		w.occupy("99")
		_ = l.Renew(t.Context())
		_ = l.Release(t.Context())
		w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException", Message: secret, Count: -1})
		_, _ = locks.TryAcquire(t.Context(), name, lease)
		spans := w.spans.GetSpans()
		if len(spans) < 5 {
			t.Fatalf("%d spans", len(spans))
		}
		for _, s := range spans {
			if text := fmt.Sprint(s.Name, s.Attributes, s.Status, s.Events); strings.Contains(text, secret) {
				t.Errorf("a span tells the holder's label: %s", text)
			}
		}
		metrics := w.metrics()
		if slices.ContainsFunc(metrics, func(m string) bool { return strings.Contains(m, secret) || strings.Contains(m, name) }) {
			t.Errorf("a metric tells too much: %q", metrics)
		}
	})
}
