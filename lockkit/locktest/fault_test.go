package locktest_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
)

var faultKey = attrs{"pk": str("k")}

func put(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: text(table), Item: faultKey})
	return err
}

// lost reports whether an error is that of a lost connection.
func lost(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

func TestFaults(t *testing.T) {
	tests := []struct {
		name    string
		fault   locktest.Fault
		timeout time.Duration // of the request; 0: none
		check   func(err error) bool
		applied bool          // once the request has ended
		takes   time.Duration // virtual
	}{
		{"none", locktest.Fault{}, 0, func(err error) bool { return err == nil }, true, 0},
		{"fail before", locktest.Fault{Kind: locktest.FaultFailBefore}, 0, func(err error) bool {
			var e *types.InternalServerError
			return errors.As(err, &e)
		}, false, 0},
		{"drop answer", locktest.Fault{Kind: locktest.FaultDropAnswer}, 0, lost, true, 0},
		{"drop answer after a while", locktest.Fault{Kind: locktest.FaultDropAnswer, Wait: time.Second}, 0, lost, true, time.Second},
		{"delay", locktest.Fault{Kind: locktest.FaultDelay, Wait: time.Hour}, 0, func(err error) bool { return err == nil }, true, time.Hour},
		{"delay, given up", locktest.Fault{Kind: locktest.FaultDelay, Wait: time.Hour}, time.Minute, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, false, time.Minute},
		{"delay answer", locktest.Fault{Kind: locktest.FaultDelayAnswer, Wait: time.Hour}, 0, func(err error) bool { return err == nil }, true, time.Hour},
		{"delay answer, given up", locktest.Fault{Kind: locktest.FaultDelayAnswer, Wait: time.Hour}, time.Minute, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, true, time.Minute},
		{"late", locktest.Fault{Kind: locktest.FaultLate, Wait: time.Hour}, 0, lost, false, 0},
		{"black hole", locktest.Fault{Kind: locktest.FaultBlackHole}, time.Minute, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, false, time.Minute},
		{"throttle", locktest.Fault{Kind: locktest.FaultThrottle}, 0, func(err error) bool {
			var e *types.ProvisionedThroughputExceededException
			return errors.As(err, &e)
		}, false, 0},
		{"throttle by another code", locktest.Fault{Kind: locktest.FaultThrottle, Code: "ThrottlingException"}, 0, func(err error) bool {
			var e *types.ThrottlingException
			return errors.As(err, &e)
		}, false, 0},
		{"conflict", locktest.Fault{Kind: locktest.FaultConflict}, 0, func(err error) bool {
			var e *types.TransactionConflictException
			return errors.As(err, &e)
		}, false, 0},
		{"error", locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException", Message: "no", Status: 400}, 0, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "api error AccessDeniedException: no")
		}, false, 0},
		{"error by default", locktest.Fault{Kind: locktest.FaultError}, 0, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "StatusCode: 500")
		}, false, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db, client := newTable(t)
				db.Inject(test.fault)
				ctx := t.Context()
				if test.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.timeout)
					defer cancel()
				}
				start := time.Now()
				err := put(ctx, client)
				if !test.check(err) {
					t.Errorf("unexpected error %v", err)
				}
				if took := time.Since(start); took != test.takes {
					t.Errorf("took %s, want %s", took, test.takes)
				}
				if applied := db.Item(table, faultKey) != nil; applied != test.applied {
					t.Errorf("applied = %t, want %t", applied, test.applied)
				}
				requests := db.Requests()
				if len(requests) != 1 || requests[0].Fault != test.fault.Kind || requests[0].Applied != test.applied {
					t.Errorf("log = %+v", requests)
				}
				if test.applied && !requests[0].At.Equal(start) {
					t.Errorf("the log has %s, sent at %s", requests[0].At, start)
				}
				if err := put(t.Context(), client); err != nil { // one hit is the default
					t.Errorf("the request after: %v", err)
				}
			})
		})
	}
}

