package lockkit_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// stampAt is the stamp of a holder's newest write.
func stampAt(owner string, at time.Time) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"owner": s(owner), "ms": n(strconv.FormatInt(at.UnixMilli(), 10))}}
}

// A holder that renews late, and then dies, is given a whole lease from that
// renewal, and not from the moment when it was first seen.
func TestALateRenewalCountsAWholeLease(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		inWorld(t, func(w *world) {
			t := w.t
			renew := func(version string) {
				item := holder("slow", version, "7")
				if stamped {
					item["at"] = stampAt("slow", time.Now())
				}
				w.plant(item)
			}
			renew("v1")
			var l *lockkit.Lease
			wait := background(func() { l = w.acquire(w.process()) })
			time.Sleep(lease * 95 / 100)
			renew("v2")
			last := time.Now()
			wait()
			if part := float64(time.Since(last)) / float64(lease); part < 1 || part > 1.1 {
				t.Errorf("stamped %t: taken over %.3f leases after the last renewal, want one", stamped, part)
			}
			w.release(l)
		})
	}
}

// A renewal that changes the lease's length changes what a contender waits for.
func TestAHolderThatChangesItsLeaseLength(t *testing.T) {
	for _, c := range []struct{ before, after time.Duration }{
		{3 * time.Second, time.Second}, {time.Second, 3 * time.Second}, {10 * time.Second, time.Minute},
	} {
		t.Run(c.before.String()+" to "+c.after.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				hold := func(version string, d time.Duration) {
					w.plant(with(holder("other", version, "7"), "leaseMs", n(strconv.FormatInt(d.Milliseconds(), 10))))
				}
				hold("v1", c.before)
				var l *lockkit.Lease
				wait := background(func() {
					var err error
					if l, err = w.process().Acquire(t.Context(), name, time.Second); err != nil {
						t.Error(err)
					}
				})
				time.Sleep(c.before * 9 / 10)
				hold("v2", c.after)
				if d := elapsed(wait); d < c.after || d > c.after+c.before/2 {
					t.Errorf("taken over %s after the renewal, want %s", d, c.after)
				}
				w.release(l)
			})
		})
	}
}

// The longest lease that an item can state is waited for, without an overflow.
func TestAnImmenseLeaseIsNotDue(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.plant(with(holder("other", "v", "7"), "leaseMs", n(strconv.FormatInt(int64(math.MaxInt64/time.Millisecond), 10))))
		locks := w.process(lockkit.WithTakeoverDelay(time.Hour))
		for range 3 {
			if _, err := locks.TryAcquire(t.Context(), name, lease); !errors.Is(err, lockkit.ErrHeld) {
				t.Fatalf("got %v, want held", err)
			}
			time.Sleep(time.Hour)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := locks.Acquire(ctx, name, lease); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want to wait", err)
		}
	})
}
