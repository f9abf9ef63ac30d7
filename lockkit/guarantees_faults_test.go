package lockkit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestGuaranteeLateRenewalBringsNothingBack(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		version := func() string { return w.item()["rvn"].(*types.AttributeValueMemberS).Value }
		// The first renewal is lost on its way and arrives after the third.
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultLate, Wait: 2 * lease / 3})
		time.Sleep(lease + time.Second)
		seen := map[string]bool{}
		for now := version(); !seen[now]; now = version() {
			seen[now] = true
			time.Sleep(lease / 3)
			if len(seen) > 10 {
				break
			}
		}
		if len(seen) <= 10 {
			t.Error("a record version came back")
		}
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		late := 0
		for _, r := range w.db.Requests() {
			if r.Fault == locktest.FaultLate {
				late++
				if r.Applied {
					t.Error("the late renewal was applied over a newer one")
				}
			}
		}
		if late != 1 {
			t.Fatalf("%d late renewals, want 1", late)
		}
		w.release(l)
	})
}

func TestGuaranteeLostAnswerIsNoLostLock(t *testing.T) {
	lost := locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer}
	t.Run("acquire", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			w.db.Inject(lost)
			l := w.acquire(w.process())
			if l.Err() != nil || strconv.FormatInt(l.Token(), 10) != w.item()["fence"].(*types.AttributeValueMemberN).Value {
				t.Errorf("token %d, %v", l.Token(), l.Err())
			}
			if got := w.counts(); got != (counts{writes: 1, refused: 1}) {
				t.Errorf("%+v, want the write and the try that met it", got)
			}
			w.release(l)
		})
	})
	t.Run("takeover", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			w.plant(holder("dead", "v", "7"))
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Skip: 1})
			l := w.acquire(w.process())
			if former, ok := l.Takeover(); !ok || former.Owner != "dead" || l.Token() != 8 {
				t.Errorf("token %d, taken over from %+v", l.Token(), former)
			}
			w.release(l)
		})
	})
	t.Run("renewal", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer, Count: 3})
			time.Sleep(3*lease + time.Second)
			if err := l.Err(); err != nil {
				t.Error(err)
			}
			w.release(l)
		})
	})
	t.Run("release", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			w.db.Inject(lost)
			w.release(l)
			if st, _ := w.process().State(t.Context(), name); st.Held {
				t.Error("still held")
			}
		})
	})
	t.Run("release, and somebody was quick", func(t *testing.T) {
		inWorld(t, func(w *world) {
			t := w.t
			l := w.acquire(w.process())
			w.db.Inject(lost)
			var next *lockkit.Lease
			wait := background(func() {
				time.Sleep(time.Millisecond)
				next = w.acquire(w.process())
			})
			w.release(l)
			wait()
			if err := next.Err(); err != nil {
				t.Error(err)
			}
			w.release(next)
		})
	})
}
