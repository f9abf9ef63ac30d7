package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	watchSort = "watched" // after every time
	attrSince = "since"   // N, Unix ms
)

// WatchedSince returns since when a job has been looked after, which is now when
// nobody has asked before. A job that was deployed yesterday is not late because
// it has never run. The time is kept for ever, in an item of its own.
func (s *Store) WatchedSince(ctx context.Context, job string) (time.Time, error) {
	now := time.Now().Truncate(time.Millisecond)
	item := s.key(job, watchSort)
	item[attrKind] = text(watchSort)
	item[attrSince] = &types.AttributeValueMemberN{Value: strconv.FormatInt(now.UnixMilli(), 10)}
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(s.table), Item: item,
		ConditionExpression:      aws.String("attribute_not_exists(#pk)"),
		ExpressionAttributeNames: map[string]string{"#pk": s.partition},
		// The refusal brings the item along, so that no permission to read is needed.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	refused, there := errors.AsType[*types.ConditionalCheckFailedException](err)
	if err == nil {
		return now, nil
	}
	if !there {
		return time.Time{}, fmt.Errorf("history: note in table %q that job %q is watched: %w", s.table, job, err)
	}
	n, _ := refused.Item[attrSince].(*types.AttributeValueMemberN)
	if n == nil {
		return time.Time{}, fmt.Errorf("history: item RUN#%s %s of table %q has no number %s: delete the item", job, watchSort, s.table, attrSince)
	}
	ms, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("history: attribute %s of item RUN#%s %s of table %q is %s, expected Unix milliseconds: delete the item", attrSince, job, watchSort, s.table, n.Value)
	}
	return time.UnixMilli(ms), nil
}
