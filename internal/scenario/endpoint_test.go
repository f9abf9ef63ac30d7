package scenario

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestTheEndpointCountsRequestsByTheirSender(t *testing.T) {
	for name, there := range map[string]bool{"in memory": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			var other *upstream
			if there {
				server := httptest.NewServer(locktest.New())
				defer server.Close()
				var err error
				if other, err = findUpstream(t.Context(), server.URL, "locks", nil); err != nil {
					t.Fatal(err)
				}
			}
			told := 0
			e, err := listen(t.Context(), "127.0.0.1:0", other, "locks", func(call) { told++ })
			if err != nil {
				t.Fatal(err)
			}
			client := func(app string) *dynamodb.Client {
				return dynamodb.New(dynamodb.Options{
					Region: region, BaseEndpoint: aws.String(e.url), AppID: app,
					Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
				})
			}
			if err := locktest.CreateTable(t.Context(), client(runner), "locks", "pk", ""); err != nil {
				t.Fatal(err)
			}
			if err := locktest.CreateTable(t.Context(), client(runner), "orders", "orderId", ""); err != nil {
				t.Fatal(err)
			}
			sender := client(callerOf("2026/12/01/[$LATEST]0123456789abcdef"))
			never := aws.String("attribute_exists(pk)")
			lock, order := map[string]types.AttributeValue{"pk": orders.Text("x")}, orders.Key("order-1")
			_, _ = sender.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("locks"), Key: lock})
			_, _ = sender.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("locks"), Key: lock, ConditionExpression: never})
			_, _ = sender.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{ConditionCheck: &types.ConditionCheck{TableName: aws.String("locks"), Key: lock, ConditionExpression: never}},
				{Update: &types.Update{TableName: aws.String("orders"), Key: order, UpdateExpression: aws.String("REMOVE nothing")}},
			}})
			_, _ = sender.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Update: &types.Update{TableName: aws.String("locks"), Key: lock, UpdateExpression: aws.String("REMOVE nothing")}},
				{Put: &types.Put{TableName: aws.String("orders"), Item: order}},
			}})
			if err := e.close(t.Context()); err != nil {
				t.Fatal(err)
			}
			calls := e.calls()
			for i := range calls {
				if calls[i].At.IsZero() || calls[i].Caller != "solotick-0123456789abcdef" {
					t.Errorf("%+v", calls[i])
				}
				calls[i].At, calls[i].Caller = calls[0].At, ""
			}
			want := []call{
				{Operation: "GetItem", OnLock: true},
				{Operation: "UpdateItem", OnLock: true, Refused: "ConditionalCheckFailedException"},
				{Operation: "TransactWriteItems", Order: "order-1", Refused: "TransactionCanceledException", Stale: true},
				{Operation: "TransactWriteItems", OnLock: true}, // a commit
			}
			if len(calls) != len(want) {
				t.Fatalf("%d calls, expected %d: %+v", len(calls), len(want), calls)
			}
			for i, c := range want {
				c.At = calls[0].At
				if calls[i] != c {
					t.Errorf("call %d: %+v, expected %+v", i, calls[i], c)
				}
			}
			if told < len(want) {
				t.Errorf("the observer was told of %d calls", told)
			}
		})
	}
}

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:8000": true, "[::1]:0": true, "127.1.2.3:5": true,
		"0.0.0.0:0": false, ":8000": false, "[::]:0": false, "192.168.1.1:0": false, "example.com:80": false, "8000": false, "": false,
	} {
		err := loopback(address)
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && (!strings.Contains(err.Error(), `"`+address+`"`) || !strings.Contains(err.Error(), "such as 127.0.0.1:0")) {
			t.Errorf("%q: the error names neither value nor way out: %v", address, err)
		}
	}
}
