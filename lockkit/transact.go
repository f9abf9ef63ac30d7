package lockkit

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Transact sends the items as one transaction whose first action renews the
// lease, with the extension's additions: all of it commits while this lease
// holds the lock, or nothing does. It goes through the lease's own lane, so it
// never collides with the heartbeat.
//
// While the outcome is unknown, the same body is sent again with the same request
// token, which DynamoDB applies once. A conflict with somebody else's transaction
// is tried again with a new body. Both go on until ctx or the lease ends; then
// the error matches [ErrUnknownOutcome], or is the conflict.
//
// The error is an [EndedError] when the lease is lost, the extension's own when
// it refused, and DynamoDB's TransactionCanceledException when one of the items'
// conditions failed; the items' reasons begin at index 1 there. The items must
// not be changed until Transact returns.
//
// It is made for runners: singleton's commit and checkpoint are extensions that
// send their writes with it. To only protect a write, use [Lease.Write].
func (l *Lease) Transact(ctx context.Context, items ...types.TransactWriteItem) error {
	if err := l.checkItems("transact on", items); err != nil {
		return err
	}
	return l.deliver(ctx, "transact on", renewing{l, items})
}

// renewing is a transaction that begins with a renewal.
type renewing struct {
	l     *Lease
	items []types.TransactWriteItem
}

func (r renewing) compose(now moment) (*body, error) {
	l := r.l
	l.mu.Lock()
	full := l.chain.full(maxCallChain)
	l.mu.Unlock()
	if full {
		return nil, fmt.Errorf("%d writes in a row had no answer: leave it to the heartbeat, or release the lease", maxCallChain)
	}
	b := &body{version: rand.Text(), sent: now, w: l.about(VerbTransact, now)}
	renewal, err := l.composeRenewal(b.version, now, b.w)
	if err != nil {
		return nil, err
	}
	own := types.TransactWriteItem{Update: &types.Update{
		TableName: renewal.TableName, Key: renewal.Key,
		UpdateExpression: renewal.UpdateExpression, ConditionExpression: renewal.ConditionExpression,
		ExpressionAttributeNames: renewal.ExpressionAttributeNames, ExpressionAttributeValues: renewal.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
	b.in = together(own, r.items)
	l.mu.Lock()
	l.chain.add(b.version, now)
	l.mu.Unlock()
	return b, nil
}

// together makes a transaction of the lock's own action and the caller's.
func together(own types.TransactWriteItem, items []types.TransactWriteItem) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{
		TransactItems:      append([]types.TransactWriteItem{own}, items...),
		ClientRequestToken: aws.String(rand.Text()),
	}
}

func (renewing) counts() bool { return true }

func (r renewing) applied(b *body) {
	_ = r.l.confirm(b.version, b.sent) // applied, also when the lease has ended since
	r.l.wrote(b.w, nil)
}

// settle keeps a body that had an earlier send without an answer until the item
// shows a newer record version, which is in the way of every copy: a conflict
// says nothing of that send.
func (r renewing) settle(ctx context.Context, under **body, cancelled *types.TransactionCanceledException) error {
	l, b := r.l, *under
	if !b.unanswered {
		*under = nil
	}
	own, err := reasonsFor(cancelled)
	if !own {
		return err
	}
	item := cancelled.CancellationReasons[0].Item
	if len(item) == 0 {
		if item, err = l.t.read(ctx, l.name, readBound, l.requests); err != nil {
			return err
		}
	}
	version, ended := l.mine(item)
	if ended != nil {
		return ended
	}
	l.mu.Lock()
	sent, _ := l.chain.sent(version)
	l.mu.Unlock()
	if ended := l.confirm(version, sent); ended != nil {
		return ended
	}
	*under = nil // a newer version is in the way of every copy of this body
	if version == b.version || b.unanswered && l.ext != nil && l.ext.Landed(b.w, item) {
		l.wrote(b.w, item) // an earlier send of this body was applied
		return nil
	}
	if l.ext != nil {
		if err := l.ext.Refuse(b.w, item); err != nil {
			return err
		}
	}
	return passing{cancelled} // a renewal of ours came between
}
