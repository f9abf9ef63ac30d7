package locktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// call is a decoded request.
type call interface {
	// tableName is the first table the request names.
	tableName() string
	// run carries the request out under the DB's lock and returns its answer,
	// a value for JSON, which is encoded without the lock.
	run(db *DB) (any, error)
}

// writeCall marks the calls that can change items.
type writeCall interface {
	call
	writes()
}

// actionCall is a transaction with its number of actions.
type actionCall interface {
	call
	actions() int
}

// newCall returns an empty request of an operation, nil if it is not served.
func newCall(operation string) call {
	switch operation {
	case "CreateTable":
		return new(createTableRequest)
	case "DescribeTable":
		return new(describeTableRequest)
	case "DeleteTable":
		return new(deleteTableRequest)
	case "ListTables":
		return new(listTablesRequest)
	case "UpdateTimeToLive":
		return new(updateTTLRequest)
	case "DescribeTimeToLive":
		return new(describeTTLRequest)
	case "PutItem":
		return new(putItemRequest)
	case "GetItem":
		return new(getItemRequest)
	case "UpdateItem":
		return new(updateItemRequest)
	case "DeleteItem":
		return new(deleteItemRequest)
	case "Query":
		return new(queryRequest)
	case "Scan":
		return new(scanRequest)
	case "BatchGetItem":
		return new(batchGetRequest)
	case "BatchWriteItem":
		return new(batchWriteRequest)
	case "TransactGetItems":
		return new(transactGetRequest)
	case "TransactWriteItems":
		return new(transactWriteRequest)
	default:
		return nil
	}
}

// decodeCall reads the body of a request.
func decodeCall(operation string, body []byte) (call, error) {
	c := newCall(operation)
	if c == nil {
		return nil, newError(codeUnknown, "")
	}
	if trimmed := bytes.TrimSpace(body); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, newError(codeSerialization, "Unexpected token received from parser")
	}
	if err := json.Unmarshal(body, c); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, newError(codeSerialization, "%s cannot be converted to %s", strings.ToUpper(wrong.Value), wrong.Type)
		}
		return nil, newError(codeSerialization, "%s", err.Error())
	}
	return c, nil
}

// legacy are the parameters from before expressions. They are refused rather
// than ignored, as a condition that does nothing would be a trap.
type legacy struct {
	AttributesToGet     json.RawMessage `json:",omitzero"`
	AttributeUpdates    json.RawMessage `json:",omitzero"`
	ConditionalOperator json.RawMessage `json:",omitzero"`
	Expected            json.RawMessage `json:",omitzero"`
	KeyConditions       json.RawMessage `json:",omitzero"`
	QueryFilter         json.RawMessage `json:",omitzero"`
	ScanFilter          json.RawMessage `json:",omitzero"`
}

func (l legacy) refuseLegacy() error {
	for _, p := range []struct {
		name string
		text json.RawMessage
	}{
		{"AttributesToGet", l.AttributesToGet},
		{"AttributeUpdates", l.AttributeUpdates},
		{"ConditionalOperator", l.ConditionalOperator},
		{"Expected", l.Expected},
		{"KeyConditions", l.KeyConditions},
		{"QueryFilter", l.QueryFilter},
		{"ScanFilter", l.ScanFilter},
	} {
		if p.text != nil && string(p.text) != "null" {
			return validation("locktest does not support the legacy parameter %s; use an expression", p.name)
		}
	}
	return nil
}

// oneOf checks a parameter that takes one of a few words; "" is left to the default.
func oneOf(name, word string, allowed ...string) error {
	if word == "" || slices.Contains(allowed, word) {
		return nil
	}
	return validation("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy enum value set: [%s]", word, name, strings.Join(allowed, ", "))
}
