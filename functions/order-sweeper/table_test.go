package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/solotick/solotick/functions/orders"
)

func TestAMissingTableIsNamedWithWhatToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.s.table.name = "nowhere"
		_, err := w.run()
		want := `table "nowhere" (SOLOTICK_ORDERS_TABLE) by its index ` + orders.IndexByStatus + `: set SOLOTICK_ORDERS_TABLE to a table that this Region has, or create it: `
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	})
}

func TestATableWithoutTheIndexIsNamedWithWhatToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.s.table.name = "locks"
		_, err := w.run()
		want := `table "locks" (SOLOTICK_ORDERS_TABLE) by its index ` + orders.IndexByStatus + `: set SOLOTICK_ORDERS_TABLE to the table with the orders, or create the index: `
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	})
}
