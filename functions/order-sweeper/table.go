package main

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
)

// table is the table with the orders.
type table struct {
	client *dynamodb.Client
	name   string
}

// order is what the job needs of one.
type order struct{ id string }

// placedBefore reads the orders that have been placed since before a time,
// oldest first, page by page. The index is behind the table by a moment, so an
// order may have left the status when its turn comes.
func (t table) placedBefore(ctx context.Context, before time.Time, pageSize int32) iter.Seq2[order, error] {
	return func(yield func(order, error) bool) {
		pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
			TableName:                aws.String(t.name),
			IndexName:                aws.String(orders.IndexByStatus),
			KeyConditionExpression:   aws.String("#status = :placed AND #placedAt < :before"),
			ProjectionExpression:     aws.String("#id"),
			ExpressionAttributeNames: map[string]string{"#status": orders.AttrStatus, "#placedAt": orders.AttrPlacedAt, "#id": orders.AttrID},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":placed": orders.Text(orders.Placed), ":before": orders.Number(before.UnixMilli()),
			},
			Limit: aws.Int32(pageSize),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(order{}, fmt.Errorf("read the placed orders of table %q (%s) by its index %s: %w", t.name, ordersTableVariable, orders.IndexByStatus, orders.Advised(err, ordersTableVariable)))
				return
			}
			for _, item := range page.Items {
				o, err := orders.Read(item)
				if !yield(order{id: o.ID}, err) {
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

func newClosing(token int64) closing {
	change := orders.Change{Status: orders.Closed, At: time.Now(), Token: token}
	return closing{
		expression: "SET #status = :closed, #closedAt = :at, #closedBy = :token, #history = list_append(if_not_exists(#history, :none), :change)",
		names: map[string]string{
			"#status": orders.AttrStatus, "#closedAt": orders.AttrClosedAt, "#closedBy": orders.AttrClosedBy, "#history": orders.AttrHistory,
		},
		values: map[string]types.AttributeValue{
			":closed": orders.Text(orders.Closed), ":at": orders.Number(change.At.UnixMilli()), ":token": orders.Number(token),
			":none":   &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
			":change": &types.AttributeValueMemberL{Value: []types.AttributeValue{change.Value()}},
		},
	}
}
