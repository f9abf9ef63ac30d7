package main

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/singletontest"
)

const (
	dueOrders   = 4
	youngOrders = 2
)

// TestCrashPoints disturbs the sweep at each request it makes: whatever happens
// there, every order that was due is closed once, and no other.
func TestCrashPoints(t *testing.T) {
	t.Log(singletontest.CrashEverywhere(t, functions.OrderSweeper, sweeperOf, closedOnce, singletontest.Setup(placed)))
}

// sweeperOf is the sweeper as main wires it, with pages of three orders.
func sweeperOf(p *singletontest.Process) singleton.Work {
	table := table{client: p.Client(), name: "orders"}
	s := &sweeper{table: table, closer: fenced{table}, logger: slog.New(slog.DiscardHandler), pageSize: 3, maxPerRun: maxPerRun}
	return s.work
}

// placed makes orders of two pages that are due at the first tick, and some that
// are not due at the next either.
func placed(w *singletontest.World) {
	if err := orders.CreateTable(w.T.Context(), w.Client(), "orders"); err != nil {
		w.T.Fatal(err)
	}
	for i := range dueOrders {
		w.Put("orders", orders.New(fmt.Sprintf("due-%d", i), time.Now().Add(-dueAfter-time.Minute), 100))
	}
	for i := range youngOrders {
		w.Put("orders", orders.New(fmt.Sprintf("young-%d", i), time.Now(), 100))
	}
}

func closedOnce(w *singletontest.World) error {
	want := func(id string, closes int) error {
		o, err := orders.Read(w.DB.Item("orders", orders.Key(id)))
		if err != nil {
			return err
		}
		if len(o.History) != closes || (o.Status == orders.Closed) != (closes > 0) {
			return fmt.Errorf("order %s is %s and was closed by %v, want %d closes", id, o.Status, o.History, closes)
		}
		return nil
	}
	var faults []error
	for i := range dueOrders {
		faults = append(faults, want(fmt.Sprintf("due-%d", i), 1))
	}
	for i := range youngOrders {
		faults = append(faults, want(fmt.Sprintf("young-%d", i), 0))
	}
	return errors.Join(faults...)
}
