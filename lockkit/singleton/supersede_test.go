package singleton_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

func TestGuaranteeSupersedeStopsAnOlderRunAndCoversIt(t *testing.T) {
	for _, after := range []time.Duration{time.Millisecond, 3 * time.Second, 9 * time.Second} {
		inWorld(t, func(w *world) {
			_, _ = w.invoke(w.process("before"), spec, w.scheduled(-time.Minute), does(0))
			holder := w.hold("pod-1", 0, 10*time.Minute)
			time.Sleep(after)
			w.db.ResetRequests()
			begin := time.Now()
			res, err := w.invoke(w.process("pod-2"), with(job.Supersede), w.scheduled(time.Minute), func(_ context.Context, run *singleton.Run) error {
				if !run.Since.Equal(w.due.Add(-time.Minute)) {
					t.Errorf("since %v: what the stopped run left undone is not covered", run.Since)
				}
				return nil
			})
			w.want(res, err, singleton.Completed)
			if waited := time.Since(begin); waited > spec.Lease*2/5 || res.Takeover != nil {
				t.Errorf("after %s: waited %s, %+v", after, waited, res)
			}
			// Refused, the stop; the holder's renewal and release; a look; a run.
			if got := w.sent(); got != "wWWWRWW" {
				t.Errorf("requests %s", got)
			}
			if res.Requests != 5 {
				t.Errorf("%+v", res)
			}
			old := <-holder
			if old.Outcome != singleton.Stopped || old.Stopped == nil || old.Stopped.By != "" || !old.Stopped.Tick.Equal(w.due.Add(time.Minute)) {
				t.Errorf("holder: %+v, stopped %+v", old, old.Stopped)
			}
		})
	}
}

func TestSupersedeAsksNobodyElse(t *testing.T) {
	other := func(w *world) { w.put(lockkit.Item{"owner": s("foreign"), "rvn": s("v1"), "at": nil}) }
	for name, c := range map[string]struct {
		tick   func(w *world) events.Tick
		change func(w *world)
		want   singleton.Outcome
	}{
		"the run of this tick":    {func(w *world) events.Tick { return w.scheduled(0) }, nil, singleton.Duplicate},
		"the run of a newer tick": {func(w *world) events.Tick { return w.scheduled(-time.Second) }, nil, singleton.Skipped},
		"anybody, without a tick": {func(*world) events.Tick { return events.Tick{} }, nil, singleton.Skipped},
		"another client":          {func(w *world) events.Tick { return w.scheduled(time.Second) }, other, singleton.Skipped},
		"a run without a tick":    {func(w *world) events.Tick { return w.scheduled(time.Second) }, func(w *world) { w.running(nil) }, singleton.Skipped},
		"the run after a stopped one": {func(w *world) events.Tick { return w.scheduled(time.Second) }, func(w *world) {
			w.put(lockkit.Item{"prev": m(lockkit.Item{"owner": s("x"), "o": s("stopped")})})
		}, singleton.Skipped},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				holder := w.hold("pod-1", 0, time.Minute)
				if c.change != nil {
					c.change(w)
				}
				if name == "another client" {
					go func() {
						for i := range 3 {
							time.Sleep(spec.Lease / 3)
							w.put(lockkit.Item{"rvn": s("v" + strconv.Itoa(i+2))})
						}
					}()
					defer time.Sleep(spec.Lease)
				}
				res, err := w.invoke(w.process("pod-2"), with(job.Supersede), c.tick(w), mustNotRun(t))
				w.want(res, err, c.want)
				if res.WaitedMS == 0 || res.WaitedMS > spec.Lease.Milliseconds() || w.item()["stop"] != nil {
					t.Errorf("%+v, item %v", res, w.item())
				}
				<-holder
			})
		})
	}
}

// running changes the tick of the record of the run that works; nil: it has none.
func (w *world) running(tick *time.Time) {
	it := w.item()
	run := it["run"].(*types.AttributeValueMemberM).Value
	if delete(run, "t"); tick != nil {
		run["t"] = n(tick.UnixMilli())
	}
	w.put(lockkit.Item{"run": m(run)})
}

