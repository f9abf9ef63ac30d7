package scenario

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/functions/orders"
)

// The writes of the first sender wait, the repeated one too; another's pass.
func TestAHoldKeepsOneSendersWritesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{}
		h := e.holdWrite("a")
		passed := make(chan string, 9)
		send := func(caller, order string) {
			go func() {
				if answered := e.pass(call{Caller: caller, Order: order}); answered != nil {
					answered()
				}
				passed <- caller + order
			}()
			synctest.Wait()
		}
		send("first", "b")
		send("first", "a")
		send("first", "a")
		send("other", "a")
		send("first", "")
		if n := len(passed); n != 3 {
			t.Errorf("%d passed, expected 3", n)
		}
		if err := until(t.Context(), h.arrived, "the write"); err != nil {
			t.Error(err)
		}
		begin := time.Now()
		if err := until(t.Context(), h.answered, "an answer"); err == nil || err.Error() != "waited 30s for an answer" || time.Since(begin) != patience {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		h.release()
		h.release()
		if err := until(t.Context(), h.answered, "an answer"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		send("first", "a")
		if n := len(passed); n != 6 {
			t.Errorf("%d passed, expected all 6", n)
		}
	})
}

// A write that is held reaches the table when it is released, although its sender
// has given up, and not before.
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
	h := e.holdWrite("order-8b")
	if err := write(t.Context(), "solotick-a", "order-8a"); err != nil {
		t.Fatal(err)
	}
	ctx, giveUp := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() { sent <- write(ctx, "solotick-a", "order-8b") }()
	if err := until(t.Context(), h.arrived, "the write"); err != nil {
		t.Fatal(err)
	}
	giveUp()
	if err := <-sent; err == nil {
		t.Error("the sender was answered")
	}
	if err := write(t.Context(), "solotick-b", "order-8b"); err != nil {
		t.Errorf("another's write is held too: %v", err)
	}
	before := len(e.calls())
	h.release()
	if err := until(t.Context(), h.answered, "an answer"); err != nil {
		t.Fatal(err)
	}
	if calls := e.calls(); len(calls) != before+1 || calls[before].Order != "order-8b" || calls[before].Caller != "solotick-a" || calls[before].Refused != "" {
		t.Errorf("%+v", calls[before:])
	}
	if err := e.close(t.Context()); err != nil {
		t.Error(err)
	}
}
