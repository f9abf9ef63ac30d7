package lockkit

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Cancellation is why DynamoDB cancelled a transaction, as far as its sender must
// act on it. Nothing of a cancelled transaction was applied.
type Cancellation int

// The reasons for a cancellation. Where one transaction has several, the first of
// this order counts, because it says most about whether to go on.
const (
	// NotCancelled says that the error is no cancelled transaction: there was
	// none, or a failure that says nothing about the transaction.
	NotCancelled Cancellation = iota
	// CancelledLeaseLost says that the held check failed: the lock is not this
	// lease's any more. Stop the work; no later write of it can succeed.
	CancelledLeaseLost
	// CancelledByCondition says that a condition of your own failed.
	CancelledByCondition
	// CancelledOther says that something will not pass by itself, such as an
	// expression that does not fit the item. The error has DynamoDB's words for it.
	CancelledOther
	// CancelledByThrottling says that the table or its partition was asked for too
	// much: try again later, and not at once.
	CancelledByThrottling
	// CancelledByConflict says that another write was under way on one of the
	// items: try again.
	CancelledByConflict
)

// String returns the reason in a few words of lower case.
func (c Cancellation) String() string {
	names := [...]string{"not cancelled", "lease lost", "condition", "other", "throttling", "conflict"}
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("cancellation(%d)", int(c))
	}
	return names[c]
}

// WhyCancelled tells from the error of a TransactWriteItems why DynamoDB cancelled
// it. check is the place of [Lease.ConditionCheck] among the transaction's items,
// counted from 0; in the errors of [Lease.Write] and [Lease.Transact] it is 0. A
// place that the transaction does not have, such as -1, stands for a transaction
// without a held check. err may be wrapped or nil.
//
// A lease that turned out to be lost before anything was sent is no cancelled
// transaction: errors of Write and Transact are to be asked for [ErrLeaseLost].
func WhyCancelled(err error, check int) Cancellation {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return NotCancelled
	}
	why := NotCancelled
	for i, r := range cancelled.CancellationReasons {
		c := whyAction(aws.ToString(r.Code))
		if c == CancelledByCondition && i == check {
			c = CancelledLeaseLost
		}
		if c != NotCancelled && (why == NotCancelled || c < why) {
			why = c
		}
	}
	if why == NotCancelled {
		return CancelledOther // an endpoint that gives no reasons
	}
	return why
}

// whyAction is the part that one action had in a cancellation.
func whyAction(code string) Cancellation {
	switch code {
	case "", "None":
		return NotCancelled
	case "ConditionalCheckFailed":
		return CancelledByCondition
	case "TransactionConflict":
		return CancelledByConflict
	case "ThrottlingError", "ProvisionedThroughputExceeded":
		return CancelledByThrottling
	default:
		return CancelledOther
	}
}
