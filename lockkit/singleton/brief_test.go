package singleton_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

// leftError is the error in the record that the run before left.
func (w *world) leftError() string {
	prev, _ := w.item()["prev"].(*types.AttributeValueMemberM)
	if prev == nil {
		return ""
	}
	text, _ := prev.Value["x"].(*types.AttributeValueMemberS)
	if text == nil {
		return ""
	}
	return text.Value
}

func TestRecordOfAFailedTransactionNamesItsCause(t *testing.T) {
	job := spec
	job.Name = "nightly-report-of-the-orders-of-all-branches"
	taken := func(w *world) {
		if err := w.db.Put(table, map[string]av{"pk": s("taken"), "sk": s("counter")}); err != nil {
			w.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		work singleton.Work
		deny bool
		want string
	}{
		"Commit": {
			func(ctx context.Context, run *singleton.Run) error {
				return run.Commit(ctx, add("sum"), fresh("taken"))
			},
			false, "transaction cancelled by reason 2, ConditionalCheckFailed",
		},
		"Checkpoint, wrapped by the work": {
			func(ctx context.Context, run *singleton.Run) error {
				return fmt.Errorf("closing the day: %w", run.Checkpoint(ctx, "1", fresh("taken")))
			},
			false, "closing the day: transaction cancelled by reason 1, ConditionalCheckFailed",
		},
		"Commit, ignored": {
			func(ctx context.Context, run *singleton.Run) error {
				_ = run.Commit(ctx, fresh("taken"))
				return nil
			},
			false, "the work returned nil, but its Commit had failed: transaction cancelled by reason 1, ConditionalCheckFailed",
		},
		"Commit, joined with another": {
			func(ctx context.Context, run *singleton.Run) error {
				return errors.Join(errBoom, run.Commit(ctx, fresh("taken")))
			},
			false, "boom\ntransaction cancelled by reason 1, ConditionalCheckFailed",
		},
		"Commit without the right": {commits, true, "api error AccessDeniedException: "},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				taken(w)
				if c.deny {
					w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultError, Code: "AccessDeniedException"})
				}
				res, err := w.invoke(w.process("a"), job, w.scheduled(0), c.work)
				w.want(res, err, singleton.Failed)
				prev, _ := w.db.Item(table, map[string]av{"pk": s("LOCK#" + job.Name), "sk": s("LOCK")})["prev"].(*types.AttributeValueMemberM)
				if text, _ := prev.Value["x"].(*types.AttributeValueMemberS); text == nil || !strings.HasPrefix(text.Value, c.want) {
					t.Errorf("record %v, want %q", prev.Value["x"], c.want)
				}
			})
		})
	}
}

func TestRecordKeepsWhatEndedTheLeaseOrTheTime(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error {
			<-ctx.Done()
			return fmt.Errorf("page 7: %w", context.Cause(ctx))
		})
		w.want(res, err, singleton.OutOfTime)
		if want := "page 7: " + singleton.ErrOutOfTime.Error(); w.leftError() != want || res.Error != want || !errors.Is(err, singleton.ErrOutOfTime) {
			t.Errorf("record %q, result %q, want %q once", w.leftError(), res.Error, want)
		}
	})
}

func TestErrorOfAnyLengthIsBounded(t *testing.T) {
	for name, work := range map[string]singleton.Work{
		"returned": func(context.Context, *singleton.Run) error { return errors.New(strings.Repeat("€x\n", 20000)) },
		"after Commit": func(ctx context.Context, run *singleton.Run) error {
			return errors.Join(run.Commit(ctx), errors.New("x"+strings.Repeat("€", 20000)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var log lines
				res, _ := w.invoke(w.process("a"), spec, w.scheduled(0), work, log.option())
				if n := len(res.Error); n > 2048 || n < 2046 || !utf8.ValidString(res.Error) || log.one(t)["error"] != res.Error {
					t.Errorf("%d bytes", n)
				}
			})
		})
	}
}
