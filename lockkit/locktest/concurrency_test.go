package locktest_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit/locktest"
)

func TestOneOfManyConditionalCreatesWins(t *testing.T) {
	db, client := newTable(t)
	const contenders, rounds = 16, 20
	for round := range rounds {
		it := pk(fmt.Sprint(round))
		var won, refused atomic.Int32
		var all sync.WaitGroup
		for range contenders {
			all.Go(func() {
				_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: it, ConditionExpression: text("attribute_not_exists(pk)")})
				switch code, _ := codeAndMessage(t, err); code {
				case "":
					won.Add(1)
				case "ConditionalCheckFailedException":
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || refused.Load() != contenders-1 {
			t.Fatalf("%d won, %d were refused", won.Load(), refused.Load())
		}
	}
	applied := 0
	for _, r := range db.Requests() {
		if r.Applied {
			applied++
		}
	}
	if applied != rounds {
		t.Errorf("the log has %d applied of %d", applied, rounds)
	}
}

func TestNoIncrementIsLost(t *testing.T) {
	db, client := newTable(t)
	remove := db.Inject(locktest.Fault{Operation: "Query", Count: -1})
	defer remove()
	const workers, each = 8, 20
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				if err := transact(t, client, "", addAction("n", "1")); err != nil {
					t.Error(err)
				}
				db.Requests()
				db.Item(table, pk("n"))
			}
		})
	}
	all.Wait()
	if got := showValue(db.Item(table, pk("n"))["n"]); got != fmt.Sprint(workers*each) {
		t.Errorf("n = %s", got)
	}
}
