package scenario

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/functions/orders"
)

// A write that is held reaches the table when it is released, although its sender
// has given up, and not before; the one before it goes by.
func TestAHeldWriteReachesTheTableWhenItIsReleased(t *testing.T) {
	e, err := listen(t.Context(), "127.0.0.1:0", nil, "locks", func(call) {})
	if err != nil {
		t.Fatal(err)
	}
	client := func(app string) *dynamodb.Client {
		return dynamodb.New(dynamodb.Options{
			Region: region, BaseEndpoint: aws.String(e.url), AppID: app, Retryer: aws.NopRetryer{},
			Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		})
	}
	if err := orders.CreateTable(t.Context(), client(runner), "orders"); err != nil {
		t.Fatal(err)
	}
	write := func(ctx context.Context, app, order string) error {
		_, err := client(app).UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("orders"), Key: orders.Key(order), UpdateExpression: aws.String("REMOVE nothing"),
		})
		return err
	}
	h := e.holdWrite("order-8", 2)
	for _, by := range []struct{ app, order string }{{"solotick-a", "order-1a"}, {runner, "order-8a"}, {"solotick-a", "order-8a"}} {
		if err := write(t.Context(), by.app, by.order); err != nil {
			t.Fatal(err)
		}
	}
	ctx, giveUp := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() { sent <- write(ctx, "solotick-a", "order-8b") }()
	if order, err := h.await(t.Context()); err != nil || order != "order-8b" {
		t.Fatalf("%q, %v", order, err)
	}
	giveUp()
	if err := <-sent; err == nil {
		t.Error("the sender was answered")
	}
	if err := write(t.Context(), "solotick-b", "order-8b"); err != nil {
		t.Errorf("a second write is held too: %v", err)
	}
	before := len(e.calls())
	if err := h.release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls := e.calls(); len(calls) != before+1 || calls[before].Order != "order-8b" || calls[before].Caller != "solotick-a" || calls[before].Refused != "" {
		t.Errorf("%+v", calls[before:])
	}

	// An endpoint that closes keeps nobody waiting.
	h = e.holdWrite("order-9", 1)
	go func() { sent <- write(t.Context(), "solotick-a", "order-9a") }()
	if _, err := h.await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.close(t.Context()); err != nil {
		t.Error(err)
	}
	<-sent
	ended, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := e.holdWrite("order-10", 1).await(ended); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
