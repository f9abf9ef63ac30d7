package singleton

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// maxError bounds the errors of a result and its log line, in bytes: a work may
// return one of any length, and Lambda cuts a log line that is too long, which is
// no JSON then.
const maxError = 2048

// told is an error's text for the result: bounded.
func told(err error) string { return wire.Cut(err.Error(), maxError) }

// brief is an error's text for the record on the lock's item, which has room for
// little more than a sentence and says the job, the lock and the table already:
// without what layers put before the cause only to name themselves and those.
func brief(err error) string {
	text := err.Error()
	if cancelled, ok := err.(*types.TransactionCanceledException); ok { //nolint:errorlint // each layer is looked at in its turn
		return cancelledBy(cancelled)
	}
	switch e := err.(type) { //nolint:errorlint // likewise
	case interface{ Unwrap() error }:
		inner := e.Unwrap()
		if inner == nil {
			return text
		}
		before, is := strings.CutSuffix(text, inner.Error())
		switch {
		case !is:
			return text
		case names(before):
			return brief(inner)
		default:
			return before + brief(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if long := inner.Error(); long != "" {
				text = strings.Replace(text, long, brief(inner), 1)
			}
		}
	}
	return text
}

// names reports whether what a layer puts before its cause is no more than its
// name and that of the job, lock, table or request: it then ends with a quoted
// name, or is the SDK's.
func names(before string) bool {
	ours := strings.HasPrefix(before, "singleton: ") || strings.HasPrefix(before, "lockkit: ")
	return ours && strings.HasSuffix(before, `": `) ||
		strings.HasPrefix(before, "operation error ") || strings.HasPrefix(before, "https response error ")
}

// cancelledBy names the first action that cancelled a transaction, by the index
// that the caller's items have in the reasons: from 1. DynamoDB's own text names
// no action, and begins with so many words that its list of reasons is cut off.
func cancelledBy(e *types.TransactionCanceledException) string {
	for i, reason := range e.CancellationReasons {
		if code := aws.ToString(reason.Code); code != "" && code != "None" {
			text := fmt.Sprintf("transaction cancelled by reason %d, %s", i, code)
			if message := aws.ToString(reason.Message); message != "" {
				text += ": " + message
			}
			return text
		}
	}
	return e.Error()
}

// joined says why a run ended and what its work returned, once where one says the
// other.
func joined(cause, returned error) error {
	switch {
	case returned == nil || errors.Is(cause, returned):
		return cause
	case errors.Is(returned, cause) && strings.Contains(returned.Error(), cause.Error()):
		return returned
	default:
		return fmt.Errorf("%w; the work returned: %w", cause, returned)
	}
}
