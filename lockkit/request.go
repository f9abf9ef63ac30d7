package lockkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/transport/http"
)

// readBound is how long a single read may take where no lease sets a shorter
// limit, and the most that any single request of ours may take.
const readBound = 5 * time.Second

func count(n *atomic.Int64) {
	if n != nil {
		n.Add(1)
	}
}

// oneTry turns the SDK's own retries off. lockkit tries again itself, because
// it must know when each body was first sent, bound every try by the lease, and
// not be starved by the retry budget that all users of the client share.
func oneTry(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// errTimeout is the cause of a request that this package gave up on.
var errTimeout = errors.New("no answer in time")

// errNothing is for clients that are wrapped, or made for a test.
var errNothing = errors.New("the client returned neither an output nor an error: return what DynamoDB answered")

// update sends one UpdateItem once. bound limits the request; its end looks
// like any other transient failure, and the write may still be applied.
func (t *LockTable) update(ctx context.Context, in *dynamodb.UpdateItemInput, bound time.Duration, n *atomic.Int64) (*dynamodb.UpdateItemOutput, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errTimeout)
	defer cancel()
	count(n)
	out, err := t.client.UpdateItem(ctx, in, oneTry)
	if err == nil && out == nil {
		return nil, errNothing
	}
	return out, t.explain(ctx, err)
}

// read reads the lock item, strongly consistent; nil when there is none.
func (t *LockTable) read(ctx context.Context, name string, bound time.Duration, n *atomic.Int64) (item Item, err error) {
	err = t.again(ctx, func() error {
		item, err = t.readOnce(ctx, name, bound, n)
		return err
	})
	return item, err
}

func (t *LockTable) readOnce(ctx context.Context, name string, bound time.Duration, n *atomic.Int64) (Item, error) {
	in := &dynamodb.GetItemInput{TableName: aws.String(t.table), Key: t.key(name), ConsistentRead: aws.Bool(true)}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errTimeout)
	defer cancel()
	count(n)
	out, err := t.client.GetItem(ctx, in, oneTry)
	if err != nil {
		return nil, t.explain(ctx, err)
	}
	if out == nil {
		return nil, errNothing
	}
	return out.Item, nil
}

// timedOut puts our own time limit in the place of the SDK's "canceled". An
// answer that arrived together with the limit stays what it is.
func timedOut(ctx context.Context, err error) error {
	if canceled(err) && errors.Is(context.Cause(ctx), errTimeout) {
		return &timeoutError{err: err}
	}
	return err
}

// canceled tells a request that the end of its context cut off.
func canceled(err error) bool {
	c, ok := errors.AsType[interface {
		error
		CanceledError() bool
	}](err)
	return ok && c.CanceledError() || errors.Is(err, context.DeadlineExceeded)
}

// explain is timedOut, and says which keys were sent where the table has others.
func (t *LockTable) explain(ctx context.Context, err error) error {
	err = timedOut(ctx, err)
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "ValidationException" && strings.Contains(api.ErrorMessage(), "key") {
		keys := fmt.Sprintf("the string keys %q and %q", t.cfg.partitionKey, t.cfg.sortKey)
		if t.cfg.sortKey == "" {
			keys = fmt.Sprintf("the string key %q and no sort key", t.cfg.partitionKey)
		}
		return fmt.Errorf("table %q was taken to have %s: if it has others, name them with WithKeys: %w", t.table, keys, err)
	}
	return err
}

// ctxError is why ctx ended: its error, and its cause where that says more.
func ctxError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || errors.Is(cause, err) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

type timeoutError struct{ err error }

func (e *timeoutError) Error() string { return errTimeout.Error() + ": " + e.err.Error() }
func (e *timeoutError) Unwrap() error { return errTimeout }

// Timeout reports true, as for other errors of this kind.
func (e *timeoutError) Timeout() bool { return true }

// again calls send until it succeeds, fails for good, or has failed transiently
// four times; pauses of 50, 100 and 200 ms lie between. Conflicts get twice as
// many tries: they only say that another transaction touched the item.
func (t *LockTable) again(ctx context.Context, send func() error) error {
	pause := 50 * time.Millisecond
	for try := 1; ; try++ {
		err := send()
		if err == nil || ctx.Err() != nil || !transient(err) {
			return err
		}
		if try >= 4 && (!conflict(err) || try >= 8) {
			return err
		}
		if !t.clock.sleep(ctx, pause) {
			return err
		}
		if pause < 200*time.Millisecond {
			pause *= 2
		}
	}
}

// IsTransient tells an error of an acquire that time may heal from one that it
// will not: throttling, a failing network, an endpoint that is down, credentials
// that are not there yet or have expired. A missing table, a role without
// permission and an item that is not a lock are not. What acquires again after one
// should pause first.
func IsTransient(err error) bool {
	if transient(err) {
		return true
	}
	if _, invalid := errors.AsType[*smithy.InvalidParamsError](err); invalid {
		return false
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		// The latter is what the services that give out credentials say.
		return api.ErrorCode() == "ExpiredTokenException" || api.ErrorCode() == "ExpiredToken"
	}
	// Whatever is no answer of DynamoDB's at all may pass too.
	_, sent := errors.AsType[*smithy.OperationError](err)
	return sent
}

// transient tells a failure that may pass within moments from one that will not.
func transient(err error) bool {
	if errors.Is(err, errTimeout) || conflict(err) {
		return true
	}
	// An answer that broke off, or was none of DynamoDB's: what it answered may
	// have been applied. The SDK's own checks leave this one out.
	if _, unread := errors.AsType[*smithy.DeserializationError](err); unread {
		return true
	}
	return retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary ||
		retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary
}

// mayHaveLanded tells a failure after which a write may have been applied from one
// that says that it was not.
func mayHaveLanded(err error) bool {
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorFault() == smithy.FaultClient {
		return false
	}
	return transient(err)
}

func conflict(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == "TransactionConflictException"
}

// mayBeApplied tells a failure after which a transaction may have been applied
// from one after which it was not: DynamoDB refused it, or it was never sent.
func mayBeApplied(err error) bool {
	if _, inProgress := errors.AsType[*types.TransactionInProgressException](err); inProgress {
		return true
	}
	response, answered := errors.AsType[*http.ResponseError](err)
	api, refused := errors.AsType[smithy.APIError](err)
	if refused {
		// The code of an answer, not its status, is what a client in a test has.
		return answered && response.HTTPStatusCode() >= 500 || api.ErrorFault() == smithy.FaultServer
	}
	if _, sdk := errors.AsType[*smithy.OperationError](err); !sdk || answered {
		return true // of some wrapper of the client, our own time limit, or an answer that could not be read
	}
	_, sent := errors.AsType[*http.RequestSendError](err)
	_, canceled := errors.AsType[*smithy.CanceledError](err)
	return sent || canceled
}

// refused returns the item that a refused write brought along. ok says that the
// write was refused at all; brought that the endpoint gave the item: a refusal
// without one may also mean that there is no item.
func refused(err error) (item Item, brought, ok bool) {
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return nil, false, false
	}
	return failed.Item, len(failed.Item) > 0, true
}

func noTable(err error) bool {
	_, ok := errors.AsType[*types.ResourceNotFoundException](err)
	return ok
}
