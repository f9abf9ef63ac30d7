package lockkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxTransactItems is how many actions of its own a caller may put into one
// [Lease.Transact]: DynamoDB takes 100, and one is the lock's.
const MaxTransactItems = 99

// ErrUnknownOutcome says that a transaction had no answer while the lease ran: it
// may have been applied.
var ErrUnknownOutcome = errors.New("lockkit: the transaction had no answer, it may have been applied")

// Transact sends the items as one transaction whose first action renews the
// lease, with the extension's additions: all of it commits while this lease
// holds the lock, or nothing does. It goes through the lease's own lane, so it
// never collides with the heartbeat.
//
// While the outcome is unknown, the same body is sent again with the same request
// token, which DynamoDB applies once. A conflict with somebody else's transaction
// is tried again with a new body. Both go on until ctx or the lease ends; then
// the error is [ErrUnknownOutcome] or the conflict.
//
// The error is an [EndedError] when the lease is lost, the extension's own when
// it refused, and DynamoDB's TransactionCanceledException when one of the items'
// conditions failed; the items' reasons begin at index 1 there.
//
// It is made for runners: singleton's commit and checkpoint are extensions that
// send their writes with it.
func (l *Lease) Transact(ctx context.Context, items ...types.TransactWriteItem) error {
	if err := l.checkItems(items); err != nil {
		return err
	}
	pause := 50 * time.Millisecond
	var tx *transaction
	for {
		err := l.send(ctx, &tx, items)
		if !errors.Is(err, errAgain) {
			if err != nil && tx != nil && tx.unknown {
				err = errors.Join(ErrUnknownOutcome, err) // it ended before the body had its answer
			}
			return l.wrap("transact on", err)
		}
		if !l.t.clock.sleep(ctx, pause) || l.Err() != nil {
			return l.wrap("transact on", l.gaveUp(ctx, tx, err))
		}
		pause = min(2*pause, time.Second)
	}
}

// errAgain marks a failure after which the transaction is sent again.
var errAgain = errors.New("tried again")

// gaveUp is the error of a transaction that ctx or the lease's end cut off.
func (l *Lease) gaveUp(ctx context.Context, tx *transaction, last error) error {
	if tx != nil && tx.unknown {
		return errors.Join(ErrUnknownOutcome, ctx.Err(), last)
	}
	if err := l.Err(); err != nil {
		return err
	}
	return errors.Join(ctx.Err(), last)
}

// transaction is one body: it is sent unchanged until it has a definite answer.
type transaction struct {
	in      *dynamodb.TransactWriteItemsInput
	version string
	sent    moment
	w       Write
	unknown bool // it was sent and had no answer
}

// send sends the transaction once, in the lane, and settles what the answer
// means. *tx is the body under way; nil: a new one is composed.
func (l *Lease) send(ctx context.Context, tx **transaction, items []types.TransactWriteItem) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	now := l.t.clock.now()
	if ended := l.check(now); ended != nil {
		return ended
	}
	if *tx == nil {
		var err error
		if *tx, err = l.composeTransaction(now, items); err != nil {
			return err
		}
	}
	b := *tx
	l.mu.Lock()
	left := l.left(now)
	l.mu.Unlock()
	err := l.transact(ctx, b.in, min(max(left/3, 20*time.Millisecond), readBound))
	if err == nil {
		_ = l.confirm(b.version, b.sent) // applied, also when the lease has ended since
		l.wrote(b.w, nil)
		return nil
	}
	cancelled, definite := errors.AsType[*types.TransactionCanceledException](err)
	switch {
	case noTable(err):
		// Of the items, or the lock's: then the heartbeat will tell.
		return fmt.Errorf("a table of the transaction does not exist in this account and Region; the lock is in %q, the items in %s: %w", l.t.table, strings.Join(tables(items), ", "), err)
	case !definite && (ctx.Err() != nil || unanswerable(err)):
		b.unknown = true
		return errors.Join(errAgain, err)
	case !definite:
		return err
	}
	return l.settleTransaction(ctx, tx, cancelled)
}

// unanswerable tells a failure after which the transaction may have been applied.
func unanswerable(err error) bool {
	_, inProgress := errors.AsType[*types.TransactionInProgressException](err)
	return inProgress || transient(err)
}

