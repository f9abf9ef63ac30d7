package conformance

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	index = "by-group" // of the table that the checks share

	checkBound = time.Minute
	tableBound = 2 * time.Minute
)

// Option changes what is expected of an endpoint, or how it is checked.
type Option func(*config)

type config struct {
	known  map[string]string
	bubble bool
}

// Known says that the endpoint is known to fail a check, by the check's name, and
// why. The check runs all the same, and one that passes is an error, so that the
// list cannot outlive its reasons; so is a name that no check has.
func Known(check, reason string) Option {
	return func(c *config) { c.known[check] = reason }
}

// OnVirtualTime runs each check in a synctest bubble of its own. It is for
// endpoints without sockets, such as locktest.DB through its Client.
func OnVirtualTime() Option {
	return func(c *config) { c.bubble = true }
}

// Run checks the endpoint and then lockkit on it. newClient returns a client of
// the endpoint; it is called once for each check and once for the table, and may
// return the same client each time.
func Run(t *testing.T, newClient func(testing.TB) *dynamodb.Client, opts ...Option) {
	t.Helper()
	run(t, newClient, append(endpointChecks(), lockChecks()...), opts)
}

// Endpoint is [Run] without lockkit: no check waits for time to pass.
func Endpoint(t *testing.T, newClient func(testing.TB) *dynamodb.Client, opts ...Option) {
	t.Helper()
	run(t, newClient, endpointChecks(), opts)
}

// Locks is [Run] with lockkit alone. It takes a few seconds.
func Locks(t *testing.T, newClient func(testing.TB) *dynamodb.Client, opts ...Option) {
	t.Helper()
	run(t, newClient, lockChecks(), opts)
}

func run(t *testing.T, newClient func(testing.TB) *dynamodb.Client, checks []check, opts []Option) {
	t.Helper()
	c := config{known: map[string]string{}}
	for _, o := range opts {
		o(&c)
	}
	for _, name := range c.unknown(checks) {
		t.Errorf("no check is named %q", name)
	}
	table := newTable(t, newClient(t))
	for _, check := range checks {
		one := func(t *testing.T) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), checkBound)
			defer cancel()
			judge(t, check.on(ctx, newClient(t), table), c.known[check.name])
		}
		t.Run(check.name, func(t *testing.T) {
			if c.bubble {
				synctest.Test(t, one)
				return
			}
			one(t)
		})
	}
}

// unknown returns the names of [Known] that no check has.
func (c config) unknown(checks []check) []string {
	names := maps.Clone(c.known)
	for _, check := range checks {
		delete(names, check.name)
	}
	return slices.Sorted(maps.Keys(names))
}

// judge compares what a check found with what is known of the endpoint.
func judge(tb testing.TB, found error, known string) {
	tb.Helper()
	switch {
	case known == "" && found != nil:
		tb.Error(found)
	case known != "" && found == nil:
		tb.Errorf("the endpoint passes, and was known to fail: %s", known)
	case known != "":
		tb.Logf("known: %s: %v", known, found)
	}
}

// newTable makes the table that the checks share and deletes it afterwards.
func newTable(t *testing.T, client *dynamodb.Client) string {
	t.Helper()
	name := "solotick-conformance-" + rand.Text()
	if err := createTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), checkBound)
		defer cancel()
		if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Errorf("delete table %s: %v", name, err)
		}
	})
	return name
}

func createTable(ctx context.Context, client *dynamodb.Client, name string) error {
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	keys := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: keys("pk", "sk"),
		AttributeDefinitions: []types.AttributeDefinition{
			attribute("pk", types.ScalarAttributeTypeS), attribute("sk", types.ScalarAttributeTypeS),
			attribute("grp", types.ScalarAttributeTypeS), attribute("pos", types.ScalarAttributeTypeN),
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: new(index), KeySchema: keys("grp", "pos"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = pause, 10*pause })
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, tableBound); err != nil {
		return fmt.Errorf("create table %s: wait until it is active: %w", name, err)
	}
	return nil
}
