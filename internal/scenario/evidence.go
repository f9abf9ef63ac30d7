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

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit"
)

// evidence is what is known of every act.
type evidence struct {
	job        string
	lockTick   time.Time // the newest completed tick, by the lock's item
	lockHeld   bool
	deliveries []delivery
	calls      []call // of its functions, in the order of their arrival
	wanted     []expectation
	stuck      string // the step that did not get to its end
}

// gather reads the tables and what was observed.
func (s *stage) gather(ctx context.Context) ([]testimony, error) {
	var heard []testimony
	for _, d := range s.dramas {
		common, err := d.part().evidence(ctx)
		if err != nil {
			return nil, err
		}
		of, err := d.gather(ctx, common)
		if err != nil {
			return nil, err
		}
		heard = append(heard, of)
	}
	return heard, nil
}

func (a *act) evidence(ctx context.Context) (evidence, error) {
	e := evidence{job: a.spec.Name, wanted: a.wanted, deliveries: deliveriesOf(a.spec.Name, a.history.deliveriesByStart())}
	if a.stuck != nil {
		e.stuck = a.stuck.Error()
	}
	for _, c := range a.endpoint.calls() {
		if slices.ContainsFunc(e.deliveries, func(d delivery) bool { return d.caller == c.Caller }) {
			e.calls = append(e.calls, c)
		}
	}
	lock, err := a.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(a.tables.locks), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"pk": orders.Text("LOCK#" + a.spec.Name), "sk": orders.Text("LOCK")},
	})
	if err != nil {
		return e, fmt.Errorf("read the lock of %s in table %s: %w", a.spec.Name, a.tables.locks, err)
	}
	e.lockHeld = lock.Item[lockkit.AttrOwner] != nil
	if tick, ok := lock.Item[lockkit.AttrTick].(*types.AttributeValueMemberN); ok {
		ms, err := strconv.ParseInt(tick.Value, 10, 64)
		if err != nil {
			return e, fmt.Errorf("attribute %s of the lock of %s: %w", lockkit.AttrTick, a.spec.Name, err)
		}
		e.lockTick = time.UnixMilli(ms).UTC()
	}
	return e, nil
}

// scan reads a whole table and gives each item to read.
func (s *stage) scan(ctx context.Context, table string, read func(map[string]types.AttributeValue) error) error {
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("read table %s: %w", table, err)
		}
		for _, item := range page.Items {
			if err := read(item); err != nil {
				return fmt.Errorf("table %s: %w", table, err)
			}
		}
	}
	return nil
}

func (s *stage) putOrder(ctx context.Context, table, id string, placedAt time.Time, total int64) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: orders.New(id, placedAt, total)})
	if err != nil {
		return fmt.Errorf("place order %s in table %s: %w", id, table, err)
	}
	return nil
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
		writeLines(filepath.Join(s.options.KeepLogs, "puts.jsonl"), s.services.received()),
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
