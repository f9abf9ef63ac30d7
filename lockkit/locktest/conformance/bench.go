package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Codes of the errors that lockkit tells apart.
const (
	refusal  = "ConditionalCheckFailedException"
	invalid  = "ValidationException"
	canceled = "TransactionCanceledException"
	noTable  = "ResourceNotFoundException"
	mismatch = "IdempotentParameterMismatchException"

	pause = 100 * time.Millisecond // between two looks at what may take time
)

// check is one thing that lockkit needs of an endpoint.
type check struct {
	name string
	run  func(context.Context, *bench)
}

// on runs the check and returns all that it found.
func (c check) on(ctx context.Context, client *dynamodb.Client, table string) error {
	b := &bench{client: client, table: table, id: rand.Text()}
	c.run(ctx, b)
	return errors.Join(b.faults...)
}

// bench is what a check works with: a shared table in which all keys that begin
// with its id are its own.
type bench struct {
	client *dynamodb.Client
	table  string
	id     string
	faults []error
}

func (b *bench) errorf(format string, args ...any) {
	b.faults = append(b.faults, fmt.Errorf(format, args...))
}

// ok notes an error where none is expected, and reports whether there was none.
func (b *bench) ok(what string, err error) bool {
	if err != nil {
		b.errorf("%s: %w", what, err)
	}
	return err == nil
}

// code notes an error that has another code than the expected one.
func (b *bench) code(what string, err error, want string) {
	if err == nil {
		b.errorf("%s succeeds, want %s", what, want)
		return
	}
	if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != want {
		b.errorf("%s: want %s, got: %w", what, want, err)
	}
}

// same notes an item or value that differs.
func (b *bench) same(what string, got, want item) {
	if !reflect.DeepEqual(got, want) && (len(got) != 0 || len(want) != 0) {
		b.errorf("%s is %s, want %s", what, show(got), show(want))
	}
}

// item is an item, a key or a set of values.
type item = map[string]types.AttributeValue

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
func m(v item) types.AttributeValue   { return &types.AttributeValueMemberM{Value: v} }

func number(v int) types.AttributeValue { return n(strconv.Itoa(v)) }

// key is the key of one of the check's items.
func (b *bench) key(suffix string) item { return item{"pk": s(b.id + suffix), "sk": s("x")} }

// with returns an item of a key and attributes.
func with(key, attributes item) item {
	all := maps.Clone(key)
	maps.Copy(all, attributes)
	return all
}

// put stores an item without a condition.
func (b *bench) put(ctx context.Context, it item) {
	_, err := b.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &b.table, Item: it})
	b.ok("PutItem", err)
}

// get reads an item, strongly consistent; nil if there is none.
func (b *bench) get(ctx context.Context, key item) item {
	out, err := b.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &b.table, Key: key, ConsistentRead: aws.Bool(true)})
	if !b.ok("GetItem", err) {
		return nil
	}
	return out.Item
}

// holds notes an item that differs from what is stored.
func (b *bench) holds(ctx context.Context, what string, key, want item) {
	b.same(what, b.get(ctx, key), want)
}

// expression is an update with its condition; either may be empty.
type expression struct {
	update, condition string
	names             map[string]string
	values            item
}

// input makes the request; both images are asked for, as lockkit does.
func (b *bench) input(key item, e expression) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &b.table, Key: key, UpdateExpression: optional(e.update), ConditionExpression: optional(e.condition),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValues:                        types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// update sends an update.
func (b *bench) update(ctx context.Context, key item, e expression) error {
	_, err := b.client.UpdateItem(ctx, b.input(key, e))
	return err
}

// refusedItem returns the item that a refusal brought along.
func refusedItem(err error) item {
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return refused.Item
	}
	return nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// wait lets d pass and reports whether ctx did not end before.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// show writes an item for a message; fmt prints maps in the order of their keys.
func show(it item) string {
	if len(it) == 0 {
		return "nothing"
	}
	plain := map[string]any{}
	for name, v := range it {
		plain[name] = showValue(v)
	}
	return fmt.Sprint(plain)
}

func showValue(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberM:
		return show(v.Value)
	default:
		return fmt.Sprintf("%T", v)
	}
}
