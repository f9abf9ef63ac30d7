package locktest

import (
	"slices"
	"strings"
	"time"
)

const (
	maxActions          = 100
	maxTransactionBytes = 4 << 20
)

type transactWriteRequest struct {
	capacityRequest
	ClientRequestToken string
	TransactItems      []transactAction
}

// transactAction is one action; exactly one member is set.
type transactAction struct {
	ConditionCheck *checkRequest  `json:",omitempty"`
	Put            *putRequest    `json:",omitempty"`
	Update         *updateRequest `json:",omitempty"`
	Delete         *deleteRequest `json:",omitempty"`
}

// checkRequest is a condition on an item that the transaction does not write.
type checkRequest struct {
	conditional
	Key wireItem
}

func (r *checkRequest) change(db *DB) (change, error) {
	if r.ConditionExpression == nil {
		return change{}, validation("The parameter 'ConditionExpression' is required but was not present in the request")
	}
	c, b, err := r.open(db, false)
	if err != nil {
		return c, err
	}
	if err := b.unused(); err != nil {
		return c, err
	}
	c.key, err = r.Key.decodeKey(c.table)
	c.next = func(old item) (item, error) { return old, nil }
	return c, err
}

func (a transactAction) change(db *DB) (change, error) {
	set := 0
	for _, is := range [...]bool{a.ConditionCheck != nil, a.Put != nil, a.Update != nil, a.Delete != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return change{}, validation("TransactItems can only contain one of Check, Put, Update or Delete")
	case a.ConditionCheck != nil:
		return a.ConditionCheck.change(db)
	case a.Put != nil:
		put := *a.Put
		put.dropIdle(put.ConditionExpression)
		return put.change(db)
	case a.Delete != nil:
		remove := *a.Delete
		remove.dropIdle(remove.ConditionExpression)
		return remove.change(db)
	case a.Update.UpdateExpression == nil:
		return change{}, validation("The parameter 'UpdateExpression' is required but was not present in the request")
	default:
		c, _, err := a.Update.change(db)
		return c, err
	}
}

func (a transactAction) tableName() string {
	switch {
	case a.ConditionCheck != nil:
		return a.ConditionCheck.tableName()
	case a.Put != nil:
		return a.Put.tableName()
	case a.Update != nil:
		return a.Update.tableName()
	case a.Delete != nil:
		return a.Delete.tableName()
	default:
		return ""
	}
}

func (r *transactWriteRequest) tableName() string {
	if len(r.TransactItems) == 0 {
		return ""
	}
	return r.TransactItems[0].tableName()
}

func (r *transactWriteRequest) actions() int { return len(r.TransactItems) }

func (r *transactWriteRequest) writes() {}

// transactAnswer is the answer to a write transaction.
type transactAnswer struct {
	ConsumedCapacity []consumedCapacity `json:",omitempty"`
	repeated         bool               // an earlier one with the same token did it
}

func (a *transactAnswer) repeats() bool { return a.repeated }

func (r *transactWriteRequest) run(db *DB) (any, error) {
	if err := r.checkCapacity(); err != nil {
		return nil, err
	}
	if err := checkActions(len(r.TransactItems)); err != nil {
		return nil, err
	}
	changes, err := r.changes(db)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	done, err := db.tokens.seen(r, now)
	if err != nil {
		return nil, err
	}
	if done {
		return &transactAnswer{ConsumedCapacity: r.cost(changes, true), repeated: true}, nil
	}
	after, err := tryAll(changes)
	if err != nil {
		return nil, err
	}
	out := &transactAnswer{ConsumedCapacity: r.cost(changes, false)}
	for i, c := range changes {
		c.table.apply(c.key, after[i])
	}
	db.tokens.remember(r, now)
	return out, nil
}

func checkActions(n int) error {
	switch {
	case n == 0:
		return validation("1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	case n > maxActions:
		return validation("1 validation error detected: Value '[...]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to %d", maxActions)
	default:
		return nil
	}
}

// changes binds all actions and refuses two on one item.
func (r *transactWriteRequest) changes(db *DB) ([]change, error) {
	changes := make([]change, len(r.TransactItems))
	seen := make(map[string]bool, len(changes))
	for i, a := range r.TransactItems {
		c, err := a.change(db)
		if err != nil {
			return nil, err
		}
		id := c.table.identity(c.key)
		if seen[id] {
			return nil, validation("Transaction request cannot include multiple operations on one item")
		}
		changes[i], seen[id] = c, true
	}
	return changes, nil
}

// identity is a text that tells the items of all tables apart.
func (t *table) identity(key item) string {
	parts := []string{t.name}
	for _, a := range t.key.attributes() {
		parts = append(parts, key[a.name].scalarText())
	}
	return strings.Join(parts, "\x00")
}

// tryAll computes the new images of all items, or why the transaction cannot be.
func tryAll(changes []change) ([]item, error) {
	after := make([]item, len(changes))
	reasons := noReasons(len(changes))
	refused, bytes := false, 0
	for i, c := range changes {
		before, next, err := c.try()
		if err != nil {
			refused = true
			reasons[i] = reasonFor(err)
			continue
		}
		after[i] = next
		bytes += max(before.size(), next.size())
	}
	if refused {
		return nil, canceled(reasons)
	}
	if bytes > maxTransactionBytes {
		return nil, validation("Transaction size has exceeded the maximum allowed size of 4 MB")
	}
	return after, nil
}

func noReasons(n int) []cancellationReason {
	return slices.Repeat([]cancellationReason{{Code: "None"}}, n)
}

func reasonFor(err error) cancellationReason {
	e := asServiceError(err)
	code := "ValidationError"
	if e.code == codeConditionFailed {
		code = "ConditionalCheckFailed"
	}
	return cancellationReason{Code: code, Message: e.message, Item: e.item}
}

func canceled(reasons []cancellationReason) *serviceError {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = r.Code
	}
	e := newError(codeCanceled, "Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", strings.Join(codes, ", "))
	e.reasons = reasons
	return e
}

// cost is twice that of single writes; a repeated transaction costs reads.
func (r *transactWriteRequest) cost(changes []change, repeated bool) []consumedCapacity {
	if !r.wantsCapacity() {
		return nil
	}
	read, write := make(map[string]float64), make(map[string]float64)
	var tables []string
	for _, c := range changes {
		if !slices.Contains(tables, c.table.name) {
			tables = append(tables, c.table.name)
		}
		before := c.table.get(c.key)
		if repeated {
			read[c.table.name] += 2 * readUnits(before.size(), true)
			continue
		}
		after, err := c.next(before)
		if err != nil { // tried before: cannot fail
			after = before
		}
		write[c.table.name] += 2 * writeUnits(before, after)
	}
	return r.reports(tables, read, write)
}
