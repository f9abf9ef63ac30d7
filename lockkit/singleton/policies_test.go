package singleton_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// with is the job of these tests under another policy.
func with(p job.Policy) job.Spec {
	j := spec
	j.Policy = p
	return j
}

// manual are a person's invokes: outside the ticks, of a tick, and of one again.
func manual(w *world) []events.Tick {
	return []events.Tick{{}, {Time: w.due}, {Time: w.due, Force: true}}
}

func TestGuaranteeSkipAtOnceCostsOneRequest(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 3 * time.Second, 9990 * time.Millisecond} {
		inWorld(t, func(w *world) {
			holder := w.hold("pod-1", 0, time.Minute)
			time.Sleep(after)
			w.db.ResetRequests()
			begin := time.Now()
			res, err := w.invoke(w.process("pod-2"), with(job.SkipAtOnce), w.scheduled(time.Second), mustNotRun(t))
			w.want(res, err, singleton.Skipped)
			w.requests("w")
			if time.Since(begin) != 0 || res.Holder != "pod-1" || res.Requests != 1 {
				t.Errorf("after %s: %+v", after, res)
			}
			<-holder
		})
	}
}

// The crashed run's retry may be the only one that comes before the next tick, so
// it must not go away because the stamp of the dead is still young.
func TestGuaranteeSkipAtOnceWatchesWhatMayBeARetry(t *testing.T) {
	for name, tick := range map[string]func(w *world) events.Tick{
		"Lambda's, of the same event": func(w *world) events.Tick { return w.scheduled(0) },
		"Scheduler's, of a later tick": func(w *world) events.Tick {
			tick := w.scheduled(time.Minute)
			tick.Attempt = 2
			return tick
		},
		"a person's, of the same tick": func(w *world) events.Tick { return events.Tick{Time: w.due} },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.crash("pod-1", spec, w.scheduled(0))
				res, err := w.invoke(w.process("pod-2"), with(job.SkipAtOnce), tick(w), does(0))
				w.want(res, err, singleton.Completed)
				if res.Takeover == nil || res.WaitedMS < spec.Lease.Milliseconds() {
					t.Errorf("%+v", res)
				}
			})
			inWorld(t, func(w *world) {
				holder := w.hold("pod-1", 0, time.Minute)
				time.Sleep(time.Second)
				w.db.ResetRequests()
				res, err := w.invoke(w.process("pod-2"), with(job.SkipAtOnce), tick(w), mustNotRun(t))
				want := singleton.Duplicate
				if res.Tick.After(w.due) {
					want = singleton.Skipped
				}
				w.want(res, err, want)
				if got := strings.ReplaceAll(w.sent(), "W", ""); got != "wR" {
					t.Errorf("requests %s, want a look that saw a renewal", got)
				}
				<-holder
			})
		})
	}
}

func TestSkipAtOnceTakesADeadHolderOverOnceItsStampIsOld(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		time.Sleep(spec.Lease/2 - time.Millisecond)
		// Young: skipped, which is what the policy trades for the wait.
		res, err := w.invoke(w.process("pod-2"), with(job.SkipAtOnce), w.scheduled(time.Second), mustNotRun(t))
		w.want(res, err, singleton.Skipped)
		time.Sleep(2 * time.Millisecond)
		res, err = w.invoke(w.process("pod-2"), with(job.SkipAtOnce), w.scheduled(time.Second), does(0))
		w.want(res, err, singleton.Completed)
	})
}

func TestSkipAtOnceWatchesAHolderWithoutAStamp(t *testing.T) {
	inWorld(t, func(w *world) {
		w.foreign(spec.Lease)
		time.AfterFunc(10*time.Second, func() { w.put(lockkit.Item{"rvn": s("v2")}) })
		res, err := w.invoke(w.process("a"), with(job.SkipAtOnce), w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Skipped)
		if res.WaitedMS < 10_000 {
			t.Errorf("%+v", res)
		}
	})
}

func TestGuaranteeWaitRunsAfterALiveHolder(t *testing.T) {
	for name, work := range map[string]singleton.Work{
		"that completes": does(2 * time.Minute),
		"that fails": func(ctx context.Context, run *singleton.Run) error {
			return errors.Join(does(2*time.Minute)(ctx, run), errBoom)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				holder := w.holdFor("pod-1", spec, w.scheduled(0), work)
				time.Sleep(time.Second)
				res, err := w.invoke(w.process("pod-2"), with(job.Wait), w.scheduled(time.Second), does(time.Minute))
				w.want(res, err, singleton.Completed)
				if waited := time.Duration(res.WaitedMS) * time.Millisecond; waited < 2*time.Minute-time.Second || waited > 2*time.Minute+spec.Lease/3 || res.Takeover != nil || res.Holder != "" {
					t.Errorf("%+v", res)
				}
				<-holder
			})
		})
	}
}

