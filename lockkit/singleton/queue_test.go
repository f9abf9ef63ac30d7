package singleton_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// interval is what a work was told to cover.
type interval struct{ since, tick time.Duration }

// queued is a job under the policy Queue whose runs note what they were told.
type queued struct {
	*world
	job    job.Spec
	ran    []interval
	tokens []int64
	log    lines
}

func inQueue(t *testing.T, test func(q *queued)) {
	t.Helper()
	inWorld(t, func(w *world) {
		q := &queued{world: w, job: with(job.Queue)}
		if res, err := w.invoke(w.process("before"), q.job, w.scheduled(-time.Minute), does(0)); res.Outcome != singleton.Completed {
			t.Fatal(err)
		}
		w.db.ResetRequests()
		test(q)
	})
}

// work takes so long for each tick.
func (q *queued) work(takes ...time.Duration) singleton.Work {
	calls := 0
	return func(ctx context.Context, run *singleton.Run) error {
		q.ran = append(q.ran, interval{run.Since.Sub(q.due), run.Tick.Sub(q.due)})
		q.tokens = append(q.tokens, run.Token())
		calls++
		return does(takes[min(calls, len(takes))-1])(ctx, run)
	}
}

// hold starts a run of the first tick with its process and work, and returns once
// it works.
func (q *queued) hold(work singleton.Work) (p *process, result <-chan singleton.Result) {
	p, out, started := q.process("pod-1"), make(chan singleton.Result, 1), make(chan struct{})
	first := true
	go func() {
		res, _ := q.invoke(p, q.job, q.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			if first {
				first = false
				close(started)
			}
			return work(ctx, run)
		}, q.log.option())
		out <- res
	}()
	<-started
	return p, out
}

// deliver delivers a later tick, which must not be run by its own invocation.
func (q *queued) deliver(after time.Duration, want singleton.Outcome) singleton.Result {
	q.Helper()
	res, err := q.invoke(q.process("pod-2"), q.job, q.scheduled(after), mustNotRun(q.TB.(*testing.T)))
	q.want(res, err, want)
	return res
}

func (q *queued) covered(want ...interval) {
	q.Helper()
	if len(q.ran) != len(want) {
		q.Fatalf("ran %v, want %v", q.ran, want)
	}
	for i := range want {
		if q.ran[i] != want[i] {
			q.Errorf("ran %v, want %v", q.ran, want)
		}
	}
}

func (q *queued) nothingWaits() {
	q.Helper()
	if it := q.item(); it["pending"] != nil || it["owner"] != nil {
		q.Errorf("item %v", it)
	}
}

func TestGuaranteeQueuedTickIsRunByTheHolder(t *testing.T) {
	inQueue(t, func(q *queued) {
		_, holder := q.hold(q.work(65*time.Second, 25*time.Second)) // not when a renewal is due
		time.Sleep(time.Second)
		q.db.ResetRequests()
		res := q.deliver(time.Second, singleton.Queued)
		if q.sent() != "wWWR" /* the third is the holder's renewal */ || res.Requests != 3 || res.Holder != "pod-1" || res.WaitedMS > spec.Lease.Milliseconds()*2/5 {
			t.Errorf("requests %s, %+v", q.sent(), res)
		}
		last := <-holder
		q.covered(interval{-time.Minute, 0}, interval{0, time.Second})
		if last.Outcome != singleton.Completed || !last.Queued || !last.Marked || !last.Tick.Equal(q.due.Add(time.Second)) || !last.Since.Equal(q.due) || q.tokens[0] != q.tokens[1] || last.WorkedMS != 25_000 {
			t.Errorf("%+v, tokens %v", last, q.tokens)
		}
		if !q.doneTick().Equal(q.due.Add(time.Second)) {
			t.Errorf("done %v", q.doneTick())
		}
		q.nothingWaits()
		all := strings.Split(strings.TrimSpace(q.log.String()), "\n")
		if len(all) != 2 || !strings.Contains(all[0], `"outcome":"completed","marked":true`) || strings.Contains(all[0], `"queued"`) || !strings.Contains(all[1], `"queued":true`) {
			t.Errorf("lines %s", q.log.String())
		}
		// Acquire, six renewals, the refused release and the renewal instead of it;
		// then two renewals and the release.
		if first, second := requestsOf(t, all[0]), requestsOf(t, all[1]); first != 9 || second != last.Requests || second != 3 {
			t.Errorf("requests %d and %d", first, second)
		}
	})
}

func requestsOf(t *testing.T, line string) int {
	t.Helper()
	l := &lines{}
	l.WriteString(line)
	return int(l.one(t)["requests"].(float64))
}

func TestGuaranteeQueueCostsAHolderNothingWhenNothingWaits(t *testing.T) {
	inQueue(t, func(q *queued) {
		_, holder := q.hold(q.work(25 * time.Second))
		<-holder
		q.requests("WWWW") // acquire, two renewals, release
	})
}

func TestNewestOfTheQueuedTicksIsRun(t *testing.T) {
	inQueue(t, func(q *queued) {
		_, holder := q.hold(q.work(2*time.Minute, 0))
		for _, after := range []time.Duration{2 * time.Second, 5 * time.Second, 5 * time.Second, 3 * time.Second} {
			time.Sleep(time.Second)
			q.deliver(after, singleton.Queued)
		}
		<-holder
		q.covered(interval{-time.Minute, 0}, interval{0, 5 * time.Second})
		// Those that were covered are done.
		for after, want := range map[time.Duration]singleton.Outcome{5 * time.Second: singleton.Duplicate, 3 * time.Second: singleton.Superseded} {
			q.deliver(after, want)
		}
		q.nothingWaits()
	})
}

