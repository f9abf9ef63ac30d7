package singleton_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/control"
)

// TestItemStaysUnderOneKilobyte takes the longest of everything that the
// documented bound covers: a crashed run before a failed one, the records at
// their bound, and every control of an operator at once.
func TestItemStaysUnderOneKilobyte(t *testing.T) {
	inWorld(t, func(w *world) {
		j := spec
		j.Name = strings.Repeat("n", 64)
		label := strings.Repeat("h", 64)
		ctx := lambdacontext.NewContext(w.Context(), &lambdacontext.LambdaContext{AwsRequestID: "6f0ad0e7-7c44-4bfa-9e5f-2b8f5b3f6a01"})
		key := map[string]types.AttributeValue{"pk": s("LOCK#" + j.Name), "sk": s("LOCK")}
		most := 0
		measure := func() {
			it := w.db.Item(table, key)
			delete(it, "run")
			delete(it, "prev")
			ms := n(time.Now().UnixMilli())
			it["tick"], it["pending"], it["step"] = ms, ms, n(1_000_000_000)
			it["paused"] = m(lockkit.Item{"id": s(strings.Repeat("i", 16)), "by": s(strings.Repeat("b", control.MaxBy)), "at": ms, "why": s(strings.Repeat("w", control.MaxNote)), "until": ms})
			it["stop"] = m(lockkit.Item{"token": it["fence"], "by": s(strings.Repeat("b", control.MaxBy))})
			most = max(most, size(it)+400)
		}
		for i := range 3 {
			res, _ := singleton.Do(ctx, w.process(label).locks, j, w.scheduled(time.Duration(i)*time.Second), func(context.Context, *singleton.Run) error {
				measure()
				if i == 0 {
					return nil
				}
				return errors.New(strings.Repeat("🙂", 100))
			})
			if i > 0 && res.Outcome != singleton.Failed {
				t.Fatalf("%+v", res)
			}
			measure()
		}
		if most > 1024 || most < 900 {
			t.Errorf("the item has up to %d bytes", most)
		}
		t.Logf("at most %d bytes", most)
		// Each KB that was begun is a write unit; a cursor comes on top.
		for cursor, units := range map[int]int{512: 2, 4096: 5} {
			with := most + size(lockkit.Item{"cursor": m(lockkit.Item{"tick": n(time.Now().UnixMilli()), "data": s(strings.Repeat("c", cursor))})})
			if got := (with + 1023) / 1024; got != units {
				t.Errorf("with a cursor of %d bytes it has %d, %d units, want %d", cursor, with, got, units)
			}
		}
	})
}

// size counts an item as DynamoDB bills it.
func size(it lockkit.Item) int {
	sum := 0
	for name, v := range it {
		sum += len(name) + valueSize(v)
	}
	return sum
}

func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return (len(v.Value)+1)/2 + 1
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + size(v.Value)
	default:
		return 1
	}
}

// TestTickOnAReleasedLockCostsTwoRequestsAndADuplicateOrAPausedOneOne counts what
// the schedule causes day by day: one write to know, and one to tell.
func TestTickOnAReleasedLockCostsTwoRequestsAndADuplicateOrAPausedOneOne(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		tick := func(after time.Duration, work singleton.Work, outcome singleton.Outcome, requests string) {
			w.Helper()
			w.db.ResetRequests()
			res, err := w.invoke(p, spec, w.scheduled(after), work)
			w.want(res, err, outcome)
			w.requests(requests)
			if res.Requests != len(requests) {
				t.Errorf("%q: %d requests in the result, want %d", outcome, res.Requests, len(requests))
			}
		}
		tick(0, does(0), singleton.Completed, "WW") // the first of all makes the item
		time.Sleep(time.Hour)
		tick(time.Hour, does(0), singleton.Completed, "WW")
		tick(time.Hour, mustNotRun(t), singleton.Duplicate, "w")
		if _, err := control.New(p.locks).Pause(w.Context(), spec.Name, control.Pause{By: "jane", Why: "the database moves"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		tick(2*time.Hour, mustNotRun(t), singleton.Paused, "w")
	})
}

func TestEachThirdOfALeaseWorkedCostsOneWrite(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), does(35*time.Second))
		w.want(res, err, singleton.Completed)
		w.requests("WWWWW") // acquire, renewals at 10, 20 and 30 s, release
		if res.Requests != 5 {
			t.Errorf("%+v", res)
		}
	})
}

func TestCheckpointAndCommitCostOneTransactionEach(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			for i := range 5 {
				if err := does(6*time.Second)(ctx, run); err != nil {
					return err
				}
				if err := run.Checkpoint(ctx, strconv.Itoa(i), add("page")); err != nil {
					return err
				}
			}
			return commits(ctx, run)
		})
		w.want(res, err, singleton.Completed)
		w.requests("WWWWWWWW") // acquire, 5 checkpoints that renew the lease as well, Commit, release
		if res.Requests != 8 {
			t.Errorf("%+v", res)
		}
	})
}

func TestDeadHolderCostsAFewReadsAndOneWriteMore(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		time.Sleep(time.Hour)
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if got := w.sent(); !strings.HasPrefix(got, "wR") || !strings.HasSuffix(got, "RWW") || len(got) > 7 || res.Requests != len(got) {
			t.Errorf("requests %s, %d in the result", got, res.Requests)
		}
	})
}

func TestEndpointThatLeavesTheItemOutOfRefusalsWorksToo(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultError, Code: "ConditionalCheckFailedException", Message: "The conditional request failed"})
		res, err := w.invoke(p, spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Duplicate)
	})
}
