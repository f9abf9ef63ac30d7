package singleton

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/pause"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// ask leaves a request for the holder that was seen on its item: one conditional
// write that changes nothing of what the lock itself lives by, above all not the
// record version, which would look like a sign of life. It returns the item that
// refused it, nil when it was applied. An answer that is lost shows as a refusal
// by the write's own success.
func (a *attempt) ask(ctx context.Context, s lockkit.Sighting, add lockkit.Addition) (refused lockkit.Item, err error) {
	key, err := a.locks.Key(a.spec.Name)
	if err != nil {
		return nil, err
	}
	condition := "#owner = :owner AND #fence = :token AND " + add.Condition
	update := "SET " + add.Set[0]
	add.Names["#owner"], add.Names["#fence"] = lockkit.AttrOwner, lockkit.AttrFence
	add.Values[":owner"], add.Values[":token"] = wire.String(s.Owner), wire.Number(s.Token)
	in := &dynamodb.UpdateItemInput{
		TableName: aws.String(a.locks.Table()), Key: key,
		UpdateExpression: &update, ConditionExpression: &condition,
		ExpressionAttributeNames: add.Names, ExpressionAttributeValues: add.Values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	for try := 1; ; try++ {
		err := a.once(ctx, in, min(s.Lease/3, maxAsk))
		if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
			if failed.Item == nil { // an endpoint that leaves it out: the next look tells
				return lockkit.Item{}, nil
			}
			return failed.Item, nil
		}
		if err == nil || try == maxAsks || ctx.Err() != nil {
			return nil, err
		}
		if !pause.For(ctx, time.Duration(try)*50*time.Millisecond) {
			return nil, err
		}
	}
}

const (
	maxAsk  = 3 * time.Second // of one try
	maxAsks = 4
)

func (a *attempt) once(ctx context.Context, in *dynamodb.UpdateItemInput, bound time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	a.sent.Add(1)
	_, err := a.locks.Client().UpdateItem(ctx, in, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	return err
}
