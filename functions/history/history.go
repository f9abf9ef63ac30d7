// Package history keeps what became of every run of a job, beside the job's lock
// in the same table: one item for each run and one for each other event of the
// bus, until they expire. The observer writes it, operators' commands read it, and
// no run ever does: losing it loses no correctness.
//
// # Table
//
// The partition key is "RUN#" and the name of the job. The sort key begins with
// a time of fixed width, so that a query reads in the order of time: the due time
// of a run, the time a manual run without one began, or the time of another event.
// Nobody has to find a run by its key, so its form may change.
//
// # Order and repetition
//
// Events come at least once and in any order. The item of a run is put if there
// is none, and the end of a run replaces its start, never the other way round, so
// the history is the same whatever the order (TestAnyOrderGivesTheSameHistory).
package history

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Retention is how long an item is kept, unless the store is told otherwise.
const Retention = 90 * 24 * time.Hour

// The attributes of an item, besides its keys and its time-to-live.
const (
	attrKind    = "event"   // S, the detail-type
	attrID      = "id"      // S, the event's id
	attrDetail  = "detail"  // S, the detail as it was published
	attrOutcome = "outcome" // S, of a run that has ended; absent for one that has started
)

const prefix = "RUN#"

// Store is a history in a table. It is safe for concurrent use.
type Store struct {
	client                  *dynamodb.Client
	table                   string
	partition, sort, expiry string
	retention               time.Duration
}

// Config names the table and its attributes.
type Config struct {
	Table        string
	PartitionKey string // "": pk
	SortKey      string // "": sk
	// TTLAttribute is the table's time-to-live attribute. "": items never expire.
	TTLAttribute string
	// Retention is how long an item is kept; 0: Retention. Whole seconds.
	Retention time.Duration
}

// New returns the history in a table. It sends no request.
func New(client *dynamodb.Client, c Config) (*Store, error) {
	if client == nil || c.Table == "" {
		return nil, errors.New("history: the client is nil or the table has no name: pass both")
	}
	if c.Retention < 0 || c.Retention%time.Second != 0 {
		return nil, fmt.Errorf("history: the retention is %s: expected whole seconds from 0", c.Retention)
	}
	s := &Store{client: client, table: c.Table, partition: c.PartitionKey, sort: c.SortKey, expiry: c.TTLAttribute, retention: c.Retention}
	if s.partition == "" {
		s.partition = "pk"
	}
	if s.sort == "" {
		s.sort = "sk"
	}
	if s.retention == 0 {
		s.retention = Retention
	}
	return s, nil
}

func (s *Store) key(job, sort string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{s.partition: text(prefix + job), s.sort: text(sort)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// fixed is a time whose order is that of its text.
func fixed(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
