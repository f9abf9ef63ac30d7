package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

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

func TestConflictsAreTriedAgainWithinTheRunsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 1, dueAfter+time.Minute)
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultConflict, Count: 20})
		if res, err := w.run(); err != nil || len(w.closes("due-0")) != 1 {
			t.Fatalf("%+v, %v, closed by %v", res, err, w.closes("due-0"))
		}
		w.place("next", 1, dueAfter+time.Minute)
		time.Sleep(time.Minute)
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultConflict, Count: -1})
		res, err := w.run()
		if res.Outcome != singleton.OutOfTime || lockkit.WhyCancelled(err, 0) != lockkit.CancelledByConflict || w.closes("next-0") != nil || !strings.Contains(err.Error(), "next-0") {
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

// While an answer was lost somebody else confirmed the order: it is dealt with.
func TestAnOrderThatChangedAfterALostAnswerIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 2, dueAfter+time.Minute)
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultFailBefore, Match: func(locktest.FaultRequest) bool {
			time.AfterFunc(time.Millisecond, func() { w.set("due-0", "confirmed") })
			return true
		}})
		if res, err := w.run(); err != nil || res.Outcome != singleton.Completed {
			t.Errorf("%+v, %v", res, err)
		}
		w.wantLog("counts.closed=1 counts.skipped=1")
	})
}

func TestAnOutcomeThatStaysUnknownIsNoClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 1, dueAfter+time.Minute)
		w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultDropAnswer, Count: -1})
		res, err := w.run()
		if res.Outcome != singleton.OutOfTime || !errors.Is(err, lockkit.ErrUnknownOutcome) || len(w.closes("due-0")) != 1 {
			t.Errorf("%+v, %v, closed by %v", res, err, w.closes("due-0"))
		}
		w.wantLog("counts.closed=0 counts.skipped=0")
	})
}
