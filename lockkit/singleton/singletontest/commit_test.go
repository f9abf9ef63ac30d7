package singletontest_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/singletontest"
)

func committing(ctx context.Context, _ *dynamodb.Client, run *singleton.Run) error {
	return run.Commit(ctx, types.TransactWriteItem{Update: sendUpdate(run)})
}

func TestAJobThatCommitsIsRightAtEveryPoint(t *testing.T) {
	t.Log(singletontest.CrashEverywhere(t, spec, billing(committing), sentOnce, singletontest.Setup(billsTable)))
}

// meter counts the hours of its interval, two at a time, each in the transaction
// that stores how far it has come.
func meter(yieldAfter int) singletontest.Program {
	return func(*singletontest.Process) singleton.Work {
		return func(ctx context.Context, run *singleton.Run) error {
			at, last := hourOf(run.Since), hourOf(run.Tick)
			if run.Cursor != "" {
				from, err := strconv.Atoi(run.Cursor)
				if err != nil {
					return err
				}
				at = max(at, from)
			}
			for page := 0; at < last; page++ {
				if page == yieldAfter {
					return run.Yield()
				}
				next := min(at+2, last)
				var items []types.TransactWriteItem
				for hour := at + 1; hour <= next; hour++ {
					items = append(items, countHour(hour))
				}
				if next == last {
					return run.Commit(ctx, items...)
				}
				if err := run.Checkpoint(ctx, strconv.Itoa(next), items...); err != nil {
					return err
				}
				at = next
			}
			return run.Commit(ctx)
		}
	}
}

func hourOf(t time.Time) int { return int(t.Unix() / 3600) }

func hourKey(hour int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": text("hour " + strconv.Itoa(hour))}
}

func countHour(hour int) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(bills), Key: hourKey(hour), UpdateExpression: aws.String("ADD counted :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": number(1)},
	}}
}

// hoursOnce is the check: the hours up to the last completed tick were counted
// once, and no later ones.
func hoursOnce(first time.Time) func(w *singletontest.World) error {
	return func(w *singletontest.World) error {
		last := hourOf(w.Completed(spec.Name))
		for hour := hourOf(first) - 2; hour < last+24; hour++ {
			counted, _ := w.DB.Item(bills, hourKey(hour))["counted"].(*types.AttributeValueMemberN)
			switch {
			case hour <= last && (counted == nil || counted.Value != "1"):
				return fmt.Errorf("hour %d was counted %v times, and hour %d is the last of the completed tick", hour, counted, last)
			case hour > last && counted != nil:
				return fmt.Errorf("hour %d was counted, and hour %d is the last of the completed tick", hour, last)
			}
		}
		return nil
	}
}

// Three hours at first, in two pages; the next tick has three more.
func TestAJobInPagesIsRightAtEveryPoint(t *testing.T) {
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	paged := spec
	paged.ExpectedInterval = 3 * time.Hour
	for name, yieldAfter := range map[string]int{"in one run": -1, "in as many runs as it has pages": 1} {
		t.Run(name, func(t *testing.T) {
			r := singletontest.CrashEverywhere(t, paged, meter(yieldAfter), hoursOnce(first), singletontest.Setup(billsTable),
				singletontest.Ticks(first, first.Add(3*time.Hour)))
			t.Log(r)
			if yieldAfter < 0 && len(r.Requests) != 4 || yieldAfter == 1 && len(r.Requests) != 6 {
				t.Errorf("%v", r.Requests)
			}
		})
	}
}
