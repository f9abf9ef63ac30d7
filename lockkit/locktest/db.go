package locktest

import (
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DB is an in-memory DynamoDB with tables, a log of the requests it saw and
// faults to inject. Make one with [New]; it is safe for concurrent use, needs no
// Close and holds no goroutines.
type DB struct {
	parsed parseCache
	faults faultList
	log    requestLog

	mu     sync.Mutex // guards the rest; held for computing only, never while waiting
	tables map[string]*table
	tokens tokenLog
}

// New returns an empty DB. It may be made outside a synctest bubble and used
// inside one.
func New() *DB {
	return &DB{tables: make(map[string]*table)}
}

// tableName takes a table's name or its ARN.
func tableName(name string) string {
	if _, table, ok := strings.Cut(name, ":table/"); ok && strings.HasPrefix(name, "arn:") {
		return table
	}
	return name
}

// Item returns the item at a key without a request, so that nothing is logged
// and no fault strikes. It is nil when there is no such item or table, or when
// the key is not one of the table. The caller owns the result.
func (db *DB) Item(table string, key map[string]types.AttributeValue) map[string]types.AttributeValue {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, k, err := db.direct(table, key)
	if err != nil || t.key.checkKey(k) != nil {
		return nil
	}
	return toSDK(t.get(k))
}

// Put stores an item without a request and without a condition, in place of
// whatever is at its key. The error is that of a PutItem: no such table, or an
// item that does not fit it.
func (db *DB) Put(table string, it map[string]types.AttributeValue) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, stored, err := db.direct(table, it)
	if err != nil {
		return err
	}
	if err := t.check(stored, putTooLarge); err != nil {
		return err
	}
	t.put(stored)
	return nil
}

// Delete removes the item at a key without a request. Removing what is not
// there is no error; a missing table or a key that is not one of the table is.
func (db *DB) Delete(table string, key map[string]types.AttributeValue) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, k, err := db.direct(table, key)
	if err != nil {
		return err
	}
	if err := t.key.checkKey(k); err != nil {
		return err
	}
	t.remove(k)
	return nil
}

// direct finds the table and converts the item or key of a direct call.
func (db *DB) direct(name string, attributes map[string]types.AttributeValue) (*table, item, error) {
	t, err := db.table(name)
	if err != nil {
		return nil, nil, err
	}
	it, err := fromSDK(attributes)
	return t, it, err
}
