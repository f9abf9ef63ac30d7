package lockkit_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// What a runner or an operator's tool needs to reach the same item.
func TestTableSaysHowItWasSetUp(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process(lockkit.WithTTL("expires", 0), lockkit.WithHolderLabel("pod-1"), lockkit.WithTakeoverDelay(time.Second))
		if locks.Client() != w.client || locks.TTLAttribute() != "expires" || locks.Table() != table || locks.HolderLabel() != "pod-1" || locks.TakeoverDelay() != time.Second {
			t.Errorf("%v, %q, %q, %q, %s", locks.Client(), locks.TTLAttribute(), locks.Table(), locks.HolderLabel(), locks.TakeoverDelay())
		}
		got, err := locks.Key(name)
		if err != nil || !reflect.DeepEqual(got, key()) {
			t.Fatalf("key %v, %v", got, err)
		}
		for _, v := range got { // it is the caller's
			v.(*types.AttributeValueMemberS).Value = "scribbled"
		}
		l := w.acquire(locks)
		if w.item() == nil {
			t.Error("the lock's key is not its own")
		}
		w.release(l)
		if _, err := locks.Key(""); err == nil {
			t.Error("a key for no name")
		}
		plain, err := lockkit.New(w.client, table, lockkit.WithKeys("id", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := plain.Key(name); err != nil || len(got) != 1 || plain.TTLAttribute() != "" {
			t.Errorf("without a sort key: %v, %v, TTL %q", got, err, plain.TTLAttribute())
		}
	})
}

func TestNameOfATableHasTheFormThatDynamoDBTakes(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, good := range []string{
			"abc", "My_table.v-2", strings.Repeat("t", 255), "arn:aws:dynamodb:eu-central-1:123456789012:table/locks",
			"arn:aws-us-gov:dynamodb:us-gov-west-1:123456789012:table/" + strings.Repeat("t", 255),
		} {
			if _, err := lockkit.New(w.client, good); err != nil {
				w.t.Errorf("%q: %v", good, err)
			}
		}
		for _, bad := range []string{
			"ab", strings.Repeat("t", 256), "a table", "täble", "a/b/c", "arn:", "arn:aws:dynamodb:eu-central-1:123456789012:table/",
			"arn::table/locks/index/x", "arn:table/locks", "arn:aws:dynamodb:eu-central-1:123456789012:stream/locks",
		} {
			if _, err := lockkit.New(w.client, bad); err == nil || !strings.Contains(err.Error(), "expected 3 to 255 letters") {
				w.t.Errorf("%q: %v", bad, err)
			}
		}
	})
}

func TestStateOnANetworkThatSwallowsRequests(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Kind: locktest.FaultBlackHole, Count: -1})
		var err error
		took := elapsed(func() { _, err = w.process().State(w.t.Context(), name) })
		if took < 20*time.Second || took > 21*time.Second || !strings.Contains(err.Error(), "no answer in time") {
			w.t.Errorf("after %s: %v, want the end of the fourth try of 5s", took, err)
		}
	})
}
