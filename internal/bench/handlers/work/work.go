// Package work is what the handlers with and without the lock have in common: the
// parts that a job's function has anyway, which are a logger and the reads and
// transactions of its own table. The lock needs them too, and must be charged
// with what it adds to them only.
package work

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Event says what to do. The zero Event does nothing.
type Event struct {
	Read  string `json:"read"`  // the key of an item to read
	Close string `json:"close"` // the key of an item to mark as closed, and its order with it
}

// Work does what events say.
type Work struct {
	client *dynamodb.Client
	table  string
	logger *slog.Logger
}

// New makes the work on a table, and its logger.
func New(client *dynamodb.Client, table string) *Work {
	return &Work{client: client, table: table, logger: lambdacontext.NewLogger()}
}

// Do does one event, and logs what it did. The error is the SDK's; ctx ends it.
func (w *Work) Do(ctx context.Context, e Event) error {
	if e.Read != "" {
		out, err := w.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(w.table), Key: key(e.Read)})
		if err != nil {
			return fmt.Errorf("read %q: %w", e.Read, err)
		}
		w.logger.InfoContext(ctx, "read", slog.String("key", e.Read), slog.Int("attributes", len(out.Item)))
	}
	if e.Close != "" {
		put := types.TransactWriteItem{Put: &types.Put{TableName: aws.String(w.table), Item: key(e.Close)}}
		gone := types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(w.table), Key: key("ORDER#" + e.Close)}}
		if _, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put, gone}}); err != nil {
			return fmt.Errorf("close %q: %w", e.Close, err)
		}
		w.logger.InfoContext(ctx, "closed", slog.String("key", e.Close))
	}
	return nil
}

func key(name string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: name}, "sk": &types.AttributeValueMemberS{Value: "ITEM"}}
}
