//go:build integration

package integration

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// count is an action that raises a counter: applied twice, it shows.
func count(table, name string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &table, Key: counterKey(name),
		UpdateExpression:          aws.String("ADD #n :one"),
		ExpressionAttributeNames:  map[string]string{"#n": "n"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	}}
}

func counterKey(name string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "counter"}, "sk": &types.AttributeValueMemberS{Value: name}}
}

func counted(t *testing.T, url, table, name string) int {
	t.Helper()
	out, err := plainClient(url, nil).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: counterKey(name), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	v, ok := out.Item["n"].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(v.Value)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A connection that breaks at any point of a request costs a try, and never a
// lock, a renewal, a release or a transaction.
func TestACutConnectionCostsATry(t *testing.T) {
	url := endpoint(t)
	table := newTable(t, url)
	for _, h := range []harm{cutBefore, cutAfter, resetAfter, cutInHead, cutInBody, split, swallow, failed} {
		t.Run(h.String(), func(t *testing.T) {
			t.Parallel()
			w := newWire(t, url)
			w.gap = 20 * time.Millisecond
			locks, name := process(t, plainClient(w.url, nil), table), h.String()

			w.next("UpdateItem", h)
			l, _, _ := acquire(t, locks, name, 3*lease)
			if st := state(t, url, table, name); !st.Held || st.Token != l.Token() || l.Err() != nil {
				t.Errorf("acquired token %d, %v, and the lock says %+v", l.Token(), l.Err(), st)
			}

			w.next("TransactWriteItems", h)
			if err := l.Transact(t.Context(), count(table, name)); err != nil {
				t.Errorf("transact: %v", err)
			}
			if got := counted(t, url, table, name); got != 1 {
				t.Errorf("the transaction was applied %d times", got)
			}

			version := state(t, url, table, name).Version
			w.next("UpdateItem", h) // the heartbeat's
			time.Sleep(4 * lease)
			if st := state(t, url, table, name); l.Err() != nil || st.Version == version {
				t.Errorf("renewals: %v, and the lock says %+v", l.Err(), st)
			}

			w.next("UpdateItem", h)
			release(t, l)
			if st := state(t, url, table, name); st.Held || st.Token != l.Token() {
				t.Errorf("released token %d, and the lock says %+v", l.Token(), st)
			}
		})
	}
}
