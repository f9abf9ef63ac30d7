//go:build bench

package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// TestManyLeases renews 10,000 leases in one process, in real time, against an
// endpoint that answers after 10 ms.
func TestManyLeases(t *testing.T) {
	const (
		many  = 10_000
		lease = 20 * time.Second
		hold  = 2 * lease
	)
	w := &writes{Client: clientOf(&canned{wait: 10 * time.Millisecond}), last: map[string]time.Time{}, worst: map[string]time.Duration{}}
	locks, err := lockkit.New(w, lockTable)
	if err != nil {
		t.Fatal(err)
	}
	late := lateness()
	held := make([]*lockkit.Lease, many)
	inParallel(100, many, func(i int) {
		l, err := locks.Acquire(t.Context(), fmt.Sprintf("many-%d", i), lease)
		if err != nil {
			t.Error(err)
		}
		held[i] = l
	})
	if t.Failed() {
		return
	}
	acquired, busy := late(), cpu()
	time.Sleep(hold)
	busy = cpu() - busy
	lost := 0
	for _, l := range held {
		if l.Err() != nil {
			lost++
		}
	}
	worst := ratio(w.worstGap(), lease)
	report(t, row{
		10, fmt.Sprintf("%d leases of %s in one process, for %s", many, lease, hold), "0 lost, worst gap ≤ 0.50 lease",
		fmt.Sprintf("%d lost, worst gap %.3f lease, %.2f cores busy", lost, worst, ratio(busy, hold)), check(lost == 0 && worst <= 0.5),
	})
	report(t, row{
		10, "  control: how late a bare timer of this process fired", "",
		fmt.Sprintf("%.3f lease (%.3f while acquiring)", ratio(late(), lease), ratio(acquired, lease)), control,
	})
	inParallel(100, many, func(i int) {
		if err := held[i].Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// lateness starts a timer of a hundredth of a second again and again, and returns
// what tells how late the latest one was: what the machine's other work does to
// any timer it does to a renewal's.
func lateness() (worst func() time.Duration) {
	const every = 10 * time.Millisecond
	var latest atomic.Int64
	var timer *time.Timer
	due := time.Now().Add(every)
	var mu sync.Mutex
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(every, func() {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		latest.Store(max(latest.Load(), int64(now.Sub(due))))
		due = now.Add(every)
		timer.Reset(every)
	})
	return func() time.Duration { return time.Duration(latest.Load()) }
}

// writes notes when the writes of each lock were sent that succeeded.
type writes struct {
	*dynamodb.Client
	mu    sync.Mutex
	last  map[string]time.Time
	worst map[string]time.Duration
}

func (w *writes) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	sent := time.Now()
	out, err := w.Client.UpdateItem(ctx, in, opts...)
	if pk, ok := in.Key["pk"].(*types.AttributeValueMemberS); ok && err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if last, ok := w.last[pk.Value]; ok {
			w.worst[pk.Value] = max(w.worst[pk.Value], sent.Sub(last))
		}
		w.last[pk.Value] = sent
	}
	return out, err
}

// worstGap is the longest between two writes of one lock, those under way until
// now included.
func (w *writes) worstGap() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var worst time.Duration
	for lock, last := range w.last {
		worst = max(worst, w.worst[lock], time.Since(last))
	}
	return worst
}

// inParallel calls f for 0 to n-1, so many at a time.
func inParallel(atOnce, n int, f func(int)) {
	var wg sync.WaitGroup
	for first := range atOnce {
		wg.Go(func() {
			for i := first; i < n; i += atOnce {
				f(i)
			}
		})
	}
	wg.Wait()
}
