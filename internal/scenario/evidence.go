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
	"github.com/solotick/solotick/lockkit"
)

// placed is an order that the scenario put into the table.
type placed struct {
	id  string
	due bool
}

// orderState is what the table says of an order at the end.
type orderState struct {
	status string
	closes []closing // in the order in which they reached the table
}

// closing is one entry of an order's history.
type closing struct {
	token int64
	at    time.Time
}

// evidence is all that the verdict is made from.
type evidence struct {
	placed     []placed
	orders     map[string]orderState
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
		placed: s.placed, orders: map[string]orderState{}, wanted: s.wanted,
		deliveries: s.history.deliveriesByStart(), calls: s.endpoint.calls(),
	}
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: aws.String(s.tables.orders), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return e, fmt.Errorf("read table %s: %w", s.tables.orders, err)
		}
		for _, item := range page.Items {
			state, err := readOrder(item)
			if err != nil {
				return e, fmt.Errorf("table %s: %w", s.tables.orders, err)
			}
			e.orders[str(item["orderId"])] = state
		}
	}
	lock, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.tables.locks), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"pk": text("LOCK#" + functions.OrderSweeper.Name), "sk": text("LOCK")},
	})
	if err != nil {
		return e, fmt.Errorf("read the lock in table %s: %w", s.tables.locks, err)
	}
	e.lockHeld = lock.Item[lockkit.AttrOwner] != nil
	if tick, there := lock.Item[lockkit.AttrTick]; there {
		ms, err := integer(tick)
		if err != nil {
			return e, fmt.Errorf("attribute %s of the lock: %w", lockkit.AttrTick, err)
		}
		e.lockTick = time.UnixMilli(ms).UTC()
	}
	return e, nil
}

func readOrder(item map[string]types.AttributeValue) (orderState, error) {
	state := orderState{status: str(item["status"])}
	history, _ := item["history"].(*types.AttributeValueMemberL)
	if history == nil {
		return state, nil
	}
	for _, entry := range history.Value {
		m, ok := entry.(*types.AttributeValueMemberM)
		if !ok {
			return state, fmt.Errorf("order %s: an entry of its history is a %T", str(item["orderId"]), entry)
		}
		token, err := integer(m.Value["token"])
		at, err2 := integer(m.Value["at"])
		if err := errors.Join(err, err2); err != nil {
			return state, fmt.Errorf("order %s: %w", str(item["orderId"]), err)
		}
		state.closes = append(state.closes, closing{token: token, at: time.UnixMilli(at)})
	}
	return state, nil
}

func (s *stage) putOrder(ctx context.Context, id string, placedAt time.Time) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(s.tables.orders),
		Item: map[string]types.AttributeValue{
			"orderId": text(id), "status": text("placed"),
			"placedAt": &types.AttributeValueMemberN{Value: strconv.FormatInt(placedAt.UnixMilli(), 10)},
		},
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
			Key: map[string]types.AttributeValue{"orderId": text(id)},
		})
		if err != nil {
			return false, fmt.Errorf("read order %s: %w", id, err)
		}
		if str(found.Item["status"]) != "placed" {
			return false, nil
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
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("keep logs: %w", err)
	}
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

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func str(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func integer(v types.AttributeValue) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("%T, expected a number", v)
	}
	return strconv.ParseInt(n.Value, 10, 64)
}
