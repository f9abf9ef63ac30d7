package locktest

import (
	"maps"
	"slices"
)

const maxBatchWrite = 25

type batchWriteRequest struct {
	capacityRequest
	RequestItems map[string][]batchAction
}

// batchAction is one write of a batch; exactly one member is set.
type batchAction struct {
	PutRequest    *struct{ Item wireItem }
	DeleteRequest *struct{ Key wireItem }
}

func (r *batchWriteRequest) tableName() string { return firstTable(r.RequestItems) }

func (r *batchWriteRequest) writes() {}

func (r *batchWriteRequest) run(db *DB) (any, error) {
	if err := r.checkCapacity(); err != nil {
		return nil, err
	}
	total := 0
	for _, actions := range r.RequestItems {
		if total += len(actions); len(actions) == 0 {
			total = maxBatchWrite + 1
			break
		}
	}
	if total == 0 || total > maxBatchWrite {
		return nil, validation("1 validation error detected: Value '{...}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to %d, Member must have length greater than or equal to 1]", maxBatchWrite)
	}
	tables := slices.Sorted(maps.Keys(r.RequestItems))
	var changes []change
	seen := make(map[string]bool, total)
	for _, name := range tables {
		for _, a := range r.RequestItems[name] {
			c, err := a.change(db, name)
			if err != nil {
				return nil, err
			}
			id := c.table.identity(c.key)
			if seen[id] {
				return nil, validation("Provided list of item keys contains duplicates")
			}
			seen[id] = true
			changes = append(changes, c)
		}
	}
	write := make(map[string]float64)
	for _, c := range changes { // all are checked, and none has a condition
		before, after, err := c.try()
		if err != nil {
			return nil, err
		}
		c.table.apply(c.key, after)
		write[c.table.name] += writeUnits(before, after)
	}
	var out struct {
		UnprocessedItems map[string][]batchAction
		ConsumedCapacity []consumedCapacity `json:",omitempty"`
	}
	out.UnprocessedItems = map[string][]batchAction{}
	out.ConsumedCapacity = r.reports(tables, nil, write)
	return &out, nil
}

func (a batchAction) change(db *DB, table string) (change, error) {
	switch {
	case (a.PutRequest != nil) == (a.DeleteRequest != nil):
		return change{}, validation("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	case a.PutRequest != nil:
		put := putRequest{conditional: conditional{TableName: table}, Item: a.PutRequest.Item}
		return put.change(db)
	default:
		remove := deleteRequest{conditional: conditional{TableName: table}, Key: a.DeleteRequest.Key}
		return remove.change(db)
	}
}
