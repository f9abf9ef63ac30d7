package lockkit

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Write sends the items as one transaction whose first action is the held check:
// all of them are written while this lease holds the lock, at the moment the
// transaction commits, or none is. It is what [Lease.ConditionCheck] is for,
// without the loop around it.
//
// It goes through the lease's own lane, so it never collides with the heartbeat,
// however many goroutines write; they take turns. Conflicts with other writers of
// the items, throttling and answers that got lost are tried again after 50 ms,
// doubling up to a second, until ctx or the lease ends. The body and its request
// token stay the same through all tries, so DynamoDB applies it once. Each try is
// bounded by a third of the time the lease has left, and by five seconds.
//
// The error matches [ErrLeaseLost] when the lease is lost: what is in the items
// must not be written by this holder any more. After a release it matches
// [ErrReleased]. Both are [EndedError]s. It matches [ErrUnknownOutcome], besides
// what cut it off, when a send had no answer: the items may have been written, so
// read before you decide, or make the write one that may be repeated. This comes
// at the end of ctx or of the lease, or after nine minutes, because DynamoDB
// forgets a request token after ten. When a condition of the items failed the
// error is DynamoDB's TransactionCanceledException, with the items' reasons from
// index 1 on; [WhyCancelled] with check 0 reads it. Nothing was written then, nor
// after any other error that does not match ErrUnknownOutcome.
//
// There can be 99 items, none of them on the lock's own key, which would be
// refused by DynamoDB; both are errors before any request. They must not be
// changed until Write returns. Without items it checks the lease and writes
// nothing. A transaction costs twice the write units of its items, and two for
// the check. Write does not renew the lease.
func (l *Lease) Write(ctx context.Context, items ...types.TransactWriteItem) error {
	if err := l.checkItems("write under", items); err != nil {
		return err
	}
	return l.deliver(ctx, "write under", checking{l, items})
}

// checking is a transaction that begins with the held check.
type checking struct {
	l     *Lease
	items []types.TransactWriteItem
}

func (c checking) compose(now moment) (*body, error) {
	check := c.l.ConditionCheck()
	// The item in the way says who has the lock now.
	check.ConditionCheck.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return &body{in: together(check, c.items), sent: now}, nil
}

// counts: the request is the caller's, with a check in it.
func (checking) counts() bool { return false }

func (checking) applied(*body) {}

// settle never gives up the body: a new one could write the items twice.
func (c checking) settle(ctx context.Context, b **body, cancelled *types.TransactionCanceledException) error {
	own, err := reasonsFor(cancelled)
	if !own {
		return err
	}
	l := c.l
	item := cancelled.CancellationReasons[0].Item
	if len(item) == 0 {
		if item, err = l.t.read(ctx, l.name, readBound, l.requests); err != nil {
			// No other owner or token ever becomes this lease's again.
			return l.end(ReasonTakenOver, fmt.Sprintf("DynamoDB refused the held check; who has the lock could not be read: %v", err), nil)
		}
	}
	if _, ended := l.mine(item); ended != nil {
		return ended
	}
	return passing{cancelled}
}
