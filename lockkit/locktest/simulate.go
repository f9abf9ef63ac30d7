package locktest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// The key of a lock, as lockkit makes it.
const (
	lockPrefix = "LOCK#"
	lockSort   = "LOCK"
)

// SimulateHolder makes another process hold the lock: acquired just now and never
// renewed, as by one that crashed, with the given lease and holder label ("" for
// none). It returns that process's fencing token, one above the last. Whoever held
// the lock is overwritten: a lease of this process is lost (taken_over) at its
// next renewal, and a contender takes over once it has seen this holder for a
// whole lease.
//
// Like [SimulateRelease] and [SimulateDelete] it works on any DynamoDB endpoint,
// asks it for the key names of the table, and writes without any condition: it
// is for tests, never for a table in production.
func SimulateHolder(ctx context.Context, client *dynamodb.Client, table, name string, lease time.Duration, label string) (token int64, err error) {
	owner, now := rand.Text(), time.Now().UnixMilli()
	w := newLockWrite()
	w.set(lockkit.AttrType, sdkString("LOCK"))
	w.set(lockkit.AttrOwner, sdkString(owner))
	w.set(lockkit.AttrVersion, sdkString(rand.Text()))
	w.set(lockkit.AttrLease, sdkNumber(lease.Milliseconds()))
	w.set(lockkit.AttrAt, &types.AttributeValueMemberM{Value: lockkit.Item{"owner": sdkString(owner), "ms": sdkNumber(now)}})
	w.assign(lockkit.AttrFence, "if_not_exists(#"+lockkit.AttrFence+", :base) + :one")
	w.values[":base"], w.values[":one"] = sdkNumber(now), sdkNumber(1)
	if label == "" {
		w.drop(lockkit.AttrHolder)
	} else {
		w.set(lockkit.AttrHolder, sdkString(label))
	}
	w.drop(lockkit.AttrUntil)
	w.drop(lockkit.AttrRun)
	attributes, err := w.send(ctx, client, table, name)
	if err != nil {
		return 0, fmt.Errorf("locktest: simulate a holder of %q in table %q: %w", name, table, err)
	}
	fence, ok := attributes[lockkit.AttrFence].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("locktest: simulate a holder of %q in table %q: the answer has no number %s", name, table, lockkit.AttrFence)
	}
	token, err = strconv.ParseInt(fence.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("locktest: simulate a holder of %q in table %q: %w", name, table, err)
	}
	return token, nil
}

// SimulateRelease makes the holder of the lock, whoever it is, release it: the
// next acquire finds the lock free and raises the token. A lease of this process
// is lost (taken_over). A lock without an item gets one that is free. Like
// [SimulateHolder] it is for tests only.
func SimulateRelease(ctx context.Context, client *dynamodb.Client, table, name string) error {
	w := newLockWrite()
	w.set(lockkit.AttrType, sdkString("LOCK"))
	w.assign(lockkit.AttrFence, "if_not_exists(#"+lockkit.AttrFence+", :base)")
	w.values[":base"] = sdkNumber(time.Now().UnixMilli())
	for _, attribute := range []string{lockkit.AttrOwner, lockkit.AttrLease, lockkit.AttrHolder, lockkit.AttrAt, lockkit.AttrUntil, lockkit.AttrRun} {
		w.drop(attribute)
	}
	if _, err := w.send(ctx, client, table, name); err != nil {
		return fmt.Errorf("locktest: simulate the release of %q in table %q: %w", name, table, err)
	}
	return nil
}

// SimulateDelete deletes the item of the lock, as its time to live or an operator
// would: a lease is lost (deleted) at its next renewal, and the next acquire
// makes a new item, with a token that goes on from the wall clock. A lock
// without an item is no error. Like [SimulateHolder] it is for tests only.
func SimulateDelete(ctx context.Context, client *dynamodb.Client, table, name string) error {
	key, err := lockKey(ctx, client, table, name)
	if err == nil {
		_, err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key})
	}
	if err != nil {
		return fmt.Errorf("locktest: simulate the deletion of %q in table %q: %w", name, table, err)
	}
	return nil
}

// lockKey makes the key of a lock, with the names that the table itself gives.
func lockKey(ctx context.Context, client *dynamodb.Client, table, name string) (lockkit.Item, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return nil, err
	}
	key := lockkit.Item{}
	for _, element := range out.Table.KeySchema {
		if element.KeyType == types.KeyTypeHash {
			key[*element.AttributeName] = sdkString(lockPrefix + name)
		} else {
			key[*element.AttributeName] = sdkString(lockSort)
		}
	}
	return key, nil
}

// lockWrite is one UpdateItem without a condition. Each attribute stands behind
// an alias made of its name, as some of the names are reserved words.
type lockWrite struct {
	sets, drops string
	names       map[string]string
	values      lockkit.Item
}

func newLockWrite() *lockWrite {
	return &lockWrite{names: map[string]string{}, values: lockkit.Item{}}
}

func (w *lockWrite) set(attribute string, v types.AttributeValue) {
	w.assign(attribute, ":"+attribute)
	w.values[":"+attribute] = v
}

func (w *lockWrite) assign(attribute, expression string) {
	w.names["#"+attribute] = attribute
	if w.sets != "" {
		w.sets += ", "
	}
	w.sets += "#" + attribute + " = " + expression
}

func (w *lockWrite) drop(attribute string) {
	w.names["#"+attribute] = attribute
	if w.drops != "" {
		w.drops += ", "
	}
	w.drops += "#" + attribute
}

// send writes and returns the item as it is now.
func (w *lockWrite) send(ctx context.Context, client *dynamodb.Client, table, name string) (lockkit.Item, error) {
	key, err := lockKey(ctx, client, table, name)
	if err != nil {
		return nil, err
	}
	update := "SET " + w.sets + " REMOVE " + w.drops
	out, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &table, Key: key, UpdateExpression: &update, ReturnValues: types.ReturnValueAllNew,
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

func sdkString(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func sdkNumber(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
