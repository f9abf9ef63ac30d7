package singleton_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

type av = types.AttributeValue

var errBoom = errors.New("boom")

// hold starts a run that works for d, and returns once it works.
func (w *world) hold(label string, tick, d time.Duration) (result <-chan singleton.Result) {
	return w.holdFor(label, spec, w.scheduled(tick), does(d))
}

// holdFor starts a run, and returns once it works.
func (w *world) holdFor(label string, j job.Spec, tick events.Tick, work singleton.Work) (result <-chan singleton.Result) {
	p, started, out := w.process(label), make(chan struct{}), make(chan singleton.Result, 1)
	j.Timeout = 15 * time.Minute
	works := sync.OnceFunc(func() { close(started) }) // for each tick that it takes on
	go func() {
		res, _ := w.invoke(p, j, tick, func(ctx context.Context, run *singleton.Run) error {
			works()
			return work(ctx, run)
		})
		out <- res
	}()
	<-started
	return out
}

func TestGuaranteeSkipSawARenewal(t *testing.T) {
	// A run that arrives with a renewal's first instants looks a third of the lease
	// later, which is just too early, and needs a second read: hence from 1 s on.
	for _, after := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, 7 * time.Second, 9 * time.Second} {
		inWorld(t, func(w *world) {
			holder := w.hold("pod-1", 0, time.Minute)
			time.Sleep(after)
			w.db.ResetRequests()
			begin := time.Now()
			res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(time.Second), mustNotRun(t))
			w.want(res, err, singleton.Skipped)
			waited := time.Since(begin)
			if waited > spec.Lease*2/5 || res.WaitedMS != waited.Milliseconds() || res.Holder != "pod-1" || res.Requests != 2 {
				t.Errorf("after %s: waited %s, %+v", after, waited, res)
			}
			if got := strings.ReplaceAll(w.sent(), "W", ""); got != "wR" { // W: the holder's renewal
				t.Errorf("requests %s, want one refused write and one read", got)
			}
			if res := <-holder; res.Outcome != singleton.Completed {
				t.Errorf("holder: %+v", res)
			}
		})
	}
}

func TestLiveHolderOfAnotherClientIsSkippedToo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.foreign(spec.Lease)
		go func() { // renews every third, and stamps nothing
			for i := range 3 {
				time.Sleep(spec.Lease / 3)
				w.put(map[string]av{"rvn": s("v" + strconv.Itoa(i+2))})
			}
		}()
		defer time.Sleep(spec.Lease)
		time.Sleep(2 * time.Second)
		w.db.ResetRequests()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Skipped)
		if got := w.sent(); got != "wR" && got != "wRR" || res.Holder != "dotnet" {
			t.Errorf("requests %s, %+v", got, res)
		}
	})
}

func TestSameTickAtWorkIsADuplicateOnceItsHolderProvedAlive(t *testing.T) {
	inWorld(t, func(w *world) {
		holder := w.hold("pod-1", 0, time.Minute)
		time.Sleep(2 * time.Second)
		begin := time.Now()
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Duplicate)
		if time.Since(begin) == 0 || res.Holder != "pod-1" || !res.DoneTick.IsZero() {
			t.Errorf("without proof: %+v", res)
		}
		<-holder
	})
}

func TestOldRecordUnderAnotherClientIsNoDuplicate(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		w.foreign(spec.Lease) // it took over, and left run in place
		time.AfterFunc(5*time.Second, func() { w.put(map[string]av{"rvn": s("v2")}) })
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Skipped)
	})
}

func TestGuaranteeCrashedRunIsTakenOver(t *testing.T) {
	inWorld(t, func(w *world) {
		crashed := time.Now().UTC()
		w.crash("pod-1", spec, w.scheduled(0))
		time.Sleep(time.Minute) // silent for long, and still watched for a whole lease
		begin := time.Now()
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if waited := time.Since(begin); waited < spec.Lease || waited > spec.Lease+2*time.Second {
			t.Errorf("took over after %s, want a whole lease", waited)
		}
		got := res.Takeover
		if got == nil || got.Holder != "pod-1" || got.UnknownClient || got.RequestID != "req-dead" || !got.Tick.Equal(w.due) || !got.Started.Equal(crashed.Truncate(time.Millisecond)) || got.Token != res.Token-1 {
			t.Errorf("takeover %+v", got)
		}
		if !w.doneTick().Equal(w.due) {
			t.Error("the redelivered tick is not marked")
		}
	})
}

func TestDeadRecordIsFoundWhenTheAcquiresAnswerIsLost(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		// The first write is refused; the second is the takeover.
		w.db.Inject(faultDrop("UpdateItem", 1))
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if got := res.Takeover; got == nil || got.UnknownClient || got.RequestID != "req-dead" || got.Holder != "pod-1" {
			t.Errorf("takeover %+v", got)
		}
	})
}

