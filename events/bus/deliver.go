package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"
)

const (
	maxTries   = 4
	firstPause = 50 * time.Millisecond // doubled for each try
)

// deliver sends the entries of one call, and again those that failed in a way
// that may pass. It returns how many have no id, and why.
func (b *Bus) deliver(ctx context.Context, entries []types.PutEventsRequestEntry) (missing int, err error) {
	var faults []error
	for pause, try := firstPause, 1; ; pause, try = 2*pause, try+1 {
		a := b.put(ctx, entries)
		missing += a.refused
		if a.fault != nil {
			faults = append(faults, a.fault)
		}
		switch entries = a.again; {
		case len(entries) == 0:
			return missing, errors.Join(faults...)
		case try == maxTries:
			return missing + len(entries), errors.Join(append(faults, fmt.Errorf("tried %d times: %w", try, a.passing))...)
		case !wait(ctx, pause):
			return missing + len(entries), errors.Join(append(faults, context.Cause(ctx), a.passing)...)
		}
	}
}

// answer is what the service made of one call.
type answer struct {
	again   []types.PutEventsRequestEntry // failed in a way that may pass
	passing error                         // why, for one of them
	refused int                           // entries that no further try would help
	fault   error                         // why, for one of them
}

// put sends the entries once.
func (b *Bus) put(ctx context.Context, entries []types.PutEventsRequestEntry) answer {
	out, err := b.client().PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries}, func(o *eventbridge.Options) {
		o.RetryMaxAttempts = 1 // tries are counted here, of calls and of entries alike
	})
	switch {
	case err != nil && passes(err):
		return answer{again: entries, passing: err}
	case err != nil:
		return answer{refused: len(entries), fault: explain(err)}
	}
	var a answer
	for i, e := range entries {
		var r types.PutEventsResultEntry // an entry without a result has no id either
		if i < len(out.Entries) {
			r = out.Entries[i]
		}
		code := aws.ToString(r.ErrorCode)
		told := &smithy.GenericAPIError{Code: code, Message: aws.ToString(r.ErrorMessage)}
		switch {
		case code == "" && r.EventId != nil:
		case code == "":
			a.refused++
			a.fault = errors.New("the service gave an event neither an id nor an error")
		case code == "InternalFailure" || code == "InternalException" || code == "ThrottlingException":
			a.again, a.passing = append(a.again, e), told
		default:
			a.refused++
			a.fault = explain(told)
		}
	}
	return a
}

// passes reports whether a call that failed may succeed when it is sent again:
// whatever is not an answer of the service, its own faults, and throttling.
func passes(err error) bool {
	api, answered := errors.AsType[smithy.APIError](err)
	return !answered || api.ErrorFault() == smithy.FaultServer || api.ErrorCode() == "ThrottlingException"
}

func explain(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "ResourceNotFoundException" {
		return errors.Join(ErrNoBus, err)
	}
	return err
}

// wait reports whether the pause went by before ctx ended.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
