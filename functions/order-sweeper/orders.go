package main

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// An order's item: orderId (S, the key), status (S), placedAt (N, Unix ms), and
// once it is closed closedAt (N, Unix ms) and closedBy (N, the fencing token).
// history is a list that only grows, one {status, at, token} for each close: it
// is how a second close would show. The index byStatus has status as partition
// and placedAt as sort key.
const (
	indexByStatus = "byStatus"
	statusPlaced  = "placed"
	statusClosed  = "closed"
)

// orders is the table with the orders.
type orders struct {
	client *dynamodb.Client
	table  string
}

// order is what the job needs of one.
type order struct{ id string }

func (t orders) key(o order) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"orderId": text(o.id)}
}

// placedBefore reads the orders that have been placed since before a time,
// oldest first, page by page. The index is behind the table by a moment, so an
// order may have left the status when its turn comes.
func (t orders) placedBefore(ctx context.Context, before time.Time, pageSize int32) iter.Seq2[order, error] {
	return func(yield func(order, error) bool) {
		pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
			TableName:                aws.String(t.table),
			IndexName:                aws.String(indexByStatus),
			KeyConditionExpression:   aws.String("#status = :placed AND #placedAt < :before"),
			ProjectionExpression:     aws.String("#id"),
			ExpressionAttributeNames: map[string]string{"#status": "status", "#placedAt": "placedAt", "#id": "orderId"},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":placed": text(statusPlaced), ":before": number(before.UnixMilli()),
			},
			Limit: aws.Int32(pageSize),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(order{}, fmt.Errorf("read the placed orders of table %q (%s) by its index %s: %w", t.table, ordersTableVariable, indexByStatus, err))
				return
			}
			for _, item := range page.Items {
				id, ok := item["orderId"].(*types.AttributeValueMemberS)
				if !ok {
					yield(order{}, fmt.Errorf("table %q has an order whose orderId is %T, expected a string", t.table, item["orderId"]))
					return
				}
				if !yield(order{id: id.Value}, nil) {
					return
				}
			}
		}
	}
}

// closing is the update that closes an order. It has no condition: what makes
// it safe is its writer's to add.
type closing struct {
	expression string
	names      map[string]string
	values     map[string]types.AttributeValue
}

func newClosing(token int64, at time.Time) closing {
	when, by := number(at.UnixMilli()), number(token)
	entry := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"status": text(statusClosed), "at": when, "token": by}}
	return closing{
		expression: "SET #status = :closed, #closedAt = :at, #closedBy = :token, #history = list_append(if_not_exists(#history, :none), :entry)",
		names:      map[string]string{"#status": "status", "#closedAt": "closedAt", "#closedBy": "closedBy", "#history": "history"},
		values: map[string]types.AttributeValue{
			":closed": text(statusClosed), ":at": when, ":token": by,
			":none":  &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
			":entry": &types.AttributeValueMemberL{Value: []types.AttributeValue{entry}},
		},
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