func TestLateIsAppliedAfterTheWaitWhateverTheSenderDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, client := newTable(t)
		db.Inject(locktest.Fault{Kind: locktest.FaultLate, Wait: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		if err := put(ctx, client); !lost(err) {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		if db.Item(table, faultKey) != nil || db.Requests()[0].Applied {
			t.Error("applied before its time")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if db.Item(table, faultKey) == nil || !db.Requests()[0].Applied {
			t.Error("not applied at its time")
		}
	})
}

func TestFaultSelection(t *testing.T) {
	db, client := newTable(t)
	if err := locktest.CreateTable(t.Context(), client, "others", "pk", ""); err != nil {
		t.Fatal(err)
	}
	get := func(table string) error {
		_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: faultKey})
		return err
	}
	outcomes := func(calls ...func() error) string {
		var marks strings.Builder
		for _, call := range calls {
			if call() == nil {
				marks.WriteByte('.')
			} else {
				marks.WriteByte('x')
			}
		}
		return marks.String()
	}
	putIt := func() error { return put(t.Context(), client) }
	getIt := func() error { return get(table) }
	getOther := func() error { return get("others") }
	match := func(r locktest.FaultRequest) bool {
		return r.Operation == "GetItem" && r.Table == table && strings.Contains(string(r.Body), `"pk"`)
	}
	tests := []struct {
		name  string
		fault locktest.Fault
		want  string
	}{
		{"any", locktest.Fault{}, "x....."},
		{"operation", locktest.Fault{Operation: "GetItem"}, ".x...."},
		{"table", locktest.Fault{Table: "others"}, "..x..."},
		{"match", locktest.Fault{Match: match, Count: -1}, ".x..x."},
		{"skip", locktest.Fault{Operation: "GetItem", Skip: 2}, "....x."},
		{"count", locktest.Fault{Count: 2}, "xx...."},
		{"all", locktest.Fault{Count: -1}, "xxxxxx"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.fault.Kind = locktest.FaultFailBefore
			remove := db.Inject(test.fault)
			if got := outcomes(putIt, getIt, getOther, putIt, getIt, getOther); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			remove()
			remove()
			if got := outcomes(putIt, getIt); got != ".." {
				t.Errorf("after removal got %s", got)
			}
		})
	}
}

func TestOfSeveralFaultsTheFirstStrikes(t *testing.T) {
	db, client := newTable(t)
	db.Inject(locktest.Fault{Kind: locktest.FaultFailBefore, Skip: 1})
	db.Inject(locktest.Fault{Kind: locktest.FaultThrottle, Count: 2})
	var kinds []string
	for range 4 {
		_ = put(t.Context(), client)
	}
	for _, r := range db.Requests() {
		kinds = append(kinds, r.Fault.String())
	}
	if got := strings.Join(kinds, " "); got != "Throttle FailBefore Throttle None" {
		t.Errorf("got %s", got)
	}
}

func TestConflictCancelsATransaction(t *testing.T) {
	db, client := newTable(t)
	db.Inject(locktest.Fault{Kind: locktest.FaultConflict})
	other := attrs{"pk": str("other")}
	_, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: text(table), Item: faultKey}},
		{Put: &types.Put{TableName: text(table), Item: other}},
	}})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatal(err)
	}
	if r := canceled.CancellationReasons; len(r) != 2 || *r[0].Code != "TransactionConflict" || *r[1].Code != "None" {
		t.Errorf("reasons %+v", r)
	}
	if db.Item(table, faultKey) != nil || db.Item(table, other) != nil {
		t.Error("a cancelled transaction was applied")
	}
}

func TestTheClientRetriesInVirtualTime(t *testing.T) {
	outside := locktest.New() // made outside the bubble
	synctest.Test(t, func(t *testing.T) {
		client := outside.Client() // the SDK's own retries
		if err := locktest.CreateTable(t.Context(), client, table, "pk", ""); err != nil {
			t.Fatal(err)
		}
		outside.ResetRequests()
		outside.Inject(locktest.Fault{Kind: locktest.FaultDropAnswer, Count: 2})
		if err := put(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		requests := outside.Requests()
		if len(requests) != 3 {
			t.Fatalf("%d requests, want 3", len(requests))
		}
		for i, r := range requests {
			if r.Seq != i+1 || r.Operation != "PutItem" || r.Table != table || !r.Applied || r.Error != "" {
				t.Errorf("request %d is %+v", i, r)
			}
		}
	})
}

func TestARetriedTransactionIsAppliedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, _ := newTable(t)
		db.Inject(locktest.Fault{Kind: locktest.FaultDropAnswer})
		client := db.Client() // retries, each with the token that the SDK gave the first
		if err := transact(t, client, "", addAction("n", "1")); err != nil {
			t.Fatal(err)
		}
		if got := showValue(db.Item(table, pk("n"))["n"]); got != "1" {
			t.Errorf("n = %s", got)
		}
		if r := db.Requests(); len(r) != 2 || !r[0].Applied || r[1].Applied {
			t.Errorf("log %+v", r)
		}
	})
}
