package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
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
		if err := w.db.Put("orders", orders.New(fmt.Sprintf("%s-%d", prefix, i), placedAt)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) set(id, status string) {
	w.t.Helper()
	item := orders.New(id, time.UnixMilli(1))
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

func (w *world) run() (singleton.Result, error) {
	tick := events.Tick{Source: events.KindSchedule, Time: time.Now(), ID: "id", Attempt: 1}
	return singleton.Do(w.t.Context(), w.locks, functions.OrderSweeper, tick, w.s.work, singleton.WithLogger(w.s.logger))
}

func (w *world) wantLog(part string) {
	w.t.Helper()
	if !strings.Contains(w.log.String(), part) {
		w.t.Errorf("%q is not in the log:\n%s", part, w.log)
	}
}

func TestClosesEveryDueOrderOverAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 7, dueAfter+time.Minute)
		w.place("young", 2, dueAfter-time.Minute)
		w.set("confirmed", "confirmed")
		res, err := w.run()
		if err != nil || res.Outcome != singleton.Completed {
			t.Fatalf("%+v, %v", res, err)
		}
		w.wantLog("counts.closed=7 counts.skipped=0")
		for i := range 7 {
			if got := w.closes(fmt.Sprintf("due-%d", i)); len(got) != 1 || got[0] != res.Token {
				t.Errorf("due-%d was closed by %v, expected once by %d", i, got, res.Token)
			}
		}
		for _, id := range []string{"young-0", "young-1", "confirmed"} {
			if got := w.closes(id); got != nil {
				t.Errorf("%s was not due and was closed by %v", id, got)
			}
		}
	})
}

func TestNothingDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		res, err := w.run()
		if err != nil || res.Outcome != singleton.Completed {
			t.Fatalf("%+v, %v", res, err)
		}
		w.wantLog("counts.closed=0 counts.skipped=0")
		var queries int
		for _, r := range w.db.Requests() {
			if r.Table == "orders" && r.Operation == "Query" {
				queries++
			}
		}
		if queries != 1 || res.Requests != 2 {
			t.Errorf("%d queries and %d requests for the lock, expected 1 and 2", queries, res.Requests)
		}
	})
}

func TestTheBoundLeavesTheRestToTheNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 13, dueAfter+time.Minute)
		if res, err := w.run(); err != nil || res.Outcome != singleton.Completed {
			t.Fatalf("%+v, %v", res, err)
		}
		w.wantLog("counts.closed=10 counts.more_left=1 counts.skipped=0")
		if w.closes("due-9") == nil || w.closes("due-10") != nil {
			t.Error("the oldest ten go first")
		}
		time.Sleep(time.Minute)
		if res, err := w.run(); err != nil || res.Outcome != singleton.Completed {
			t.Fatalf("%+v, %v", res, err)
		}
		w.wantLog("counts.closed=3 counts.skipped=0")
	})
}

func TestExactlyTheBoundIsNotMoreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 10, dueAfter+time.Minute)
		if _, err := w.run(); err != nil {
			t.Fatal(err)
		}
		w.wantLog("counts.closed=10 counts.skipped=0")
	})
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

func TestAnOrderThatChangedMeanwhileIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 3, dueAfter+time.Minute)
		w.s.closer = before{w.s.closer, func(o order) {
			if o.id == "due-1" {
				w.set("due-1", "confirmed")
			}
		}}
		res, err := w.run()
		if err != nil || res.Outcome != singleton.Completed {
			t.Fatalf("%+v, %v", res, err)
		}
		w.wantLog("counts.closed=2 counts.skipped=1")
		if got := w.closes("due-1"); got != nil {
			t.Errorf("the confirmed order was closed by %v", got)
		}
	})
}

