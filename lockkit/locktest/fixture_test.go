package locktest_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/solotick/solotick/lockkit/locktest"
)

// attrs is an item, a key or a set of expression values.
type attrs = map[string]types.AttributeValue

func str(s string) types.AttributeValue     { return &types.AttributeValueMemberS{Value: s} }
func num(n string) types.AttributeValue     { return &types.AttributeValueMemberN{Value: n} }
func bin(s string) types.AttributeValue     { return &types.AttributeValueMemberB{Value: []byte(s)} }
func truth(b bool) types.AttributeValue     { return &types.AttributeValueMemberBOOL{Value: b} }
func null() types.AttributeValue            { return &types.AttributeValueMemberNULL{Value: true} }
func doc(m attrs) types.AttributeValue      { return &types.AttributeValueMemberM{Value: m} }
func strs(s ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: s} }
func nums(n ...string) types.AttributeValue { return &types.AttributeValueMemberNS{Value: n} }

func list(l ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: append([]types.AttributeValue{}, l...)}
}

const table = "things"

// newTable returns a DB with a table that has the partition key pk.
func newTable(tb testing.TB) (*locktest.DB, *dynamodb.Client) {
	tb.Helper()
	db := locktest.New()
	client := db.Client(func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	if err := locktest.CreateTable(tb.Context(), client, table, "pk", ""); err != nil {
		tb.Fatal(err)
	}
	db.ResetRequests()
	return db, client
}

// newSorted returns a DB with a table that has the keys pk and sk.
func newSorted(tb testing.TB) (*locktest.DB, *dynamodb.Client) {
	tb.Helper()
	db := locktest.New()
	client := db.Client(func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	if err := locktest.CreateTable(tb.Context(), client, table, "pk", "sk"); err != nil {
		tb.Fatal(err)
	}
	db.ResetRequests()
	return db, client
}

func plant(tb testing.TB, db *locktest.DB, items ...attrs) {
	tb.Helper()
	for _, it := range items {
		if err := db.Put(table, it); err != nil {
			tb.Fatal(err)
		}
	}
}

// text returns a pointer for optional parameters; "" becomes nil.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return aws.String(s)
}

// codeAndMessage takes an API error apart; both are "" for nil.
func codeAndMessage(tb testing.TB, err error) (code, message string) {
	tb.Helper()
	if err == nil {
		return "", ""
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		tb.Fatalf("not an error of the API: %v", err)
	}
	return api.ErrorCode(), api.ErrorMessage()
}

// wantError fails the test unless err is an API error of the code with exactly
// the message; an empty message accepts any.
func wantError(tb testing.TB, err error, code, message string) {
	tb.Helper()
	gotCode, gotMessage := codeAndMessage(tb, err)
	if gotCode != code || message != "" && gotMessage != message {
		tb.Errorf("got  %s: %s\nwant %s: %s", gotCode, gotMessage, code, message)
	}
}

// show writes an item for a failure message.
func show(it attrs) string {
	if it == nil {
		return "nothing"
	}
	return showValue(doc(it))
}

func showValue(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		parts := make([]string, 0, len(v.Value))
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			parts = append(parts, name+": "+showValue(v.Value[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *types.AttributeValueMemberL:
		parts := make([]string, 0, len(v.Value))
		for _, e := range v.Value {
			parts = append(parts, showValue(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value)
	default:
		return fmt.Sprintf("%+v", v)
	}
}
