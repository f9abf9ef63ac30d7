package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit"
)

const (
	// settleTime is what a write under way may still take when the run's context
	// ends. Cutting it off would leave its outcome unknown, and the held check
	// decides about it at DynamoDB anyway. It must fit the job's reserve.
	settleTime = time.Second
	// conflictTries bounds how often a write is sent again that met another
	// transaction, such as a renewal of the run's own lease.
	conflictTries = 6
	conflictPause = 20 * time.Millisecond // doubled for each try
)

// fenced closes an order in one transaction with the held check: the order
// changes only if it is still placed and the lease is still this run's at the
// moment the transaction commits.
type fenced struct{ table table }

// errBusy says that the transaction was refused for now.
var errBusy = errors.New("another write was under way on the order or the lock")

func (f fenced) close(ctx context.Context, h holder, o order) error {
	ctx, cancel := outlive(ctx, settleTime)
	defer cancel()
	pause := conflictPause
	for try := 1; ; try++ {
		err := f.try(ctx, h, o)
		if !errors.Is(err, errBusy) || try == conflictTries {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		pause *= 2
	}
}

// try sends the transaction. The SDK gives it a request token, so that its own
// retries after a lost answer cannot apply it twice.
func (f fenced) try(ctx context.Context, h holder, o order) error {
	c := newClosing(h.Token())
	c.values[":placed"] = orders.Text(orders.Placed)
	_, err := f.table.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			h.ConditionCheck(), // refusal reads it back by this place
			{Update: &types.Update{
				TableName:                 aws.String(f.table.name),
				Key:                       orders.Key(o.id),
				UpdateExpression:          aws.String(c.expression),
				ConditionExpression:       aws.String("#status = :placed"),
				ExpressionAttributeNames:  c.names,
				ExpressionAttributeValues: c.values,
			}},
		},
	})
	return refusal(err)
}

// refusal finds out why a transaction of a held check and an update was
// cancelled. The lost lease comes first: a holder that has lost it must stop,
// whatever else is true of the order.
func refusal(err error) error {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return err
	}
	codes := make([]string, len(cancelled.CancellationReasons))
	for i, reason := range cancelled.CancellationReasons {
		codes[i] = aws.ToString(reason.Code)
	}
	const refused = "ConditionalCheckFailed"
	switch {
	case len(codes) != 2:
		return err
	case codes[0] == refused:
		return fmt.Errorf("refused by DynamoDB: %w", lockkit.ErrLeaseLost)
	case codes[1] == refused:
		return errNotPlaced
	}
	for _, code := range codes {
		switch code {
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			return fmt.Errorf("%w: %w", errBusy, err)
		}
	}
	return err
}

// outlive returns a context that ends d after ctx.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(d, func() { cancel(context.Cause(ctx)) })
	})
	return longer, func() {
		stop()
		cancel(context.Canceled)
	}
}