// settleTransaction decides what a cancelled transaction means. A body that had
// an earlier send without an answer is kept until the item shows a newer record
// version, which is in the way of every copy: a conflict says nothing of that send.
func (l *Lease) settleTransaction(ctx context.Context, tx **transaction, cancelled *types.TransactionCanceledException) error {
	b := *tx
	if !b.unknown {
		*tx = nil
	}
	own, passing := reasons(cancelled)
	switch {
	case !own && passing:
		return errors.Join(errAgain, cancelled)
	case !own:
		return cancelled
	}
	item := cancelled.CancellationReasons[0].Item
	if len(item) == 0 {
		var err error
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
	*tx = nil // a newer version is in the way of every copy of this body
	if version == b.version || b.unknown && l.ext != nil && l.ext.Landed(b.w, item) {
		l.wrote(b.w, item) // an earlier send of this body was applied
		return nil
	}
	if l.ext != nil {
		if err := l.ext.Refuse(b.w, item); err != nil {
			return err
		}
	}
	return errors.Join(errAgain, cancelled) // a renewal of ours came between
}

// reasons tells whether the lock's own condition failed, and, if not, whether
// what cancelled the transaction may pass by itself.
func reasons(cancelled *types.TransactionCanceledException) (own, passing bool) {
	passing = true
	for i, r := range cancelled.CancellationReasons {
		switch aws.ToString(r.Code) {
		case "", "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		case "ConditionalCheckFailed":
			own, passing = own || i == 0, false
		default:
			passing = false
		}
	}
	return own, passing
}

func (l *Lease) composeTransaction(now moment, items []types.TransactWriteItem) (*transaction, error) {
	l.mu.Lock()
	full := l.chain.full(maxCallChain)
	l.mu.Unlock()
	if full {
		return nil, fmt.Errorf("%d writes in a row had no answer: leave it to the heartbeat, or release the lease", maxCallChain)
	}
	b := &transaction{version: rand.Text(), sent: now, w: l.about(VerbTransact, now)}
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
	b.in = &dynamodb.TransactWriteItemsInput{
		TransactItems:      append([]types.TransactWriteItem{own}, items...),
		ClientRequestToken: aws.String(rand.Text()),
	}
	l.mu.Lock()
	l.chain.add(b.version, now)
	l.mu.Unlock()
	return b, nil
}

func (l *Lease) transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput, bound time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errTimeout)
	defer cancel()
	count(l.requests)
	_, err := l.t.client.TransactWriteItems(ctx, in, oneTry)
	return l.t.explain(ctx, err)
}

// tables lists the tables that the items are in, once each.
func tables(items []types.TransactWriteItem) []string {
	var names []string
	for _, it := range items {
		table, _ := target(it)
		if name := strconv.Quote(aws.ToString(table)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// target returns the table and the key of an action; a put's key is in its item.
func target(it types.TransactWriteItem) (table *string, key Item) {
	switch {
	case it.Put != nil:
		return it.Put.TableName, it.Put.Item
	case it.Update != nil:
		return it.Update.TableName, it.Update.Key
	case it.Delete != nil:
		return it.Delete.TableName, it.Delete.Key
	case it.ConditionCheck != nil:
		return it.ConditionCheck.TableName, it.ConditionCheck.Key
	default:
		return nil, nil
	}
}

// checkItems refuses before any request what DynamoDB would refuse without
// saying why: an action of the caller's on the lock's own item.
func (l *Lease) checkItems(items []types.TransactWriteItem) error {
	if len(items) > MaxTransactItems {
		return fmt.Errorf("lockkit: transact on %q: %d items: expected at most %d beside the lock's own", l.name, len(items), MaxTransactItems)
	}
	lock := l.t.key(l.name)
	for i, it := range items {
		table, key := target(it)
		same := aws.ToString(table) == l.t.table
		for name, v := range lock {
			same = same && reflect.DeepEqual(key[name], v)
		}
		if same {
			return fmt.Errorf("lockkit: transact on %q: item %d is on the lock's own key, where the transaction renews the lease already, and DynamoDB allows one action per item: leave it out (a held check is not needed here)", l.name, i)
		}
	}
	return nil
}