// The write that was to take the lock over finds it released, and its answer, which
// would have told, is lost.
func TestAHolderThatReleasedInTimeWasNotTakenOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Skip: 1, Kind: locktest.FaultLate, Wait: 2 * time.Second})
		calm := w.db.Inject(locktest.Fault{Operation: "UpdateItem", Skip: 1, Count: -1, Kind: locktest.FaultFailBefore})
		time.AfterFunc(spec.Lease+time.Second, func() {
			record := w.item()["run"].(*types.AttributeValueMemberM).Value
			record["e"], record["o"] = n(time.Now().UnixMilli()), s("failed")
			w.put(map[string]av{"owner": nil, "run": nil, "prev": &types.AttributeValueMemberM{Value: record}})
		})
		time.AfterFunc(spec.Lease+500*time.Millisecond, func() {
			read := w.db.Inject(locktest.Fault{Operation: "GetItem", Count: -1, Kind: locktest.FaultFailBefore})
			time.AfterFunc(2500*time.Millisecond, func() { calm(); read() })
		})
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if res.Takeover != nil || res.WaitedMS < (spec.Lease+3*time.Second).Milliseconds() {
			t.Errorf("after %d ms: takeover %+v", res.WaitedMS, res.Takeover)
		}
	})
}

func TestTakeoverFromAnotherClientIsNotAttributedToOurOldRun(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		w.foreign(spec.Lease) // it took over, and left run in place
		res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if got := res.Takeover; got == nil || !got.UnknownClient || got.Holder != "dotnet" || got.Token != 7 || got.RequestID != "" || !got.Tick.IsZero() {
			t.Errorf("takeover %+v", got)
		}
	})
}

func TestTheItemsLeaseIsWaitedOutAndNotTheJobsOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.foreign(2 * time.Minute)
		begin := time.Now()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if waited := time.Since(begin); waited < 2*time.Minute || waited > 2*time.Minute+time.Second {
			t.Errorf("took over after %s", waited)
		}
	})
}

func TestGuaranteeSilentHolderIsNoSkip(t *testing.T) {
	inWorld(t, func(w *world) {
		w.foreign(24 * time.Hour)
		begin := time.Now()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Blocked)
		if waited := time.Since(begin); waited != spec.Timeout-2*time.Second {
			t.Errorf("watched for %s, want to the end of the time for work", waited)
		}
		for _, word := range []string{"24h0m0s", `"dotnet"`, "4m58s", "Release of package control", table, "certainly dead", "24h0m12s"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("error does not name %s: %v", word, err)
			}
		}
		if out, ok := errors.AsType[*singleton.OutcomeError](err); !ok || out.Outcome != singleton.Blocked || !out.Tick.Equal(w.due) || out.Job != "report" {
			t.Errorf("error %#v", err)
		}
	})
}

func TestLiveHolderBeyondTheRunsTimeIsSkipped(t *testing.T) {
	inWorld(t, func(w *world) {
		w.foreign(30 * time.Minute)
		go func() {
			time.Sleep(4 * time.Minute)
			w.put(map[string]av{"rvn": s("v2")})
		}()
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Skipped)
	})
}

func TestTakeoverDelayIsWaitedOutToo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.foreign(spec.Lease)
		begin := time.Now()
		res, err := w.invoke(w.process("a", lockkit.WithTakeoverDelay(20*time.Second)), spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if waited := time.Since(begin); waited < 50*time.Second || waited > 51*time.Second {
			t.Errorf("took over after %s", waited)
		}
	})
}

func TestAcquireForgetsAStopAndTheTimeToLive(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a", lockkit.WithTTL("expires", 0))
		_, _ = w.invoke(p, spec, w.scheduled(0), does(0))
		w.put(map[string]av{"expires": n(1), "stop": &types.AttributeValueMemberM{Value: map[string]av{"token": n(1)}}})
		res, err := w.invoke(p, spec, w.scheduled(time.Second), func(context.Context, *singleton.Run) error {
			if it := w.item(); it["expires"] != nil || it["stop"] != nil {
				t.Errorf("item %v", it)
			}
			return nil
		})
		w.want(res, err, singleton.Completed)
		if it := w.item(); it["expires"] != nil {
			t.Errorf("the release sets a time to live: %v", it)
		}
	})
}

func TestSomethingElseAtTheKeyBlocks(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put(map[string]av{"_type": s("ORDER")})
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Blocked)
		if !errors.Is(err, lockkit.ErrNotALock) {
			t.Error(err)
		}
	})
}
