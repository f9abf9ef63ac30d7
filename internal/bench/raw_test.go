//go:build bench

package bench

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

// raw is what somebody writes who uses the SDK alone and with care: an acquire
// and a release with the same conditions and attributes as lockkit's, their
// expressions as constants. Its calls use the client as it was made, with its
// standard retryer, and no timeouts; nothing is renewed and no loss is noticed.
type raw struct{ client *dynamodb.Client }

type attributes = map[string]types.AttributeValue

const (
	lockTable = "locks"
	lockName  = "nightly-report"
	lockLease = 30 * time.Second
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// acquire takes the lock and returns what release needs.
func (r raw) acquire(ctx context.Context, name string, lease time.Duration) (owner, version string, token int64, err error) {
	owner, version = rand.Text(), rand.Text()
	now := time.Now().UnixMilli()
	out, err := r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(lockTable),
		Key:                 attributes{"pk": text("LOCK#" + name), "sk": text("LOCK")},
		UpdateExpression:    aws.String(acquireUpdate),
		ConditionExpression: aws.String(acquireCondition),
		ExpressionAttributeNames: map[string]string{
			"#lkt": "_type", "#lko": "owner", "#lkv": "rvn", "#lkl": "leaseMs", "#lka": "at", "#lkf": "fence",
			"#lkh": "holder", "#lku": "until", "#lkr": "run", "#lkp": "pk",
		},
		ExpressionAttributeValues: attributes{
			":lkt": text("LOCK"), ":lko": text(owner), ":lkv": text(version), ":lkl": number(lease.Milliseconds()),
			":lka": &types.AttributeValueMemberM{Value: attributes{"owner": text(owner), "ms": number(now)}},
			":lkb": number(now), ":lk1": number(1), ":lkm": number(1<<63 - 1),
		},
		ReturnValues:                        types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err != nil {
		return "", "", 0, err
	}
	fence, ok := out.Attributes["fence"].(*types.AttributeValueMemberN)
	if !ok {
		return owner, version, now + 1, nil
	}
	if token, err = strconv.ParseInt(fence.Value, 10, 64); err != nil {
		return "", "", 0, fmt.Errorf("fence of %q: %w", name, err)
	}
	return owner, version, token + 1, nil
}

// release gives the lock back.
func (r raw) release(ctx context.Context, name, owner, version string, token int64) error {
	_, err := r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(lockTable),
		Key:                 attributes{"pk": text("LOCK#" + name), "sk": text("LOCK")},
		UpdateExpression:    aws.String(releaseUpdate),
		ConditionExpression: aws.String(releaseCondition),
		ExpressionAttributeNames: map[string]string{
			"#lko": "owner", "#lkf": "fence", "#lkv": "rvn", "#lkl": "leaseMs", "#lkh": "holder", "#lka": "at", "#lku": "until", "#lkr": "run",
		},
		ExpressionAttributeValues:           attributes{":lko": text(owner), ":lkf": number(token), ":lkc00": text(version)},
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
