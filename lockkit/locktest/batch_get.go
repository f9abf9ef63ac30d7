package locktest

import (
	"maps"
	"slices"
)

const (
	maxBatchGet   = 100
	maxBatchBytes = 16 << 20
)

type batchGetRequest struct {
	capacityRequest
	RequestItems map[string]*batchKeys
}

// batchKeys is what a batch wants of one table.
type batchKeys struct {
	Keys                 []wireItem
	ProjectionExpression *string `json:",omitempty"`
	ConsistentRead       bool    `json:",omitempty"`
	placeholders
	legacy
}

func (r *batchGetRequest) tableName() string { return firstTable(r.RequestItems) }

func firstTable[V any](requests map[string]V) string {
	first := ""
	for name := range requests {
		if name = tableName(name); first == "" || name < first {
			first = name
		}
	}
	return first
}

func (r *batchGetRequest) run(db *DB) (any, error) {
	if err := r.checkCapacity(); err != nil {
		return nil, err
	}
	total := 0
	for _, keys := range r.RequestItems {
		if keys == nil || len(keys.Keys) == 0 {
			return nil, validation("1 validation error detected: Value at 'requestItems.member.keys' failed to satisfy constraint: Member must have length greater than or equal to 1")
		}
		total += len(keys.Keys)
	}
	switch {
	case total == 0:
		return nil, validation("1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	case total > maxBatchGet:
		return nil, validation("Too many items requested for the BatchGetItem call")
	}
	out := batchGetAnswer{Responses: make(map[string][]item), UnprocessedKeys: make(map[string]*batchKeys)}
	read := make(map[string]float64)
	tables := slices.Sorted(maps.Keys(r.RequestItems))
	for _, name := range tables {
		units, err := out.collect(db, name, r.RequestItems[name])
		if err != nil {
			return nil, err
		}
		read[name] = units
	}
	out.ConsumedCapacity = r.reports(tables, read, nil)
	return &out, nil
}

type batchGetAnswer struct {
	Responses        map[string][]item
	UnprocessedKeys  map[string]*batchKeys
	ConsumedCapacity []consumedCapacity `json:",omitempty"`
	bytes            int
}

// collect reads the keys of one table; once 16 MB are full the rest is left
// unprocessed.
func (out *batchGetAnswer) collect(db *DB, name string, want *batchKeys) (units float64, err error) {
	if err := want.refuseLegacy(); err != nil {
		return 0, err
	}
	found := []item{}
	seen := make(map[string]bool, len(want.Keys))
	for i, key := range want.Keys {
		get := getRequest{TableName: name, Key: key, ProjectionExpression: want.ProjectionExpression, placeholders: want.placeholders}
		t, k, whole, part, err := get.lookup(db)
		if err != nil {
			return 0, err
		}
		id := t.identity(k)
		if seen[id] {
			return 0, validation("Provided list of item keys contains duplicates")
		}
		seen[id] = true
		if out.bytes += whole.size(); out.bytes > maxBatchBytes {
			rest := *want
			rest.Keys = want.Keys[i:]
			out.UnprocessedKeys[name] = &rest
			break
		}
		units += readUnits(whole.size(), want.ConsistentRead)
		if whole != nil {
			found = append(found, part)
		}
	}
	out.Responses[name] = found
	return units, nil
}
