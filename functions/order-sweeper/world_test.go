package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

// world is a table with locks, one with orders, and a sweeper over both.
type world struct {
	t     *testing.T
	db    *locktest.DB
	locks *lockkit.LockTable
	s     *sweeper
	log   *bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := locktest.New()
	client := db.Client()
	if err := locktest.CreateTable(t.Context(), client, "locks", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	if err := orders.CreateTable(t.Context(), client, "orders"); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: db, log: &bytes.Buffer{}}
	w.locks = w.lockTable("holder")
	w.s = w.sweeper(func(t table) closer { return fenced{t} })
	return w
}

func (w *world) lockTable(label string) *lockkit.LockTable {
	w.t.Helper()
	locks, err := lockkit.New(w.db.Client(), "locks", lockkit.WithHolderLabel(label))
	if err != nil {
		w.t.Fatal(err)
	}
	return locks
}

func (w *world) sweeper(closer func(table) closer) *sweeper {
	t := table{client: w.db.Client(), name: "orders"}
	logger := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return &sweeper{table: t, closer: closer(t), logger: logger, pageSize: 3, maxPerRun: 10}
}

// place adds orders that have been placed for so long.
func (w *world) place(prefix string, n int, age time.Duration) {
	w.t.Helper()
	for i := range n {
		placedAt := time.Now().Add(-age + time.Duration(i)*time.Millisecond)
		if err := w.db.Put("orders", orders.New(fmt.Sprintf("%s-%d", prefix, i), placedAt, 100)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) set(id, status string) {
	w.t.Helper()
	item := orders.New(id, time.UnixMilli(1), 100)
	item[orders.AttrStatus] = orders.Text(status)
	if err := w.db.Put("orders", item); err != nil {
		w.t.Fatal(err)
	}
}

// closes lists the tokens that closed an order.
func (w *world) closes(id string) []int64 {
	w.t.Helper()
	o, err := orders.Read(w.db.Item("orders", orders.Key(id)))
	if err != nil {
		w.t.Fatal(err)
	}
	var tokens []int64
	for _, change := range o.History {
		tokens = append(tokens, change.Token)
	}
	return tokens
}

// takeOver makes the lock another's.
func (w *world) takeOver() {
	w.t.Helper()
	item := w.db.Item("locks", map[string]types.AttributeValue{"pk": orders.Text("LOCK#" + functions.OrderSweeper.Name), "sk": orders.Text("LOCK")})
	item[lockkit.AttrOwner], item[lockkit.AttrVersion] = orders.Text("other"), orders.Text("other")
	item[lockkit.AttrFence] = orders.Number(time.Now().Add(time.Hour).UnixMilli())
	if err := w.db.Put("locks", item); err != nil {
		w.t.Fatal(err)
	}
}

// run is a run with the time that its function has.
func (w *world) run() (singleton.Result, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), functions.OrderSweeper.Timeout)
	defer cancel()
	tick := events.Tick{Source: events.KindSchedule, Time: time.Now(), ID: "id", Attempt: 1}
	return singleton.Do(ctx, w.locks, functions.OrderSweeper, tick, w.s.work, singleton.WithLogger(w.s.logger))
}

func (w *world) wantLog(part string) {
	w.t.Helper()
	if !strings.Contains(w.log.String(), part) {
		w.t.Errorf("%q is not in the log:\n%s", part, w.log)
	}
}

// before does something just before each close.
type before struct {
	closer
	do func(o order)
}

func (b before) close(ctx context.Context, h holder, o order) error {
	b.do(o)
	return b.closer.close(ctx, h, o)
}
