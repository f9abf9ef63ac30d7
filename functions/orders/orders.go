// Package orders describes the tables that the jobs of this application work on,
// in one place: the orders with their attributes and indexes, the reports about
// them, and how to make the table of orders for tests and for the local runner.
package orders

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes of an order.
const (
	AttrID       = "orderId"  // S, the table's only key
	AttrStatus   = "status"   // S
	AttrPlacedAt = "placedAt" // N, Unix ms
	AttrPlacedOn = "placedOn" // S, the UTC day of placedAt, such as 2026-12-01
	AttrTotal    = "total"    // N, in cents
	AttrClosedAt = "closedAt" // N, Unix ms; absent until it is closed
	AttrClosedBy = "closedBy" // N, the fencing token of the run that closed it
	// AttrHistory is a list that only grows, a map of status (S), at (N, Unix ms)
	// and token (N) for each close. A second close shows there and nowhere else.
	AttrHistory = "history"
)

// MaxID is how many bytes the shop's order ids have at most. A job keeps one in
// the little that it can store between its runs.
const MaxID = 128

// IndexByStatus has the status as partition and placedAt as sort key.
//
// IndexByDay has the day as partition and placedAt as sort key, and brings the
// total along. Neither of its keys ever changes, so that an order keeps its place
// there, whatever becomes of it. One day in one partition is good for 1000 new
// orders a second.
const (
	IndexByStatus = "byStatus"
	IndexByDay    = "byDay"
)

// The statuses that a job knows.
const (
	Placed = "placed"
	Closed = "closed"
)

// Order is what an item says.
type Order struct {
	ID      string
	Status  string
	History []Change // in the order in which the changes reached the table
}

// Change is an entry of an order's history.
type Change struct {
	Status string
	At     time.Time
	Token  int64
}

// Value is the entry as it is stored.
func (c Change) Value() types.AttributeValue {
	return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		"status": Text(c.Status), "at": Number(c.At.UnixMilli()), "token": Number(c.Token),
	}}
}

// Key is the key of an order.
func Key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{AttrID: Text(id)}
}

// New is the item of an order that was placed at a time, with its total in cents.
func New(id string, placedAt time.Time, total int64) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		AttrID: Text(id), AttrStatus: Text(Placed), AttrTotal: Number(total),
		AttrPlacedAt: Number(placedAt.UnixMilli()), AttrPlacedOn: Text(Day(placedAt)),
	}
}

// Day names the partition of [IndexByDay] that has the orders placed at a time.
func Day(placedAt time.Time) string { return placedAt.UTC().Format(time.DateOnly) }

// Read decodes an item. The error names the order and what is wrong with it.
func Read(item map[string]types.AttributeValue) (Order, error) {
	o := Order{ID: text(item[AttrID]), Status: text(item[AttrStatus])}
	history, there := item[AttrHistory]
	if !there {
		return o, nil
	}
	list, ok := history.(*types.AttributeValueMemberL)
	if !ok {
		return o, fmt.Errorf("order %q: %s is a %T, expected a list", o.ID, AttrHistory, history)
	}
	for i, entry := range list.Value {
		m, ok := entry.(*types.AttributeValueMemberM)
		if !ok {
			return o, fmt.Errorf("order %q: entry %d of %s is a %T, expected a map", o.ID, i, AttrHistory, entry)
		}
		at, err := number(m.Value["at"])
		if err != nil {
			return o, fmt.Errorf("order %q: at of entry %d of %s: %w", o.ID, i, AttrHistory, err)
		}
		token, err := number(m.Value["token"])
		if err != nil {
			return o, fmt.Errorf("order %q: token of entry %d of %s: %w", o.ID, i, AttrHistory, err)
		}
		o.History = append(o.History, Change{Status: text(m.Value["status"]), At: time.UnixMilli(at), Token: token})
	}
	return o, nil
}

// Text is a string as an attribute.
func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number is a whole number as an attribute.
func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func number(v types.AttributeValue) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("it is a %T, expected a number", v)
	}
	return strconv.ParseInt(n.Value, 10, 64)
}