func TestWaitLeavesTimeForTheWork(t *testing.T) {
	inWorld(t, func(w *world) {
		j := with(job.Wait)
		j.WorkTime = time.Minute
		holder := w.hold("pod-1", 0, 10*time.Minute)
		begin := time.Now()
		res, err := w.invoke(w.process("pod-2"), j, w.scheduled(time.Second), mustNotRun(t))
		w.want(res, err, singleton.Skipped)
		if waited := time.Since(begin); waited != j.Timeout-2*time.Second-time.Minute || res.Holder != "pod-1" {
			t.Errorf("waited %s, %+v", waited, res)
		}
		<-holder
	})
}

func TestGuaranteeWaitForASilentHolderIsNoSkip(t *testing.T) {
	inWorld(t, func(w *world) {
		w.foreign(24 * time.Hour)
		begin := time.Now()
		res, err := w.invoke(w.process("a"), with(job.Wait), w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Blocked)
		if waited := time.Since(begin); waited != spec.Timeout-3*time.Second {
			t.Errorf("watched for %s", waited)
		}
	})
}

func TestWaitTakesADeadHolderOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.crash("pod-1", spec, w.scheduled(0))
		res, err := w.invoke(w.process("pod-2"), with(job.Wait), w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
		if res.Takeover == nil || res.WaitedMS > spec.Lease.Milliseconds()+1000 {
			t.Errorf("%+v", res)
		}
	})
}

// A delivery of the tick at work is there to run it if the holder does not.
func TestWaitForTheHolderOfTheSameTick(t *testing.T) {
	for want, end := range map[singleton.Outcome]error{singleton.Duplicate: nil, singleton.Completed: errBoom} {
		t.Run(string(want), func(t *testing.T) {
			inWorld(t, func(w *world) {
				holder := w.holdFor("pod-1", spec, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
					return errors.Join(does(time.Minute)(ctx, run), end)
				})
				time.Sleep(time.Second)
				res, err := w.invoke(w.process("pod-2"), with(job.Wait), w.scheduled(0), does(0))
				w.want(res, err, want)
				if res.WaitedMS < 59_000 || res.DoneTick.IsZero() != (end != nil) {
					t.Errorf("%+v", res)
				}
				<-holder
			})
		})
	}
	inWorld(t, func(w *world) {
		holder := w.hold("pod-1", 0, 10*time.Minute)
		time.Sleep(time.Second)
		res, err := w.invoke(w.process("pod-2"), with(job.Wait), w.scheduled(0), mustNotRun(t))
		w.want(res, err, singleton.Duplicate)
		<-holder
	})
}

func TestFreeLockIsRunAtOnceUnderEveryPolicy(t *testing.T) {
	for _, p := range []job.Policy{"", job.SkipWhenAlive, job.SkipAtOnce, job.Wait} {
		inWorld(t, func(w *world) {
			_, _ = w.invoke(w.process("a"), spec, w.scheduled(0), does(0))
			w.db.ResetRequests()
			res, err := w.invoke(w.process("b"), with(p), w.scheduled(time.Second), does(0))
			w.want(res, err, singleton.Completed)
			w.requests("WW")
			if res.WaitedMS != 0 {
				t.Errorf("%s: %+v", p, res)
			}
		})
	}
}

func TestDeadlineThatLeavesTooLittleForTheWorkIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		j := with(job.Wait)
		j.WorkTime = time.Minute
		do := func(left time.Duration) error {
			ctx, cancel := context.WithTimeout(w.Context(), left)
			defer cancel()
			_, err := singleton.Do(ctx, w.process("a").locks, j, w.scheduled(0), does(0))
			return err
		}
		// 30 s lease, 10 s margin, 2 s reserve, and a minute less the one second that
		// an invocation may begin late.
		if err := do(101 * time.Second); err == nil || !strings.Contains(err.Error(), "the work needs 59s of its work time, 1m41s in all") {
			t.Errorf("got %v", err)
		}
		w.requests("")
		if err := do(101*time.Second + 1); err != nil {
			t.Error(err)
		}
	})
}
