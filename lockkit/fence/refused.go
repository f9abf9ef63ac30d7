package fence

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Refused tells why a guarded UpdateItem or PutItem was refused: it returns a
// [StaleError] if the item shows a higher token, and otherwise err as it is, so
// that DynamoDB's ConditionalCheckFailedException means the caller's own
// condition. If both failed, the write is stale. nil stays nil.
//
// It judges by the item that DynamoDB returns with a refusal. With an endpoint
// that leaves it out, a stale write looks like one that the caller's own
// condition refused.
func (i Item) Refused(err error) error {
	refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return err
	}
	return i.judge(err, refused.Item)
}

// RefusedAt is [Item.Refused] for a transaction. action is the index of the
// guarded write in it; in a transaction that a lease sends, the caller's begin
// at 1. An index that it does not have leaves err as it is.
func (i Item) RefusedAt(err error, action int) error {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || action < 0 || action >= len(cancelled.CancellationReasons) {
		return err
	}
	reason := cancelled.CancellationReasons[action]
	if aws.ToString(reason.Code) != "ConditionalCheckFailed" {
		return err
	}
	return i.judge(err, reason.Item)
}

// judge compares the token with the mark of the item as it was found.
func (i Item) judge(err error, found attributes) error {
	v, ok := found[i.attribute()]
	if !ok {
		return err // no mark that could refuse
	}
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return i.broken(err, show(v))
	}
	highest, parseErr := strconv.ParseInt(n.Value, 10, 64)
	if parseErr != nil {
		return i.broken(err, show(v))
	}
	if highest <= i.Token {
		return err
	}
	return &StaleError{Resource: i.Resource, Token: i.Token, Highest: highest}
}

// broken explains a mark that no guard has written.
func (i Item) broken(err error, what string) error {
	return fmt.Errorf("fence: attribute %q of %q is %s, expected a mark, a whole number from 1 to %d: correct or remove it, until then writes are refused: %w", i.attribute(), i.Resource, what, int64(math.MaxInt64), err)
}
