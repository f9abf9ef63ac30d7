package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
)

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

// The work on the third order ends half a second after the time for it: it is
// left as it is for the next run, like those after it.
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
		if res.Outcome != singleton.OutOfTime || err == nil || w.closes("due-1") == nil || w.closes("due-2") != nil || w.closes("due-3") != nil {
			t.Errorf("%+v, %v; due-1 closed by %v, due-2 by %v, due-3 by %v", res, err, w.closes("due-1"), w.closes("due-2"), w.closes("due-3"))
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
