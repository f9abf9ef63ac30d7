package locktest_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit/locktest"
)

// send makes a raw request and returns status, error code and message.
func send(tb testing.TB, db *locktest.DB, method, target, body string) (status int, code, message string) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), method, "http://any.where/", strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if target != "" {
		req.Header.Set("X-Amz-Target", target)
	}
	res, err := db.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	h := res.Header
	if got, want := h.Get("X-Amz-Crc32"), fmt.Sprint(crc32.ChecksumIEEE(answer)); got != want {
		tb.Errorf("checksum %s, want %s", got, want)
	}
	if h.Get("Content-Type") != "application/x-amz-json-1.0" || h.Get("x-amzn-RequestId") == "" || res.ContentLength != int64(len(answer)) {
		tb.Errorf("headers %v", h)
	}
	var e struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(answer, &e); err != nil {
		tb.Fatalf("not JSON: %s", answer)
	}
	return res.StatusCode, e.Type, e.Message
}

func TestGarbage(t *testing.T) {
	const (
		v             = "DynamoDB_20120810."
		serialization = "com.amazon.coral.validate#SerializationException"
		unknown       = "com.amazon.coral.validate#UnknownOperationException"
		invalid       = "com.amazon.coral.validate#ValidationException"
	)
	tests := []struct {
		name, method, target, body string
		code                       string
	}{
		{"no target", "POST", "", "{}", unknown},
		{"another service", "POST", "DynamoDBStreams_20120810.ListStreams", "{}", unknown},
		{"unknown operation", "POST", v + "ExecuteStatement", "{}", unknown},
		{"not a post", "GET", v + "ListTables", "{}", unknown},
		{"no body", "POST", v + "ListTables", "", serialization},
		{"not JSON", "POST", v + "ListTables", "{", serialization},
		{"a list", "POST", v + "ListTables", "[]", serialization},
		{"null", "POST", v + "ListTables", "null", serialization},
		{"more than JSON", "POST", v + "ListTables", "{}{}", serialization},
		{"number for string", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":{"S":1}}}`, serialization},
		{"number for number text", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":{"N":1}}}`, serialization},
		{"string for object", "POST", v + "PutItem", `{"TableName":"things","Item":"x"}`, serialization},
		{"string for value", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":"x"}}`, serialization},
		{"no base64", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":{"B":"?"}}}`, serialization},
		{"null value", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":null}}`, invalid},
		{"empty value", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":{}}}`, invalid},
		{"two types", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":{"S":"x","N":"1"}}}`, invalid},
		{"null in list", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":{"S":"x"},"l":{"L":[null]}}}`, invalid},
		{"no table", "POST", v + "PutItem", `{"Item":{}}`, invalid},
		{"no item", "POST", v + "PutItem", `{"TableName":"things"}`, invalid},
		{"no key", "POST", v + "GetItem", `{"TableName":"things"}`, invalid},
		{"no actions", "POST", v + "TransactWriteItems", `{}`, invalid},
		{"null action", "POST", v + "TransactWriteItems", `{"TransactItems":[null]}`, invalid},
		{"null get", "POST", v + "TransactGetItems", `{"TransactItems":[null]}`, invalid},
		{"null keys", "POST", v + "BatchGetItem", `{"RequestItems":{"things":null}}`, invalid},
		{"null writes", "POST", v + "BatchWriteItem", `{"RequestItems":{"things":[null]}}`, invalid},
		{"no schema", "POST", v + "CreateTable", `{"TableName":"another"}`, invalid},
		{"bad word", "POST", v + "UpdateItem", `{"TableName":"things","Key":{"pk":{"S":"x"}},"ReturnValues":"none"}`, invalid},
		{"nested too deep for JSON", "POST", v + "PutItem", `{"TableName":"things","Item":{"pk":` + strings.Repeat(`{"L":[`, 100_000), serialization},
	}
	db, _ := newTable(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, code, message := send(t, db, test.method, test.target, test.body)
			if status != http.StatusBadRequest || code != test.code {
				t.Errorf("got %d %s: %s, want 400 %s", status, code, message, test.code)
			}
		})
	}
}

func TestBodyBound(t *testing.T) {
	db, _ := newTable(t)
	status, _, _ := send(t, db, "POST", "DynamoDB_20120810.PutItem", strings.Repeat(" ", 16<<20+1))
	if status != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", status)
	}
}

// newServer serves a DB over a real socket.
func newServer(t *testing.T) (*locktest.DB, *dynamodb.Client) {
	t.Helper()
	db := locktest.New()
	server := httptest.NewServer(db)
	t.Cleanup(server.Close)
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1, HTTPClient: server.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	if err := locktest.CreateTable(t.Context(), client, table, "pk", ""); err != nil {
		t.Fatal(err)
	}
	return db, client
}

func TestServeHTTP(t *testing.T) {
	db, client := newServer(t)
	if err := put(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	if db.Item(table, faultKey) == nil {
		t.Error("not applied")
	}
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: faultKey, ConditionExpression: text("attribute_not_exists(pk)")})
	wantError(t, err, "ConditionalCheckFailedException", "The conditional request failed")
}

func TestServeHTTPLosesTheConnection(t *testing.T) {
	db, client := newServer(t)
	db.Inject(locktest.Fault{Kind: locktest.FaultDropAnswer, Operation: "PutItem", Wait: time.Millisecond})
	if err := put(t.Context(), client); err == nil {
		t.Error("an answer came")
	}
	if db.Item(table, faultKey) == nil {
		t.Error("not applied")
	}
	if err := put(t.Context(), client); err != nil {
		t.Errorf("the request after: %v", err)
	}
}
