package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit"
)

// placed is an order that the scenario put into the table.
type placed struct {
	id  string
	due bool
}

// evidence is all that the verdict is made from.
type evidence struct {
	placed     []placed
	orders     map[string]orders.Order
	lockTick   time.Time // the newest completed tick, by the lock's item
	lockHeld   bool
	deliveries []delivery
	calls      []call // in the order of their arrival
	wanted     []expectation
	stuck      string // the step that did not get to its end
}

// gather reads the tables and what was observed.
func (s *stage) gather(ctx context.Context) (evidence, error) {
	e := evidence{
		placed: s.placed, orders: map[string]orders.Order{}, wanted: s.wanted,
		deliveries: s.history.deliveriesByStart(), calls: s.endpoint.calls(),
	}
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: aws.String(s.tables.orders), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return e, fmt.Errorf("read table %s: %w", s.tables.orders, err)
		}
		for _, item := range page.Items {
			o, err := orders.Read(item)
			if err != nil {
				return e, fmt.Errorf("table %s: %w", s.tables.orders, err)
			}
			e.orders[o.ID] = o
		}
	}
	lock, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.tables.locks), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"pk": orders.Text("LOCK#" + functions.OrderSweeper.Name), "sk": orders.Text("LOCK")},
	})
	if err != nil {
		return e, fmt.Errorf("read the lock in table %s: %w", s.tables.locks, err)
	}
	e.lockHeld = lock.Item[lockkit.AttrOwner] != nil
	if tick, ok := lock.Item[lockkit.AttrTick].(*types.AttributeValueMemberN); ok {
		ms, err := strconv.ParseInt(tick.Value, 10, 64)
		if err != nil {
			return e, fmt.Errorf("attribute %s of the lock: %w", lockkit.AttrTick, err)
		}
		e.lockTick = time.UnixMilli(ms).UTC()
	}
	return e, nil
}

func (s *stage) putOrder(ctx context.Context, id string, placedAt time.Time) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(s.tables.orders),
		Item:      orders.New(id, placedAt, 100),
	})
	if err != nil {
		return fmt.Errorf("place order %s in table %s: %w", id, s.tables.orders, err)
	}
	return nil
}

// staysPlaced looks at an order twice, far enough apart for a request that was
// under way.
func (s *stage) staysPlaced(ctx context.Context, id string) (bool, error) {
	for range 2 {
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false, context.Cause(ctx)
		}
		found, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(s.tables.orders), ConsistentRead: aws.Bool(true),
			Key: orders.Key(id),
		})
		if err != nil {
			return false, fmt.Errorf("read order %s: %w", id, err)
		}
		if o, err := orders.Read(found.Item); err != nil || o.Status != orders.Placed {
			return false, err
		}
	}
	return true, nil
}

// keepLogs writes what was observed to the folder that was asked for.
func (s *stage) keepLogs() error {
	if s.options.KeepLogs == "" {
		return nil
	}
	s.history.mu.Lock()
	happened := slices.Clone(s.history.events)
	s.history.mu.Unlock()
	return errors.Join(
		writeLines(filepath.Join(s.options.KeepLogs, "events.jsonl"), happened),
		writeLines(filepath.Join(s.options.KeepLogs, "requests.jsonl"), s.endpoint.calls()),
	)
}

func writeLines[T any](path string, list []T) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("keep logs: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	encoder := json.NewEncoder(file)
	for _, entry := range list {
		if err := encoder.Encode(entry); err != nil {
			return fmt.Errorf("keep logs: %w", err)
		}
	}
	return nil
}