func TestTicksAreQueuedOneAfterTheOther(t *testing.T) {
	inQueue(t, func(q *queued) {
		_, holder := q.hold(q.work(time.Minute))
		for i := range 3 {
			time.Sleep(45 * time.Second)
			q.deliver(time.Duration(i+1)*time.Minute, singleton.Queued)
		}
		res := <-holder
		q.covered(interval{-time.Minute, 0}, interval{0, time.Minute}, interval{time.Minute, 2 * time.Minute}, interval{2 * time.Minute, 3 * time.Minute})
		if res.Outcome != singleton.Completed || !res.Tick.Equal(q.due.Add(3*time.Minute)) {
			t.Errorf("%+v", res)
		}
		q.nothingWaits()
	})
}

func TestQueueOfATickThatIsInHandAlready(t *testing.T) {
	inQueue(t, func(q *queued) {
		_, holder := q.hold(q.work(time.Minute))
		time.Sleep(time.Second)
		q.deliver(0, singleton.Duplicate)          // runs right now
		q.deliver(-time.Second, singleton.Skipped) // a newer one runs
		if q.item()["pending"] != nil {
			t.Errorf("item %v", q.item())
		}
		q.deliver(time.Minute, singleton.Queued)
		time.Sleep(time.Minute - time.Since(q.due.Add(time.Second)) + 5*time.Second)
		q.deliver(time.Minute, singleton.Duplicate) // the queued one runs by now
		q.deliver(30*time.Second, singleton.Skipped)
		q.deliver(0, singleton.Duplicate) // done, at once
		<-holder
		q.covered(interval{-time.Minute, 0}, interval{0, time.Minute})
	})
}

func TestRunWithoutATickIsNotQueued(t *testing.T) {
	inQueue(t, func(q *queued) {
		_, holder := q.hold(q.work(time.Minute))
		time.Sleep(time.Second)
		res, err := q.invoke(q.process("pod-2"), q.job, events.Tick{}, mustNotRun(t))
		q.want(res, err, singleton.Skipped)
		if q.item()["pending"] != nil {
			t.Errorf("item %v", q.item())
		}
		<-holder
	})
}

// What keeps the holder from running a tick that waits leaves it to the next run.
func TestQueuedTickOfASilentHolderIsRunByItsOwnDelivery(t *testing.T) {
	inQueue(t, func(q *queued) {
		q.crash("pod-1", q.job, q.scheduled(0))
		res, err := q.invoke(q.process("pod-2"), q.job, q.scheduled(time.Second), q.work(0))
		q.want(res, err, singleton.Completed)
		q.covered(interval{-time.Minute, time.Second})
		if res.Takeover == nil {
			t.Errorf("%+v", res)
		}
		q.nothingWaits()
	})
}

func TestNextTickCoversAnOlderOneThatWaits(t *testing.T) {
	inQueue(t, func(q *queued) {
		q.put(lockkit.Item{"pending": n(q.due.Add(time.Second).UnixMilli())})
		res, err := q.invoke(q.process("a"), q.job, q.scheduled(time.Minute), q.work(0))
		q.want(res, err, singleton.Completed)
		q.covered(interval{-time.Minute, time.Minute})
		q.nothingWaits()
		if !res.RunsTick.IsZero() {
			t.Errorf("%+v", res)
		}
	})
}

// A failed queued tick is tried again by the retry of the delivery that ran it.
// A handover that never gets an answer is given up, and the release says what it
// was to say.
// Each tick has its own Commit and its own cursor.
func TestOddPendingTickIsAnErrorUnderQueueOnly(t *testing.T) {
	inQueue(t, func(q *queued) {
		q.put(lockkit.Item{"pending": s("soon")})
		res, err := q.invoke(q.process("a"), q.job, q.scheduled(0), mustNotRun(t))
		q.want(res, err, singleton.Failed)
		if !strings.Contains(err.Error(), "attribute pending") {
			t.Error(err)
		}
		res, err = q.invoke(q.process("a"), spec, q.scheduled(0), does(0))
		q.want(res, err, singleton.Completed)
	})
}

// A holder that died between its Commit and its release leaves the tick on the
// item although it is done.
func TestTickThatWaitsAndIsDoneCountsForNothing(t *testing.T) {
	inQueue(t, func(q *queued) {
		waits := q.due.Add(-time.Minute) // the last completed tick
		q.put(lockkit.Item{"pending": n(waits.UnixMilli())})
		q.deliver(-time.Minute, singleton.Duplicate)
		q.deliver(-2*time.Minute, singleton.Superseded)
		res, err := q.invoke(q.process("a"), q.job, events.Tick{}, q.work(0))
		q.want(res, err, singleton.Completed)
		if len(q.ran) != 1 || q.item()["pending"] != nil {
			t.Errorf("ran %v, item %v", q.ran, q.item())
		}
		q.put(lockkit.Item{"pending": n(waits.UnixMilli())})
		q.ran = nil
		res, err = q.invoke(q.process("a"), q.job, q.scheduled(0), q.work(0))
		q.want(res, err, singleton.Completed)
		q.covered(interval{-time.Minute, 0})
		q.nothingWaits()
	})
}
