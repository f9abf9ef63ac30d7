// Package raw is what somebody writes who uses the SDK alone and with care: an
// acquire and a release with the same conditions and attributes as lockkit's,
// their expressions as constants. The benchmark compares lockkit with it, and
// fails when the two do not send the same.
package raw

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Lock is a lock of a table with the keys pk and sk. Its calls use the client as
// it was made, with its standard retryer, and no timeouts; nothing is renewed and
// no loss is noticed.
type Lock struct {
	Client      *dynamodb.Client
	Table, Name string
	Lease       time.Duration
}

// Held is what Release needs of an acquired lock.
type Held struct {
	owner, version string
	token          int64
}

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Acquire takes the lock. A lock that is held, and every other failure, is the
// SDK's error; ctx ends the call.
func (l Lock) Acquire(ctx context.Context) (Held, error) {
	owner, version := rand.Text(), rand.Text()
	now := time.Now().UnixMilli()
	out, err := l.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(l.Table),
		Key:                 attributes{"pk": text("LOCK#" + l.Name), "sk": text("LOCK")},
		UpdateExpression:    aws.String(acquireUpdate),
		ConditionExpression: aws.String(acquireCondition),
		ExpressionAttributeNames: map[string]string{
			"#lkt": "_type", "#lko": "owner", "#lkv": "rvn", "#lkl": "leaseMs", "#lka": "at", "#lkf": "fence",
			"#lkh": "holder", "#lku": "until", "#lkr": "run", "#lkp": "pk",
		},
		ExpressionAttributeValues: attributes{
			":lkt": text("LOCK"), ":lko": text(owner), ":lkv": text(version), ":lkl": number(l.Lease.Milliseconds()),
			":lka": &types.AttributeValueMemberM{Value: attributes{"owner": text(owner), "ms": number(now)}},
			":lkb": number(now), ":lk1": number(1), ":lkm": number(1<<63 - 1),
		},
		ReturnValues:                        types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err != nil {
		return Held{}, err
	}
	fence, ok := out.Attributes["fence"].(*types.AttributeValueMemberN)
	if !ok {
		return Held{owner, version, now + 1}, nil
	}
	token, err := strconv.ParseInt(fence.Value, 10, 64)
	if err != nil {
		return Held{}, fmt.Errorf("fence of %q: %w", l.Name, err)
	}
	return Held{owner, version, token + 1}, nil
}

// Release gives the lock back. A lock that was lost, and every other failure, is
// the SDK's error; ctx ends the call.
func (l Lock) Release(ctx context.Context, h Held) error {
	_, err := l.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(l.Table),
		Key:                 attributes{"pk": text("LOCK#" + l.Name), "sk": text("LOCK")},
		UpdateExpression:    aws.String(releaseUpdate),
		ConditionExpression: aws.String(releaseCondition),
		ExpressionAttributeNames: map[string]string{
			"#lko": "owner", "#lkf": "fence", "#lkv": "rvn", "#lkl": "leaseMs", "#lkh": "holder", "#lka": "at", "#lku": "until", "#lkr": "run",
		},
		ExpressionAttributeValues:           attributes{":lko": text(h.owner), ":lkf": number(h.token), ":lkc00": text(h.version)},
		ReturnValues:                        types.ReturnValueNone,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

const (
	acquireUpdate = "SET #lkt = :lkt, #lko = :lko, #lkv = :lkv, #lkl = :lkl, #lka = :lka, " +
		"#lkf = if_not_exists(#lkf, :lkb) + :lk1 REMOVE #lkh, #lku, #lkr"
	acquireCondition = "attribute_not_exists(#lkp) OR #lkt = :lkt AND (attribute_not_exists(#lkf) OR #lkf < :lkm) AND attribute_not_exists(#lko)"
	releaseUpdate    = "REMOVE #lko, #lkl, #lkh, #lka, #lku, #lkr"
	releaseCondition = "#lko = :lko AND #lkf = :lkf AND #lkv IN (:lkc00)"
)
