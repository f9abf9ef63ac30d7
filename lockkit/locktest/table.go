package locktest

import (
	"fmt"
	"slices"
	"time"
)

// maxItem is the largest item in bytes.
const maxItem = 400 * 1024

// table is one table with its indexes.
type table struct {
	name    string
	id      string
	created time.Time
	key     keySchema
	items   *collection
	indexes []*index
	request *createTableRequest // for DescribeTable
	ttl     string              // attribute; "" while off
	count   int
	bytes   int
}

// index is a secondary index. It holds whole items; what it projects is decided
// when it is read.
type index struct {
	name    string
	local   bool
	key     keySchema
	project []path // nil: all
	items   *collection
}

func (t *table) arn() string {
	return "arn:aws:dynamodb:us-east-1:000000000000:table/" + t.name
}

func (t *table) get(key item) item {
	it, _ := t.items.get(key)
	return it
}

// check refuses an item that cannot be stored; tooLarge is the message about size.
func (t *table) check(it item, tooLarge string) error {
	if err := t.key.checkItem(it); err != nil {
		return err
	}
	for _, x := range t.indexes {
		if err := x.key.checkIndexed(it, x.name); err != nil {
			return err
		}
	}
	if it.size() > maxItem {
		return validation("%s", tooLarge)
	}
	return nil
}

const (
	putTooLarge    = "Item size has exceeded the maximum allowed size"
	updateTooLarge = "Item size to update has exceeded the maximum allowed size"
)

// put stores a checked item in the table and its indexes.
func (t *table) put(it item) {
	t.remove(it)
	t.count++
	t.bytes += it.size()
	t.items.put(it)
	for _, x := range t.indexes {
		if x.key.covers(it) {
			x.items.put(it)
		}
	}
}

// remove deletes the item with this key, if there is one.
func (t *table) remove(key item) {
	old, ok := t.items.get(key)
	if !ok {
		return
	}
	t.count--
	t.bytes -= old.size()
	t.items.remove(old)
	for _, x := range t.indexes {
		if x.key.covers(old) {
			x.items.remove(old)
		}
	}
}

// apply stores what a write has made of the item at a key; nil deletes it.
func (t *table) apply(key, it item) {
	if it == nil {
		t.remove(key)
	} else {
		t.put(it)
	}
}

func (db *DB) table(name string) (*table, error) {
	if name == "" {
		return nil, validation("The parameter 'TableName' is required but was not present in the request")
	}
	t, ok := db.tables[tableName(name)]
	if !ok {
		return nil, newError(codeNotFound, "Requested resource not found")
	}
	return t, nil
}

// index returns an index of the table.
func (t *table) index(name string) (*index, error) {
	i := slices.IndexFunc(t.indexes, func(x *index) bool { return x.name == name })
	if i < 0 {
		return nil, validation("The table does not have the specified index: %s", name)
	}
	return t.indexes[i], nil
}

func (t *table) indexARN(name string) string { return fmt.Sprintf("%s/index/%s", t.arn(), name) }
