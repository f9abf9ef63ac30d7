package conformance_test

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/locktest/conformance"
)

// The in-memory DynamoDB without sockets, where the leases' time is virtual.
func TestInMemory(t *testing.T) {
	db := locktest.New()
	conformance.Run(t, func(testing.TB) *dynamodb.Client { return db.Client() }, conformance.OnVirtualTime())
}

// The same over a real socket.
func TestOverASocket(t *testing.T) {
	server := httptest.NewServer(locktest.New())
	t.Cleanup(server.Close)
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	conformance.Endpoint(t, func(testing.TB) *dynamodb.Client { return client })
}
