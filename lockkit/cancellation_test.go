package lockkit_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

func cancelledFor(codes ...string) error {
	err := &types.TransactionCanceledException{}
	for _, code := range codes {
		err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
	}
	return err
}

func TestWhyCancelled(t *testing.T) {
	const none, refused, conflict, throttled = "None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError"
	for _, c := range []struct {
		err   error
		check int
		want  lockkit.Cancellation
	}{
		{nil, 0, lockkit.NotCancelled},
		{errors.New("no connection"), 0, lockkit.NotCancelled},
		{&types.TransactionInProgressException{}, 0, lockkit.NotCancelled},
		{cancelledFor(refused, none), 0, lockkit.CancelledLeaseLost},
		{fmt.Errorf("close order 5: %w", cancelledFor(refused, none)), 0, lockkit.CancelledLeaseLost},
		{cancelledFor(none, none, refused), 2, lockkit.CancelledLeaseLost},
		{cancelledFor(refused, refused), 1, lockkit.CancelledLeaseLost},
		{cancelledFor(refused, conflict, throttled, "ValidationError"), 0, lockkit.CancelledLeaseLost},
		{cancelledFor(none, refused), 0, lockkit.CancelledByCondition},
		{cancelledFor(refused, none), 1, lockkit.CancelledByCondition},
		{cancelledFor(conflict, refused), 0, lockkit.CancelledByCondition},
		{cancelledFor(refused, none), -1, lockkit.CancelledByCondition},
		{cancelledFor(refused, none), 7, lockkit.CancelledByCondition},
		{cancelledFor(conflict, none), 0, lockkit.CancelledByConflict},
		{cancelledFor(none, conflict), 0, lockkit.CancelledByConflict},
		{cancelledFor(none, throttled), 0, lockkit.CancelledByThrottling},
		{cancelledFor(none, "ProvisionedThroughputExceeded"), 0, lockkit.CancelledByThrottling},
		{cancelledFor(conflict, throttled), 0, lockkit.CancelledByThrottling},
		{cancelledFor(none, "ItemCollectionSizeLimitExceeded"), 0, lockkit.CancelledOther},
		{cancelledFor(conflict, "ValidationError"), 0, lockkit.CancelledOther},
		{cancelledFor(none, refused, "ValidationError"), 0, lockkit.CancelledByCondition},
		{cancelledFor(), 0, lockkit.CancelledOther},
		{cancelledFor(none, none), 0, lockkit.CancelledOther},
		{&types.TransactionCanceledException{CancellationReasons: make([]types.CancellationReason, 2)}, 0, lockkit.CancelledOther},
	} {
		if got := lockkit.WhyCancelled(c.err, c.check); got != c.want {
			t.Errorf("%v, check at %d: %s, want %s", c.err, c.check, got, c.want)
		}
	}
}

func TestCancellationsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for c := lockkit.NotCancelled; c <= lockkit.CancelledByConflict; c++ {
		if s := c.String(); s == "" || seen[s] {
			t.Errorf("cancellation %d is %q", int(c), s)
		} else {
			seen[s] = true
		}
	}
	for _, c := range []lockkit.Cancellation{-1, lockkit.CancelledByConflict + 1} {
		if want := "cancellation(" + strconv.Itoa(int(c)) + ")"; c.String() != want {
			t.Errorf("%q, want %q", c, want)
		}
	}
}

// The held check may stand anywhere in a transaction of the caller's own.
func TestWhyCancelledAtTheEndpoint(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		own := count()
		own.Update.ConditionExpression = aws.String("attribute_not_exists(#n)")
		send := func() lockkit.Cancellation {
			_, err := w.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{own, l.ConditionCheck()}})
			return lockkit.WhyCancelled(err, 1)
		}
		if got := send(); got != lockkit.NotCancelled || w.counted() != "1" {
			t.Errorf("held: %s, counted %s", got, w.counted())
		}
		if got := send(); got != lockkit.CancelledByCondition {
			t.Errorf("a second time: %s", got)
		}
		remove := w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultConflict, Count: -1})
		if got := send(); got != lockkit.CancelledByConflict {
			t.Errorf("a conflict: %s", got)
		}
		remove()
		w.release(l)
		if got := send(); got != lockkit.CancelledLeaseLost {
			t.Errorf("released: %s", got)
		}
	})
}
