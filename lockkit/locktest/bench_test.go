package locktest_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit/locktest"
)

// renewal is an update as a lock sends it.
func renewal() *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: text(table), Key: pk("lock"),
		UpdateExpression:          text("SET #owner = :owner, rvn = :rvn, fence = if_not_exists(fence, :base) + :one"),
		ConditionExpression:       text("attribute_not_exists(pk) OR attribute_not_exists(#owner) OR #owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: attrs{":owner": str("me"), ":rvn": str("version"), ":base": num("1900000000000"), ":one": num("1")},
		ReturnValues:              "ALL_OLD",
	}
}

// BenchmarkUpdate is the whole way of an update, most of which is the SDK.
func BenchmarkUpdate(b *testing.B) {
	_, client := newTable(b)
	in := renewal()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.UpdateItem(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// recorder keeps the body of the last request.
type recorder struct {
	db   *locktest.DB
	body []byte
}

func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.body = body
	req.Body = io.NopCloser(bytes.NewReader(body))
	return r.db.Do(req)
}

// BenchmarkServe is the part of an update that this package does.
func BenchmarkServe(b *testing.B) {
	db, _ := newTable(b)
	rec := &recorder{db: db}
	if _, err := db.Client(func(o *dynamodb.Options) { o.HTTPClient = rec }).UpdateItem(b.Context(), renewal()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/", bytes.NewReader(rec.body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810.UpdateItem")
		if _, err := db.Do(req); err != nil {
			b.Fatal(err)
		}
	}
}
