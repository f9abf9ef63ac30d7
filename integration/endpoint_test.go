//go:build integration

package integration

import (
	"context"
	"crypto/rand"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// lease is the shortest there is, as everything here takes real time.
const lease = lockkit.MinLease

// endpoint returns the address of the DynamoDB that the tests run against: the
// one of DYNAMODB_ENDPOINT, else the in-memory one behind a socket of its own.
func endpoint(t *testing.T) string {
	t.Helper()
	if given := os.Getenv("DYNAMODB_ENDPOINT"); given != "" {
		return given
	}
	server := httptest.NewServer(locktest.New())
	t.Cleanup(server.Close)
	return server.URL
}

// plainClient returns a client as a user makes one, with the SDK's own HTTP
// client and retries. The keys are made up, so that no real account is reached.
func plainClient(url string, transport *awshttp.BuildableClient) *dynamodb.Client {
	if transport == nil {
		transport = awshttp.NewBuildableClient()
	}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(url), HTTPClient: transport,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// newTable makes a table of locks on the endpoint and deletes it afterwards.
func newTable(t *testing.T, url string) string {
	t.Helper()
	client, table := plainClient(url, nil), "solotick-integration-"+rand.Text()
	if err := locktest.CreateTable(t.Context(), client, table, "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
			t.Errorf("delete table %s: %v", table, err)
		}
	})
	return table
}

// process returns a LockTable as a process of its own has it.
func process(t *testing.T, client lockkit.Client, table string, opts ...lockkit.Option) *lockkit.LockTable {
	t.Helper()
	locks, err := lockkit.New(client, table, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return locks
}

// state reads a lock past everything that is wrong with the wire of the test.
func state(t *testing.T, url, table, name string) lockkit.State {
	t.Helper()
	st, err := process(t, plainClient(url, nil), table).State(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// acquire takes a lock, and returns how many requests and how long that took.
func acquire(t *testing.T, locks *lockkit.LockTable, name string, lease time.Duration) (l *lockkit.Lease, requests int64, took time.Duration) {
	t.Helper()
	var n atomic.Int64
	start := time.Now()
	l, err := locks.Acquire(t.Context(), name, lease, lockkit.CountRequests(&n))
	took = time.Since(start)
	if err != nil {
		t.Fatalf("after %d requests and %s: %v", n.Load(), took, err)
	}
	return l, n.Load(), took
}

func release(t *testing.T, l *lockkit.Lease) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
