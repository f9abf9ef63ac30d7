package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/pause"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// Bounds in bytes of what an operator writes. With them the item of a job stays
// under 1 KB, so that no renewal costs more because somebody explained himself.
const (
	MaxBy     = wire.MaxBy   // of a name
	MaxNote   = wire.MaxNote // of the reason for a pause
	MaxReason = 80           // of the reason for a release, which goes into the run's record
)

// Controls are the controls of the jobs whose locks are in one table. They hold
// no state and are safe for concurrent use. Each is tried up to four times for three
// seconds: without a deadline in ctx it can take 13 seconds on a network that
// swallows requests.
type Controls struct{ locks *lockkit.LockTable }

// New returns the controls of the jobs in a table. The options of the LockTable
// must be those of the jobs' own, the attribute for the time to live included.
// It sends nothing; locks must not be nil.
func New(locks *lockkit.LockTable) *Controls { return &Controls{locks: locks} }

// request is one conditional write.
type request struct {
	job, op   string // the job, and what is done to it: "pause"
	update    string
	condition string
	names     map[string]string
	values    lockkit.Item
}

// answer is what DynamoDB said to a request.
type answer struct {
	refused bool
	now     State // of a refused one: what is there
	lost    bool  // an earlier send had no answer, so it may have been applied
}

// ErrNoAnswer says that no answer came to a control: it may have been applied.
// Look at the job, or do the same again.
var ErrNoAnswer = errors.New("no answer came, so it may have been applied: look at the job, or do the same again")

const (
	tries = 4
	bound = 3 * time.Second // of one try
)

// send sends a request until it is answered. The SDK does not send it again by
// itself: a refusal after a send without an answer means something else than a
// refusal of the first.
func (c *Controls) send(ctx context.Context, r request) (answer, error) {
	key, err := c.key(r.job)
	if err != nil {
		return answer{}, c.fail(r, err)
	}
	if ctx.Err() != nil {
		return answer{}, c.fail(r, notSent(ctx))
	}
	in := &dynamodb.UpdateItemInput{
		TableName: aws.String(c.locks.Table()), Key: key,
		UpdateExpression: &r.update, ConditionExpression: &r.condition,
		ExpressionAttributeNames: r.names, ExpressionAttributeValues: r.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	var a answer
	for try := 1; ; try++ {
		err := once(ctx, func(ctx context.Context) error {
			_, err := c.locks.Client().UpdateItem(ctx, in, noRetries)
			return err
		})
		if err == nil {
			return a, nil
		}
		if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
			item := failed.Item
			if len(item) == 0 { // there is none, or the endpoint leaves it out
				if item, err = c.read(ctx, r.job); err != nil {
					return answer{}, c.fail(r, err)
				}
			}
			a.refused = true
			a.now, err = c.decode(r.job, item)
			return a, err
		}
		if !lockkit.IsTransient(err) && !errors.Is(err, errSlow) {
			return answer{}, c.fail(r, err)
		}
		a.lost = true
		if try == tries || !pause.For(ctx, time.Duration(try)*100*time.Millisecond) {
			return answer{}, c.fail(r, fmt.Errorf("%w: %w", ErrNoAnswer, err))
		}
	}
}

// errSlow is the cause of a try that took longer than its bound.
var errSlow = errors.New("no answer in time")

// once bounds one try.
func once(ctx context.Context, send func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errSlow)
	defer cancel()
	err := send(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), errSlow) {
		return fmt.Errorf("%w: %w", errSlow, err)
	}
	return err
}

func noRetries(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// fail names the control in an error.
func (c *Controls) fail(r request, err error) error {
	return fmt.Errorf("control: %s of job %s in table %q: %w", r.op, named(r.job), c.locks.Table(), err)
}

// notSent tells a control that changed nothing from one that may have.
func notSent(ctx context.Context) error {
	return fmt.Errorf("nothing was sent, the context had ended before: %w", context.Cause(ctx))
}

// key is the key of a job's lock. A name that no job can have is an error.
func (c *Controls) key(job string) (lockkit.Item, error) {
	if strings.ContainsFunc(job, unicode.IsControl) {
		return nil, errors.New("the name of the job has a control character, and no job has one: correct it")
	}
	return c.locks.Key(job)
}

// named quotes a job's name and shortens one that would hide the rest of a line.
func named(job string) string {
	const most = 64 // bytes
	if len(job) <= most {
		return fmt.Sprintf("%q", job)
	}
	return fmt.Sprintf("%q… (%d bytes)", wire.Cut(job, most), len(job))
}

// checkText refuses before any request what would not fit on the item or would
// break the terminal that shows it.
func checkText(what, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("control: %s is empty: the next one who looks must know", what)
	case len(text) > most:
		return fmt.Errorf("control: %s has %d bytes, expected at most %d: it lies on the item of the lock, which every run writes: shorten it", what, len(text), most)
	case !utf8.ValidString(text):
		return fmt.Errorf("control: %s is not valid UTF-8: %q", what, text)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("control: %s has a control character: %q", what, text)
	}
	return nil
}
