package lockkit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestKeepTrying(t *testing.T) {
	for _, kind := range []locktest.FaultKind{locktest.FaultFailBefore, locktest.FaultDropAnswer, locktest.FaultThrottle, locktest.FaultBlackHole} {
		t.Run(kind.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				stop := w.db.Inject(locktest.Fault{Kind: kind, Count: -1})
				if _, err := w.process().Acquire(t.Context(), name, lease); !lockkit.IsTransient(err) {
					t.Fatalf("without the option: %v, want a failure that may pass", err)
				}
				stop()
				_ = w.db.Delete(table, key())
				stop = w.db.Inject(locktest.Fault{Kind: kind, Count: -1})
				time.AfterFunc(20*time.Second, stop)
				var l *lockkit.Lease
				waited := elapsed(func() { l = w.acquire(w.process(), lockkit.KeepTrying()) })
				if waited > 25*time.Second || l.Err() != nil {
					t.Errorf("acquired after %s: %v", waited, l.Err())
				}
				w.release(l)
			})
		})
	}
	inWorld(t, func(w *world) {
		w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1})
		if _, err := w.process().Acquire(w.t.Context(), name, lease, lockkit.KeepTrying()); err == nil || lockkit.IsTransient(err) {
			w.t.Errorf("an error that stays: %v", err)
		}
	})
}

// Whoever is called because nothing runs must read what was in the way, not only
// that time is up.
func TestKeepTryingNamesTheLastFailure(t *testing.T) {
	for text, fault := range map[string]locktest.Fault{
		"ProvisionedThroughputExceeded":     {Kind: locktest.FaultThrottle},
		"no answer in time":                 {Kind: locktest.FaultBlackHole},
		"the security token is expired":     {Kind: locktest.FaultError, Code: "ExpiredTokenException", Message: "the security token is expired"},
		"the token of the role has expired": {Kind: locktest.FaultError, Code: "ExpiredToken", Message: "the token of the role has expired"},
		"InternalServerError":               {Kind: locktest.FaultFailBefore},
		"connection":                        {Kind: locktest.FaultDropAnswer},
	} {
		t.Run(text, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				fault.Count = -1
				stop := w.db.Inject(fault)
				for _, limit := range []time.Duration{20 * time.Second, 20*time.Second + 371*time.Millisecond} {
					ctx, cancel := context.WithTimeout(t.Context(), limit)
					_, err := w.process().Acquire(ctx, name, lease, lockkit.KeepTrying())
					cancel()
					if !errors.Is(err, context.DeadlineExceeded) || !lockkit.IsTransient(err) || !strings.Contains(err.Error(), "; the last try: ") || !strings.Contains(err.Error(), text) {
						t.Errorf("%v, want the end of ctx and %q", err, text)
					}
				}
				stop()

				// A failure that an answer has followed is over.
				l := w.acquire(w.process())
				defer w.release(l)
				stop = w.db.Inject(fault)
				time.AfterFunc(5*time.Second, stop)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				_, err := w.process().Acquire(ctx, name, lease, lockkit.KeepTrying())
				if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "the last try") || !strings.Contains(err.Error(), "last seen held") {
					t.Errorf("the holder was seen since: %v", err)
				}
			})
		})
	}
}