func TestAWriteAfterATakeoverIsRefusedAndTheRunIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 3, dueAfter+time.Minute)
		w.s.closer = before{w.s.closer, func(o order) {
			if o.id == "due-1" { // somebody takes over while this run is at work
				w.takeOver()
			}
		}}
		res, err := w.run()
		if !errors.Is(err, lockkit.ErrLeaseLost) || w.closes("due-1") != nil || w.closes("due-2") != nil {
			t.Errorf("%+v, %v; due-1 closed by %v, due-2 by %v", res, err, w.closes("due-1"), w.closes("due-2"))
		}
		w.wantLog(`msg="stale write refused" order=due-1`)
		w.wantLog("counts.closed=1 counts.skipped=0")
	})
}

// The same with plain writes: what the demonstration is to show really happens.
func TestAPlainWriteAfterATakeoverClosesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 2, dueAfter+time.Minute)
		w.s = w.sweeper(func(t table) closer {
			return plain{table: t}
		})
		other := w.sweeper(func(t table) closer { return plain{table: t, work: func(context.Context, order) {}} })
		first := true
		slow := w.s.closer.(plain)
		slow.work = func(ctx context.Context, _ order) {
			if first {
				first = false
				if err := other.sweep(ctx, stranger{}, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.s.closer = slow
		if _, err := w.run(); err != nil {
			t.Fatal(err)
		}
		if got := w.closes("due-0"); len(got) != 2 {
			t.Errorf("due-0 was closed by %v, expected the successor and then the stale run", got)
		}
	})
}

type stranger struct{}

func (stranger) Token() int64                            { return 7 }
func (stranger) ConditionCheck() types.TransactWriteItem { return types.TransactWriteItem{} }
func (stranger) Count(string, int)                       {}

func TestAConflictIsTriedAgainWithinABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 1, dueAfter+time.Minute)
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultConflict, Count: conflictTries - 1})
		if res, err := w.run(); err != nil || len(w.closes("due-0")) != 1 {
			t.Fatalf("%+v, %v, closed by %v", res, err, w.closes("due-0"))
		}
		w.place("next", 1, dueAfter+time.Minute)
		time.Sleep(time.Minute)
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultConflict, Count: -1})
		res, err := w.run()
		if !errors.Is(err, errBusy) || w.closes("next-0") != nil || !strings.Contains(err.Error(), "next-0") {
			t.Errorf("%+v, %v, closed by %v", res, err, w.closes("next-0"))
		}
	})
}

func TestALostAnswerClosesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 1, dueAfter+time.Minute)
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultDropAnswer})
		if res, err := w.run(); err != nil || len(w.closes("due-0")) != 1 {
			t.Errorf("%+v, %v, closed by %v", res, err, w.closes("due-0"))
		}
		w.wantLog("counts.closed=1 counts.skipped=0")
	})
}

// The work on the third order ends half a second after the time for it: that
// order is brought to its end, the fourth is not begun.
func TestStopsBeforeTheNextOrderWhenTheTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 5, dueAfter+time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w.s.closer = before{w.s.closer, func(order) { time.Sleep(19500 * time.Millisecond) }}
		spec := functions.OrderSweeper
		spec.Lease = 10 * time.Second
		tick := events.Tick{Source: events.KindSchedule, Time: time.Now(), ID: "id", Attempt: 1}
		res, err := singleton.Do(ctx, w.locks, spec, tick, w.s.work)
		if res.Outcome != singleton.OutOfTime || err == nil || w.closes("due-2") == nil || w.closes("due-3") != nil {
			t.Errorf("%+v, %v; due-2 closed by %v, due-3 by %v", res, err, w.closes("due-2"), w.closes("due-3"))
		}
	})
}

func TestAMissingTableIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.s.table.name = "nowhere"
		_, err := w.run()
		if err == nil || !strings.Contains(err.Error(), `table "nowhere" (SOLOTICK_ORDERS_TABLE)`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAMissingLockTableIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		locks, err := lockkit.New(w.db.Client(), "nowhere")
		if err != nil {
			t.Fatal(err)
		}
		w.locks = locks
		res, err := w.run()
		if err == nil || res.Outcome != singleton.Blocked || !strings.Contains(err.Error(), `"nowhere"`) {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
