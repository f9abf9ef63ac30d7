//go:build integration

package integration

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit/locktest/conformance"
)

// known are the checks that implementations are known to fail, and why that does
// not matter or what it costs. Set DYNAMODB_IMPLEMENTATION to the name of one to
// have its failures expected.
var known = map[string]map[string]string{
	"dynoxide": {
		"old image of a new item": "3.2.0 answers with the key, where the service has no image; lockkit reads the token only",
	},
	"ministack": {
		"broken expressions": "1.5.33 takes some of them and leaves out what it cannot read; lockkit sends none",
	},
}

// TestDynamoDB runs lockkit, and what it needs, against the endpoint.
func TestDynamoDB(t *testing.T) {
	client := plainClient(endpoint(t), nil)
	var opts []conformance.Option
	if name := os.Getenv("DYNAMODB_IMPLEMENTATION"); name != "" {
		failures, ok := known[name]
		if !ok {
			t.Fatalf("DYNAMODB_IMPLEMENTATION is %q: expected one of %q, or nothing", name, slices.Sorted(maps.Keys(known)))
		}
		for check, why := range failures {
			opts = append(opts, conformance.Known(check, why))
		}
	}
	conformance.Run(t, func(testing.TB) *dynamodb.Client { return client }, opts...)
}
