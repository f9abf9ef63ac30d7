// Package orders describes the table with the orders that the jobs of this
// application work on, in one place: its attributes, its index, and how to make
// it for tests and for the local runner.
package orders

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes of an order.
const (
	AttrID       = "orderId"  // S, the table's only key
	AttrStatus   = "status"   // S
	AttrPlacedAt = "placedAt" // N, Unix ms
	AttrClosedAt = "closedAt" // N, Unix ms; absent until it is closed
	AttrClosedBy = "closedBy" // N, the fencing token of the run that closed it
	// AttrHistory is a list that only grows, a map of status (S), at (N, Unix ms)
	// and token (N) for each close. A second close shows there and nowhere else.
	AttrHistory = "history"
)

// IndexByStatus has the status as partition and placedAt as sort key.
const IndexByStatus = "byStatus"

// The statuses that a job knows.
const (
	Placed = "placed"
	Closed = "closed"
)

// Order is what an item says.
type Order struct {
	ID      string
	Status  string
	History []Change // in the order in which the changes reached the table
}

// Change is an entry of an order's history.
type Change struct {
	Status string
	At     time.Time
	Token  int64
}

// Value is the entry as it is stored.
func (c Change) Value() types.AttributeValue {
	return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		"status": Text(c.Status), "at": Number(c.At.UnixMilli()), "token": Number(c.Token),
	}}
}

// Key is the key of an order.
func Key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{AttrID: Text(id)}
}

// New is the item of an order that was placed at a time.
func New(id string, placedAt time.Time) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		AttrID: Text(id), AttrStatus: Text(Placed), AttrPlacedAt: Number(placedAt.UnixMilli()),
	}
}

// Read decodes an item. The error names the order and what is wrong with it.
func Read(item map[string]types.AttributeValue) (Order, error) {
	o := Order{ID: text(item[AttrID]), Status: text(item[AttrStatus])}
	history, there := item[AttrHistory]
	if !there {
		return o, nil
	}
	list, ok := history.(*types.AttributeValueMemberL)
	if !ok {
		return o, fmt.Errorf("order %q: %s is a %T, expected a list", o.ID, AttrHistory, history)
	}
	for i, entry := range list.Value {
		m, ok := entry.(*types.AttributeValueMemberM)
		if !ok {
			return o, fmt.Errorf("order %q: entry %d of %s is a %T, expected a map", o.ID, i, AttrHistory, entry)
		}
		at, err := number(m.Value["at"])
		if err != nil {
			return o, fmt.Errorf("order %q: at of entry %d of %s: %w", o.ID, i, AttrHistory, err)
		}
		token, err := number(m.Value["token"])
		if err != nil {
			return o, fmt.Errorf("order %q: token of entry %d of %s: %w", o.ID, i, AttrHistory, err)
		}
		o.History = append(o.History, Change{Status: text(m.Value["status"]), At: time.UnixMilli(at), Token: token})
	}
	return o, nil
}

// CreateTable makes the table with its index and waits until it is active, ctx
// ends, or a minute has passed.
func CreateTable(ctx context.Context, client *dynamodb.Client, table string) error {
	key := func(name string, role types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: role}
	}
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute(AttrID, types.ScalarAttributeTypeS),
			attribute(AttrStatus, types.ScalarAttributeTypeS),
			attribute(AttrPlacedAt, types.ScalarAttributeTypeN),
		},
		KeySchema: []types.KeySchemaElement{key(AttrID, types.KeyTypeHash)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String(IndexByStatus),
			KeySchema:  []types.KeySchemaElement{key(AttrStatus, types.KeyTypeHash), key(AttrPlacedAt, types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	})
	if err != nil {
		return fmt.Errorf("create table %q: %w", table, err)
	}
	wait := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second
	})
	if err := wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, time.Minute); err != nil {
		return fmt.Errorf("create table %q: it does not become active: %w", table, err)
	}
	return nil
}

// Text is a string as an attribute.
func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number is a whole number as an attribute.
func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func number(v types.AttributeValue) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("it is a %T, expected a number", v)
	}
	return strconv.ParseInt(n.Value, 10, 64)
}
