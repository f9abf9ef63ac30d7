package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
)

// sums is a report under way. It is the cursor of a checkpoint, so that place and
// sums can never be of different pages. It does not name the tick: where the next
// run has a newer one, the same sums go on to that tick's end.
type sums struct {
	After  int64 `json:"after"` // where the interval begins, Unix ms
	Place  place `json:"place"` // up to where the orders are counted
	Orders int64 `json:"orders"`
	Total  int64 `json:"total"` // in cents
}

// place is a place in the sequence of orders: behind an order or, without an ID,
// behind all that were placed until a time.
type place struct {
	At int64  `json:"at"` // Unix ms
	ID string `json:"id,omitempty"`
}

// page is what was read behind a place.
type page struct {
	orders, total int64
	end           place
	last          bool // there is nothing behind it
}

// from is a report on the orders after a time, of which none is counted yet.
func from(after time.Time) sums {
	return sums{After: after.UnixMilli(), Place: place{At: after.UnixMilli()}}
}

func (s sums) plus(p page) sums {
	s.Orders += p.orders
	s.Total += p.total
	s.Place = p.end
	return s
}

func (s sums) report(run *singleton.Run, until time.Time) orders.Report {
	return orders.Report{
		Tick: run.Tick, After: time.UnixMilli(s.After).UTC(), UpTo: until,
		Orders: s.Orders, Total: s.Total, Token: run.Token(),
	}
}

func (s sums) cursor() string {
	text, _ := json.Marshal(s) // numbers and a string: it cannot fail
	return string(text)
}

// readCursor reads what a run before has stored. Beginning anew in place of an
// error would be right too, and would hide that something else writes here.
func readCursor(cursor string) (sums, error) {
	var s sums
	err := json.Unmarshal([]byte(cursor), &s)
	if err == nil && (s.Place.At < s.After || s.Orders < 0) {
		err = fmt.Errorf("place %d is before its beginning %d, or %d orders are fewer than none", s.Place.At, s.After, s.Orders)
	}
	if err != nil {
		return sums{}, fmt.Errorf("cursor %q is not one of this job's: %w; remove the attribute cursor of the lock's item to begin the report anew", cursor, err)
	}
	return s, nil
}