func TestSupersedeFailsWhereTheOlderRunDoesNotStop(t *testing.T) {
	inWorld(t, func(w *world) {
		free := make(chan struct{})
		holder := w.holdFor("pod-1", spec, w.scheduled(0), func(context.Context, *singleton.Run) error { <-free; return nil })
		begin := time.Now()
		res, err := w.invoke(w.process("pod-2"), with(job.Supersede), w.scheduled(time.Second), mustNotRun(t))
		w.want(res, err, singleton.OutOfTime)
		if waited := time.Since(begin); waited != spec.Timeout-3*time.Second || !errors.Is(err, singleton.ErrOutOfTime) || !strings.Contains(err.Error(), "asked to stop") {
			t.Errorf("after %s: %v", waited, err)
		}
		close(free)
		if res := <-holder; res.Outcome != singleton.Stopped {
			t.Errorf("%+v", res)
		}
	})
}

func TestSupersedeTakesASilentHolderOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		res, err := w.invoke(w.process("pod-2"), with(job.Supersede), w.scheduled(time.Second), does(0))
		w.want(res, err, singleton.Completed)
		if res.Takeover == nil || res.WaitedMS < spec.Lease.Milliseconds() || res.WaitedMS > spec.Lease.Milliseconds()+1000 || w.item()["stop"] != nil {
			t.Errorf("%+v, item %v", res, w.item())
		}
	})
}

// What the older run has committed stays, and the newer one covers the rest.
func TestSupersedeAfterCommitWaitsForTheRun(t *testing.T) {
	inWorld(t, func(w *world) {
		holder := w.holdFor("pod-1", spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			if err := run.Commit(ctx); err != nil {
				return err
			}
			return does(40*time.Second)(ctx, run)
		})
		time.Sleep(time.Second)
		res, err := w.invoke(w.process("pod-2"), with(job.Supersede), w.scheduled(time.Second), func(_ context.Context, run *singleton.Run) error {
			if !run.Since.Equal(w.due) {
				t.Errorf("since %v", run.Since)
			}
			return nil
		})
		w.want(res, err, singleton.Completed)
		if res := <-holder; res.Outcome != singleton.Completed || res.WorkedMS != 40_000 {
			t.Errorf("holder: %+v", res)
		}
	})
}

func TestSupersedeWhoseStopHasNoAnswerStopsAllTheSame(t *testing.T) {
	for name, fault := range map[string]locktest.Fault{
		"lost":      {Operation: "UpdateItem", Skip: 1, Kind: locktest.FaultDropAnswer},
		"throttled": {Operation: "UpdateItem", Skip: 1, Kind: locktest.FaultThrottle, Count: 6},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				holder := w.hold("pod-1", 0, 10*time.Minute)
				w.db.Inject(fault)
				res, err := w.invoke(w.process("pod-2"), with(job.Supersede), w.scheduled(time.Second), does(0))
				w.want(res, err, singleton.Completed)
				if res := <-holder; res.Outcome != singleton.Stopped {
					t.Errorf("holder: %+v", res)
				}
			})
		})
	}
}

// Every run is due before the one before it is done. Without the rule for the
// run after a stopped one, none would ever complete.
func TestGuaranteeSupersedeStarvesNobodyUnderSteadyOverlap(t *testing.T) {
	inWorld(t, func(w *world) {
		results := make(chan singleton.Result, 20)
		for i := range 20 {
			go func() {
				time.Sleep(time.Duration(i) * time.Minute)
				res, _ := w.invoke(w.process("pod"), with(job.Supersede), w.scheduled(time.Duration(i)*time.Minute), does(90*time.Second))
				results <- res
			}()
		}
		got := map[singleton.Outcome]int{}
		for range 20 {
			got[(<-results).Outcome]++
		}
		if got[singleton.Completed] < 7 || got[singleton.Stopped] == 0 || got[singleton.Skipped] == 0 || len(got) != 3 {
			t.Errorf("outcomes %v, want about a third each of completed, stopped and skipped", got)
		}
	})
}

// Who has stopped a run sees to it that its tick is run, also when an older
// delivery is quicker to take the lock.
func TestSupersedeWaitsForTheQuickerOneToo(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.hold("pod-1", 0, 10*time.Minute)
		quicker := make(chan singleton.Result, 1)
		time.AfterFunc(spec.Lease/3+50*time.Millisecond, func() { // the first has just stopped, and nobody has looked yet
			res, _ := w.invoke(w.process("pod-3"), spec, w.scheduled(time.Second), does(time.Minute))
			quicker <- res
		})
		time.Sleep(time.Second)
		res, err := w.invoke(w.process("pod-2"), with(job.Supersede), w.scheduled(time.Minute), does(0))
		w.want(res, err, singleton.Completed)
		if a, b := <-first, <-quicker; a.Outcome != singleton.Stopped || b.Outcome != singleton.Completed {
			t.Errorf("first: %+v, quicker: %+v", a, b)
		}
	})
}
