package singleton_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

// TestGuaranteeStoppedRunCompletesNothing is about works that were told to stop
// and go on under a context that does not end.
func TestGuaranteeStoppedRunCompletesNothing(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, run *singleton.Run) error{
		"Commit":     commits,
		"Checkpoint": func(ctx context.Context, run *singleton.Run) error { return run.Checkpoint(ctx, "page 2", add("sum")) },
	} {
		for shows, ignores := range map[string]bool{"returns the error": false, "returns nil": true} {
			t.Run(name+" "+shows, func(t *testing.T) {
				inWorld(t, func(w *world) {
					res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
						w.askToStop(run.Token())
						<-ctx.Done()
						err := call(context.WithoutCancel(ctx), run)
						if !errors.Is(err, singleton.ErrStopped) {
							t.Errorf("error %v", err)
						}
						if ignores {
							return nil
						}
						return err
					})
					w.want(res, err, singleton.Stopped)
					w.requests("WWW") // acquire, the renewal that brings the stop, release
					if res.Stopped == nil || res.Committed || res.Error != "" || w.item()["cursor"] != nil {
						t.Errorf("%+v, item %v", res, w.item())
					}
					w.wantSum("0", time.Time{})
				})
			})
		}
	}
}

func TestStopDoesNotEndACommitThatWasSentBefore(t *testing.T) {
	inWorld(t, func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			w.db.Inject(locktest.Fault{Operation: transaction, Kind: locktest.FaultThrottle, Count: 3})
			w.askToStop(run.Token())
			return commits(ctx, run)
		})
		w.want(res, err, singleton.Completed)
		w.wantSum("1", w.due)
	})
}
