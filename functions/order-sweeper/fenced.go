package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit"
)

// fenced closes an order by a write of its run: the order changes only if it is
// still placed and the lease is still this run's at the moment the transaction
// commits.
type fenced struct{ table table }

// close also calls an order dealt with that changed while an answer was lost: had
// the lost write been carried out, it would have been answered with success when
// it was sent again.
func (f fenced) close(ctx context.Context, h holder, o order) error {
	c := newClosing(h.Token())
	c.values[":placed"] = orders.Text(orders.Placed)
	err := h.Write(ctx, types.TransactWriteItem{Update: &types.Update{
		TableName:                 aws.String(f.table.name),
		Key:                       orders.Key(o.id),
		UpdateExpression:          aws.String(c.expression),
		ConditionExpression:       aws.String("#status = :placed"),
		ExpressionAttributeNames:  c.names,
		ExpressionAttributeValues: c.values,
	}})
	if !errors.Is(err, lockkit.ErrLeaseLost) && lockkit.WhyCancelled(err, 0) == lockkit.CancelledByCondition {
		return fmt.Errorf("%w: %w", errNotPlaced, err)
	}
	return err
}
