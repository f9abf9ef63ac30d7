package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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

func TestRefusal(t *testing.T) {
	other := errors.New("no connection")
	cancelled := func(codes ...string) error {
		err := &types.TransactionCanceledException{}
		for _, code := range codes {
			err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return err
	}
	const none, refused = "None", "ConditionalCheckFailed"
	strange := cancelled(none, "ItemCollectionSizeLimitExceeded")
	short := cancelled(refused)
	for name, test := range map[string]struct{ err, want error }{
		"success":                   {nil, nil},
		"another error":             {other, other},
		"lease lost":                {cancelled(refused, none), lockkit.ErrLeaseLost},
		"lease lost and not placed": {cancelled(refused, refused), lockkit.ErrLeaseLost},
		"not placed":                {cancelled(none, refused), errNotPlaced},
		"conflict on the lock":      {cancelled("TransactionConflict", none), errBusy},
		"conflict on the order":     {cancelled(none, "TransactionConflict"), errBusy},
		"throttled":                 {cancelled(none, "ThrottlingError"), errBusy},
		"out of capacity":           {cancelled("ProvisionedThroughputExceeded", none), errBusy},
		"another reason":            {strange, strange},
		"another transaction":       {short, short},
	} {
		if got := refusal(test.err); !errors.Is(got, test.want) {
			t.Errorf("%s: %v, expected %v", name, got, test.want)
		}
	}
}
