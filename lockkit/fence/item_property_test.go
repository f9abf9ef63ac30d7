package fence_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/fence"
	"github.com/solotick/solotick/lockkit/locktest"
)

// itemWrite is a guarded write of a plan, in one of the ways to make one.
type itemWrite struct {
	token int64
	at    time.Duration
	way   int
}

// send makes the write; its content names its token.
func (w itemWrite) send(ctx context.Context, client *dynamodb.Client) error {
	guard := fence.Item{Resource: "report", Token: w.token}
	by := num(w.token)
	item := attributes{"pk": str("REPORT#1"), "by": by}
	set, values := aws.String("SET #b = :b"), attributes{":b": by}
	names := map[string]string{"#b": "by"} // BY is reserved
	transact := func(action types.TransactWriteItem, err error) error {
		if err != nil {
			return err
		}
		_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{action}})
		return guard.RefusedAt(err, 0)
	}
	switch w.way {
	case 0:
		in, err := guard.Put(&dynamodb.PutItemInput{TableName: aws.String(shop), Item: item})
		if err != nil {
			return err
		}
		_, err = client.PutItem(ctx, in)
		return guard.Refused(err)
	case 1:
		in, err := guard.Update(&dynamodb.UpdateItemInput{TableName: aws.String(shop), Key: reportKey(), UpdateExpression: set, ExpressionAttributeNames: names, ExpressionAttributeValues: values})
		if err != nil {
			return err
		}
		_, err = client.UpdateItem(ctx, in)
		return guard.Refused(err)
	case 2:
		return transact(guard.TransactPut(types.Put{TableName: aws.String(shop), Item: item}))
	default:
		return transact(guard.TransactUpdate(types.Update{TableName: aws.String(shop), Key: reportKey(), UpdateExpression: set, ExpressionAttributeNames: names, ExpressionAttributeValues: values}))
	}
}

// shown returns the mark of the item, after checking that the content is of the
// same holder; 0 before the first write.
func shown(db *locktest.DB) (mark int64, fault string) {
	item := db.Item(shop, reportKey())
	if item == nil {
		return 0, ""
	}
	if !reflect.DeepEqual(item["by"], item["fence"]) {
		return 0, fmt.Sprintf("content and mark are of two holders: %v", item)
	}
	mark, err := strconv.ParseInt(item["fence"].(*types.AttributeValueMemberN).Value, 10, 64)
	if err != nil {
		return 0, err.Error()
	}
	return mark, ""
}

// Writes of several holders in any order, over a network that loses answers and
// delivers requests late: the mark never goes back, the content is always that
// of the mark's holder, and what was answered is true.
func TestGuaranteeItemKeepsTheHighest(t *testing.T) {
	ms := func(t *rapid.T, name string) time.Duration {
		return time.Duration(rapid.IntRange(0, 40).Draw(t, name)) * time.Millisecond
	}
	plans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) itemWrite {
		return itemWrite{token: tokens().Draw(t, "token"), at: ms(t, "at"), way: rapid.IntRange(0, 3).Draw(t, "way")}
	}), 1, 12)
	kinds := []locktest.FaultKind{locktest.FaultDropAnswer, locktest.FaultFailBefore, locktest.FaultLate}
	faults := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) locktest.Fault {
		return locktest.Fault{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Skip: rapid.IntRange(0, 10).Draw(t, "skip"),
			Count: rapid.IntRange(1, 3).Draw(t, "count"), Wait: ms(t, "wait"),
		}
	}), 0, 4)
	rapid.Check(t, func(rt *rapid.T) {
		plan, disturb := plans.Draw(rt, "plan"), faults.Draw(rt, "faults")
		var l ledger
		synctest.Test(t, func(t *testing.T) {
			db, client := newTable(t)
			for _, f := range disturb {
				db.Inject(f)
			}
			var all sync.WaitGroup
			for _, w := range plan {
				all.Go(func() {
					time.Sleep(w.at)
					err := w.send(t.Context(), client)
					mark, fault := shown(db)
					stale, isStale := errors.AsType[*fence.StaleError](err)
					switch {
					case fault != "":
						l.fault("%s", fault)
					case err == nil && mark < w.token:
						l.fault("token %d landed, and the mark is %d", w.token, mark)
					case isStale && (stale.Token != w.token || stale.Highest <= w.token || mark < stale.Highest):
						l.fault("%v, and the mark is %d", stale, mark)
					}
				})
			}
			for highest, i := int64(0), 0; i < 100; i++ { // late requests arrive within 80 ms
				mark, fault := shown(db)
				if fault != "" || mark < highest {
					l.fault("the mark went from %d to %d %s", highest, mark, fault)
				}
				highest = mark
				time.Sleep(time.Millisecond)
			}
			all.Wait()
			top := int64(0)
			for _, w := range plan {
				top = max(top, w.token)
			}
			if mark, _ := shown(db); len(disturb) == 0 && mark != top {
				l.fault("the mark is %d in the end, expected %d", mark, top)
			}
		})
		for _, fault := range l.faults {
			rt.Error(fault)
		}
	})
}
