package lockkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrUnknownOutcome says that a transaction had no answer in time: it may have
// been applied, or may still be.
var ErrUnknownOutcome = errors.New("lockkit: the transaction had no answer, it may have been applied")

// tokenLife is for how long after its first send a body may be sent again.
// DynamoDB knows the request token of a transaction for ten minutes, and would
// apply one a second time after that; a minute is left for a send to arrive.
const tokenLife = 9 * time.Minute

// body is one transaction: it is sent unchanged, with one request token, until it
// has a definite answer.
type body struct {
	in         *dynamodb.TransactWriteItemsInput
	sent       moment // first send
	unanswered bool   // a send of it may have been applied

	// Of Transact only, whose first action is a renewal.
	version string
	w       Write
}

// transaction is what Write and Transact differ in.
type transaction interface {
	// compose makes a body.
	compose(now moment) (*body, error)
	// counts says whether its requests are the lock's.
	counts() bool
	// applied notes that the body was applied.
	applied(b *body)
	// settle decides what a cancelled body means: nil, that an earlier send of it
	// was applied; a passing error, that it is tried again, with a new body where
	// it sets *b to nil. Any other error is final.
	settle(ctx context.Context, b **body, cancelled *types.TransactionCanceledException) error
}

// passing marks a failure after which a transaction is sent again.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// deliver sends a transaction until it has a definite answer, or until ctx or the
// lease ends.
func (l *Lease) deliver(ctx context.Context, operation string, tx transaction) error {
	var b *body
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := l.try(ctx, tx, &b)
		if err == nil {
			return nil
		}
		if _, again := errors.AsType[passing](err); !again || !l.t.clock.sleep(ctx, pause) || l.Err() != nil {
			return l.wrap(operation, l.outcome(ctx, b, err))
		}
	}
}

// outcome is the error of a transaction that ends without success.
func (l *Lease) outcome(ctx context.Context, b *body, err error) error {
	if last, cut := errors.AsType[passing](err); cut {
		why := l.Err()
		if why == nil {
			why = ctxError(ctx)
		}
		err = fmt.Errorf("%w; the last try: %w", why, last.error)
	}
	if b != nil && b.unanswered {
		err = fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	return err
}

// try sends a transaction once, in the lane, and settles what the answer means.
// *b is the body under way; nil: a new one is composed.
func (l *Lease) try(ctx context.Context, tx transaction, b **body) error {
	leave, err := l.enterInTurn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if ctx.Err() != nil {
		return ctxError(ctx) // a request would not leave this process
	}
	now := l.t.clock.now()
	if ended := l.check(now); ended != nil {
		return ended
	}
	if *b == nil {
		if *b, err = tx.compose(now); err != nil {
			return err
		}
	}
	if mono, wall := now.since((*b).sent); (*b).unanswered && max(mono, wall) > tokenLife {
		return fmt.Errorf("it was first sent %s ago, and DynamoDB forgets a transaction's request token after 10 minutes", mono.Round(time.Second))
	}
	if tx.counts() {
		count(l.requests)
	}
	if err = l.transact(ctx, (*b).in, now); err == nil {
		tx.applied(*b)
		return nil
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	switch {
	case ok:
		return tx.settle(ctx, b, cancelled)
	case noTable(err):
		// Of the items, or the lock's: then the heartbeat will tell.
		return fmt.Errorf("a table of the transaction does not exist in this account and Region; the lock is in %q, the items in %s: %w", l.t.table, strings.Join(tables((*b).in.TransactItems[1:]), ", "), err)
	case mayBeApplied(err):
		(*b).unanswered = true
		return passing{err}
	case transient(err): // throttled: refused, and not for good
		return passing{err}
	default:
		return err
	}
}

// transact sends a transaction once. A call that is never answered must leave
// the heartbeat time for its own.
func (l *Lease) transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput, now moment) error {
	l.mu.Lock()
	bound := min(max(l.left(now)/3, 20*time.Millisecond), readBound)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errTimeout)
	defer cancel()
	_, err := l.t.client.TransactWriteItems(ctx, in, oneTry)
	return timedOut(ctx, err)
}

// enterInTurn takes the lane for a transaction. The lease's transactions take
// turns first, so that the heartbeat, which goes straight to the lane, waits for
// one of them at most, however many there are.
func (l *Lease) enterInTurn(ctx context.Context) (leave func(), err error) {
	l.mu.Lock()
	if l.turn == nil {
		l.turn = make(chan struct{}, 1)
	}
	turn := l.turn
	l.mu.Unlock()
	if err := enter(ctx, turn); err != nil {
		return nil, err
	}
	if err := l.enter(ctx); err != nil {
		<-turn
		return nil, err
	}
	return func() { l.leave(); <-turn }, nil
}

// reasonsFor tells apart, for settling, the refusal of the lock's own action from
// what may pass and from what is for the caller.
func reasonsFor(cancelled *types.TransactionCanceledException) (own bool, err error) {
	switch WhyCancelled(cancelled, 0) {
	case CancelledLeaseLost:
		return true, nil
	case CancelledByConflict, CancelledByThrottling:
		return false, passing{cancelled}
	default:
		return false, cancelled
	}
}
