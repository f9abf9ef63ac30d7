package lockkit_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// refuseWrites answers every UpdateItem with an error for two leases; reads work.
func (w *world) refuseWrites(code string, status int) (since time.Time) {
	stop := w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultError, Code: code, Status: status, Count: -1})
	time.AfterFunc(2*lease, stop)
	return time.Now()
}

// A leader whose writes fail, while reads go on, is told in time, and the election
// contends again at an even pace.
func TestALeaderWhoseWritesFail(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		var seen terms
		var refused time.Time
		err := w.process().RunAsLeader(t.Context(), name, lease, func(ctx context.Context) error {
			if !refused.IsZero() {
				return nil
			}
			refused = w.refuseWrites("InternalServerError", http.StatusInternalServerError)
			if d := elapsed(func() { <-ctx.Done() }); d > lease {
				t.Errorf("told after %s, want within the lease", d)
			}
			if ended, ok := errors.AsType[*lockkit.EndedError](context.Cause(ctx)); !ok || ended.Reason != lockkit.ReasonExpired {
				t.Errorf("the work's context ended by %v", context.Cause(ctx))
			}
			w.db.ResetRequests()
			return nil
		}, seen.hooks()...)
		if err != nil {
			t.Error(err)
		}
		if got := seen.String(); got != "leading lease_lost leading work_returned" {
			t.Errorf("saw %q", got)
		}
		// Its own release failed too, so the lock is taken over, after a whole lease
		// from the first look.
		if d := time.Since(refused); d < 2*lease || d > 3*lease+lease/3+time.Second {
			t.Errorf("led again %s after the writes began to fail", d)
		}
		// The release, bursts of four tries a third of a lease apart for a little more
		// than a lease, and the looks of one.
		if n := len(w.db.Requests()); n < 10 || n > 40 {
			t.Errorf("%d requests while writes failed, want a few for each third of the lease", n)
		}
	})
}

// A role that may not write any more ends the election, after its term; a service
// that contends again later leads again.
func TestALeaderWhoMayNotWriteAnyMore(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		var seen terms
		locks := w.process()
		var refused time.Time
		work := func(ctx context.Context) error {
			if !refused.IsZero() {
				return nil
			}
			refused = w.refuseWrites("AccessDeniedException", http.StatusBadRequest)
			if d := elapsed(func() { <-ctx.Done() }); d > lease {
				t.Errorf("told after %s, want within the lease", d)
			}
			return nil
		}
		elections := 0
		for ; time.Since(refused) < 3*lease || refused.IsZero(); time.Sleep(lease / 3) {
			elections++
			err := locks.RunAsLeader(t.Context(), name, lease, work, seen.hooks()...)
			if err == nil {
				break
			}
			failed, ok := errors.AsType[*lockkit.ElectionError](err)
			if !ok {
				t.Fatalf("returned %v, want an error of the election", err)
			}
			if api, ok := errors.AsType[smithy.APIError](failed); !ok || api.ErrorCode() != "AccessDeniedException" {
				t.Fatalf("%v does not hold its cause", err)
			}
		}
		if got := seen.String(); got != "leading lease_lost leading work_returned" || elections < 3 {
			t.Errorf("saw %q in %d elections", got, elections)
		}
		if st, err := locks.State(t.Context(), name); err != nil || st.Held {
			t.Errorf("the lock is left as %+v, %v", st, err)
		}
	})
}

// Errors that pass, one after the other within one lease, cost nothing.
func TestKeptThroughOneFailureAfterTheOther(t *testing.T) {
	codes := []string{"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded", "InternalServerError"}
	for _, d := range []time.Duration{lockkit.MinLease, lease} {
		inWorld(t, func(w *world) {
			t := w.t
			l, err := w.process().Acquire(t.Context(), name, d)
			if err != nil {
				t.Fatal(err)
			}
			sent := codes
			if d == lockkit.MinLease {
				sent = codes[:3] // as many as fit before its signal
			}
			for _, code := range sent {
				w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultError, Code: code})
			}
			w.db.ResetRequests()
			time.Sleep(d)
			if err := l.Err(); err != nil {
				t.Error(err)
			}
			var failed []string
			for _, r := range w.db.Requests() {
				if r.Error != "" {
					failed = append(failed, r.Error)
				}
			}
			if len(failed) != len(sent) {
				t.Errorf("lease of %s: failed by %q, want each of %q once within the lease", d, failed, sent)
			}
			w.release(l)
		})
	}
}

// What is no passing failure ends the lease at the try that finds it out, also in
// the middle of a row of failures.
func TestAForeignOwnerAmongFailuresEndsTheLeaseAtOnce(t *testing.T) {
	for _, c := range []struct {
		do   func(*world)
		want lockkit.Reason
	}{
		{func(w *world) { w.plant(holder("other", "v", "99")) }, lockkit.ReasonTakenOver},
		{func(w *world) { _ = w.db.Delete(table, key()) }, lockkit.ReasonDeleted},
	} {
		t.Run(string(c.want), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultThrottle, Count: 2})
				c.do(w)
				if d := elapsed(func() { <-l.Done() }); d != lease/3+300*time.Millisecond {
					t.Errorf("ended after %s, want at the third try", d)
				}
				if ended, ok := errors.AsType[*lockkit.EndedError](l.Err()); !ok || ended.Reason != c.want {
					t.Errorf("ended by %v, want %s", l.Err(), c.want)
				}
			})
		})
	}
}
