package singleton_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/internal/trial"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// short is the job of the property: it may be taken over after 10 s, and has 45 s
// of work at most.
var short = job.Spec{Name: spec.Name, Lease: 10 * time.Second, Timeout: time.Minute}

// delivery is one invocation with its own process, and what befalls it.
type delivery struct {
	at, tick, work time.Duration
	killed         time.Duration // after its beginning; 0: never
	fails          bool
}

func (d delivery) String() string {
	return fmt.Sprintf("at %s tick %s work %s killed %s fails %v", d.at, d.tick, d.work, d.killed, d.fails)
}

// history checks, while they happen, what must be true of all runs together.
type history struct {
	mu      sync.Mutex
	working int
	token   int64
	marked  time.Time          // newest tick that a run was told is marked
	done    map[time.Time]bool // ticks whose work returned nil before its ctx ended
	queues  bool               // a run may have several ticks under one token
	faults  []string
}

func (h *history) fault(format string, args ...any) {
	h.faults = append(h.faults, fmt.Sprintf(format, args...))
}

func (h *history) begins(run *singleton.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.working++; h.working > 1 {
		h.fault("%d runs at a time at tick %v", h.working, run.Tick)
	}
	if run.Token() < h.token || run.Token() == h.token && !h.queues {
		h.fault("token %d after %d", run.Token(), h.token)
	}
	h.token = run.Token()
	if !run.Tick.After(h.marked) {
		h.fault("tick %v runs after %v was marked", run.Tick, h.marked)
	}
	if run.Since.Before(h.marked) || !run.Since.IsZero() && !h.done[run.Since] {
		h.fault("tick %v runs since %v: marked is %v, done are %v", run.Tick, run.Since, h.marked, h.done)
	}
}

func (h *history) ends(run *singleton.Run, done bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.working--
	if done {
		h.done[run.Tick] = true
	}
}

func (h *history) answered(res singleton.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if res.Outcome == singleton.Completed && res.Marked && res.Tick.After(h.marked) {
		h.marked = res.Tick
	}
}

// TestGuaranteeOneRunAtATime delivers ticks in any order and number, kills
// processes at any moment and disturbs requests: runs are one at a time, and no
// marked tick runs again. No process is paused here and resumed, which is what
// only fencing helps against.
func TestGuaranteeOneRunAtATime(t *testing.T) {
	trial.Few(t, 40)
	seconds := func(most int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(0, most*10), func(n int) time.Duration { return time.Duration(n) * 100 * time.Millisecond })
	}
	deliveries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) delivery {
		d := delivery{
			at: seconds(200).Draw(t, "at"), tick: time.Duration(rapid.IntRange(0, 5).Draw(t, "tick")) * 40 * time.Second,
			work: seconds(60).Draw(t, "work"), fails: rapid.IntRange(0, 4).Draw(t, "fails") == 4,
		}
		d.at = max(d.at, d.tick)
		if rapid.IntRange(0, 2).Draw(t, "dies") == 2 {
			d.killed = time.Millisecond + seconds(60).Draw(t, "killed")
		}
		return d
	}), 1, 12)
	kinds := []locktest.FaultKind{locktest.FaultDropAnswer, locktest.FaultFailBefore, locktest.FaultBlackHole, locktest.FaultLate, locktest.FaultThrottle, locktest.FaultConflict}
	faults := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) locktest.Fault {
		return locktest.Fault{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Skip: rapid.IntRange(0, 30).Draw(t, "skip"),
			Count: rapid.IntRange(1, 3).Draw(t, "count"), Wait: seconds(8).Draw(t, "wait"),
		}
	}), 0, 6)
	rapid.Check(t, func(rt *rapid.T) {
		plan, disturb := deliveries.Draw(rt, "deliveries"), faults.Draw(rt, "faults")
		j := short
		j.Policy = rapid.SampledFrom([]job.Policy{job.SkipWhenAlive, job.SkipAtOnce, job.Wait, job.Queue, job.Supersede}).Draw(rt, "policy")
		h := &history{done: map[time.Time]bool{}, queues: j.Policy == job.Queue}
		var last singleton.Result
		var lastErr error
		var done time.Time
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var calm []func()
			for _, f := range disturb {
				calm = append(calm, w.db.Inject(f))
			}
			var all sync.WaitGroup
			for _, d := range plan {
				all.Go(func() { h.deliver(w, j, d) })
			}
			all.Wait()
			for _, stop := range calm {
				stop()
			}
			time.Sleep(time.Minute)
			// Whatever happened before, a newer tick is run, after a lease at most.
			last, lastErr = w.invoke(w.process("last"), j, w.scheduled(5*time.Minute), does(0))
			done = w.doneTick()
		})
		for _, f := range h.faults {
			rt.Error(f)
		}
		if last.Outcome != singleton.Completed || !last.Marked || done != last.Tick {
			rt.Errorf("the last tick: %+v, %v, done %v", last, lastErr, done)
		}
	})
}

func (h *history) deliver(w *world, j job.Spec, d delivery) {
	time.Sleep(d.at)
	p := w.process("")
	if d.killed > 0 {
		time.AfterFunc(d.killed, p.kill)
	}
	res, _ := w.invoke(p, j, w.scheduled(d.tick), func(ctx context.Context, run *singleton.Run) error {
		h.begins(run)
		err := does(d.work)(ctx, run)
		if err == nil && d.fails {
			err = errBoom
		}
		h.ends(run, err == nil)
		return err
	})
	h.answered(res)
}
