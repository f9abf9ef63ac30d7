//go:build bench

package bench

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
)

const (
	crowdSize = 100
	crowdPoll = time.Second
)

// TestCrowd has 100 processes want one lock, each until it had it once. The
// endpoint answers as one in memory does; the same at a distance, and the same
// without jitter, are shown beside it.
func TestCrowd(t *testing.T) {
	const rounds = 7
	for _, c := range []struct {
		what        string
		least, most time.Duration
		marching    bool
		verdict     func(crowd) verdict
		goal        string
	}{
		{
			"answers after 0.5 to 1.5 ms", 500 * time.Microsecond, 1500 * time.Microsecond, false,
			func(c crowd) verdict {
				return check(c.wall.median <= 3.2 && c.requests <= 5 && c.refused <= 1.5 && c.failed == 0)
			},
			"median ≤ 3.2 s, per handover ≤ 5 and ≤ 1.5 refused, no errors",
		},
		{"  control: without jitter", 500 * time.Microsecond, 1500 * time.Microsecond, true, nil, ""},
		{"  for comparison: answers after 10 to 30 ms", 10 * time.Millisecond, 30 * time.Millisecond, false, nil, ""},
	} {
		var all crowd
		var walls []float64
		for range rounds {
			inWorld(t, c.least, c.most, func(w *world) {
				got := w.crowd(c.marching)
				walls = append(walls, got.wall.median)
				all.requests += got.requests / rounds
				all.refused += got.refused / rounds
				all.failed += got.failed
			})
		}
		all.wall = summary(walls)
		r := row{7, c.what, c.goal, all.String(), control}
		if c.verdict != nil {
			r.what, r.verdict = fmt.Sprintf("%d contenders, one lock, poll %s, %s", crowdSize, crowdPoll, c.what), c.verdict(all)
		}
		report(t, r)
	}
}

// crowd is how such a run went.
type crowd struct {
	wall              figures // seconds
	requests, refused float64 // per handover
	failed            int
}

func (c crowd) String() string {
	return fmt.Sprintf("median %.2f s, max %.2f s, per handover %.2f and %.2f refused, %d errors", c.wall.median, c.wall.max, c.requests, c.refused, c.failed)
}

// crowd runs one. Marching contenders have no jitter: an option that turns it off
// does not exist, so their looks are held back to the next multiple of the
// interval, which is where a fixed one from a common start would put them.
func (w *world) crowd(marching bool) crowd {
	w.t.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var got crowd
	for range crowdSize {
		p := &process{}
		if marching {
			p.before = func() {
				past := time.Since(start) % crowdPoll
				time.Sleep(crowdPoll - past)
			}
		}
		locks := w.locks(p, lockkit.WithPollInterval(crowdPoll))
		wg.Go(func() {
			err := once(w, locks)
			n := p.since(time.Time{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				got.failed++
			}
			got.requests += float64(n.all()) / crowdSize
			got.refused += float64(n.refused) / crowdSize
			got.failed += n.failed
		})
	}
	wg.Wait()
	got.wall = summary([]float64{time.Since(start).Seconds()})
	return got
}

func once(w *world, locks *lockkit.LockTable) error {
	l, err := locks.Acquire(w.t.Context(), lockName, lockLease)
	if err != nil {
		return err
	}
	return l.Release(w.t.Context())
}
