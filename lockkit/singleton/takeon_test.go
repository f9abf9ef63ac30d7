package singleton_test

import (
	"context"
	"errors"
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

func TestHolderWithoutATickRunsTheQueuedOne(t *testing.T) {
	inQueue(t, func(q *queued) {
		out, started := make(chan singleton.Result, 1), make(chan struct{}, 9)
		work := q.work(time.Minute)
		go func() {
			res, _ := q.invoke(q.process("pod-1"), q.job, events.Tick{}, func(ctx context.Context, run *singleton.Run) error {
				started <- struct{}{}
				return work(ctx, run)
			})
			out <- res
		}()
		<-started
		q.deliver(time.Second, singleton.Queued)
		if res := <-out; !res.Marked || !res.Queued || len(q.ran) != 2 || q.ran[1] != (interval{-time.Minute, time.Second}) {
			t.Errorf("%+v, ran %v", res, q.ran)
		}
		q.nothingWaits()
	})
}

func TestGuaranteeQueuedTickIsNotForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		spec func(*job.Spec)
		work func(q *queued) singleton.Work
		then func(q *queued, p *process)
		want singleton.Outcome // of the holder
		done time.Duration     // by the holder
	}{
		"the holder fails": {
			work: func(q *queued) singleton.Work {
				return func(ctx context.Context, run *singleton.Run) error {
					return errors.Join(q.work(time.Minute)(ctx, run), errBoom)
				}
			},
			want: singleton.Failed, done: -time.Minute,
		},
		"the holder is stopped": {
			then: func(q *queued, _ *process) {
				token, _ := q.item()["fence"].(*types.AttributeValueMemberN)
				q.put(lockkit.Item{"stop": m(lockkit.Item{"token": token})})
			},
			want: singleton.Stopped, done: -time.Minute,
		},
		"the job is paused": {
			then: func(q *queued, _ *process) { q.put(lockkit.Item{"paused": m(lockkit.Item{"id": s("p1")})}) },
			want: singleton.Completed,
		},
		"no time is left": {
			spec: func(j *job.Spec) { j.WorkTime = 250 * time.Second },
			want: singleton.Completed,
		},
		"the holder dies": {
			then: func(_ *queued, p *process) { p.kill() },
			want: singleton.Lost, done: -time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(q *queued) {
				if c.spec != nil {
					c.spec(&q.job)
				}
				work := q.work(time.Minute)
				if c.work != nil {
					work = c.work(q)
				}
				p, holder := q.hold(work)
				time.Sleep(time.Second)
				q.deliver(5*time.Second, singleton.Queued)
				if c.then != nil {
					c.then(q, p)
				}
				if res := <-holder; res.Outcome != c.want {
					t.Errorf("holder: %+v", res)
				}
				if it := q.item(); !q.doneTick().Equal(q.due.Add(c.done)) || it["pending"] == nil || c.want != singleton.Lost && it["owner"] != nil {
					t.Errorf("done %v, item %v", q.doneTick(), it)
				}
				q.put(lockkit.Item{"paused": nil})
				// The holder's own retry, or the next tick: both cover what waits.
				q.ran = nil
				res, err := q.invoke(q.process("pod-3"), q.job, q.scheduled(0), q.work(0))
				q.want(res, err, singleton.Completed)
				q.covered(interval{c.done, 5 * time.Second})
				if !res.RunsTick.Equal(q.due.Add(5*time.Second)) || !q.doneTick().Equal(res.RunsTick) {
					t.Errorf("%+v", res)
				}
				q.nothingWaits()
			})
		})
	}
}

func TestRetryOfADoneTickRunsTheOneThatFailed(t *testing.T) {
	inQueue(t, func(q *queued) {
		calls := 0
		_, holder := q.hold(func(ctx context.Context, run *singleton.Run) error {
			if calls++; calls == 2 {
				return errBoom
			}
			return does(time.Minute)(ctx, run)
		})
		time.Sleep(time.Second)
		q.deliver(time.Second, singleton.Queued)
		if res := <-holder; res.Outcome != singleton.Failed || !res.Tick.Equal(q.due.Add(time.Second)) || !q.doneTick().Equal(q.due) {
			t.Fatalf("%+v, done %v", res, q.doneTick())
		}
		q.db.ResetRequests()
		res, err := q.invoke(q.process("pod-3"), q.job, q.scheduled(0), q.work(0))
		q.want(res, err, singleton.Completed)
		q.covered(interval{0, time.Second})
		q.requests("wWW")
		q.deliver(0, singleton.Superseded) // nothing waits any more
	})
}

func TestHandoverWhoseAnswerIsLost(t *testing.T) {
	for name, fault := range map[string]locktest.Fault{
		"applied":     {Kind: locktest.FaultDropAnswer},
		"not applied": {Kind: locktest.FaultFailBefore},
		"throttled":   {Kind: locktest.FaultThrottle, Count: 4},
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(q *queued) {
				_, holder := q.hold(q.work(15*time.Second, 15*time.Second))
				q.deliver(time.Second, singleton.Queued)
				// Acquire, renewals and the refused release are behind it then.
				fault.Operation, fault.Match = "UpdateItem", func(r locktest.FaultRequest) bool {
					return strings.Contains(string(r.Body), "#prev = :prev, #run = :run")
				}
				q.db.Inject(fault)
				res := <-holder
				q.covered(interval{-time.Minute, 0}, interval{0, time.Second})
				if res.Outcome != singleton.Completed || !res.Marked || res.Warning != "" {
					t.Errorf("%+v", res)
				}
				q.nothingWaits()
			})
		})
	}
}

func TestHandoverThatStaysUnansweredLeavesTheTick(t *testing.T) {
	inQueue(t, func(q *queued) {
		_, holder := q.hold(q.work(15 * time.Second))
		q.deliver(time.Second, singleton.Queued)
		q.db.Inject(locktest.Fault{Operation: "UpdateItem", Count: -1, Kind: locktest.FaultFailBefore, Match: func(r locktest.FaultRequest) bool {
			return strings.Contains(string(r.Body), "#prev = :prev, #run = :run")
		}})
		res := <-holder
		q.covered(interval{-time.Minute, 0})
		if it := q.item(); res.Outcome != singleton.Completed || !res.Marked || it["owner"] != nil || it["pending"] == nil || !q.doneTick().Equal(q.due) {
			t.Errorf("%+v, item %v", res, it)
		}
	})
}

func TestQueuedTickBeginsAnew(t *testing.T) {
	for name, commits := range map[string]bool{"after Commit": true, "after returning nil": false} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(q *queued) {
				var before *singleton.Run
				_, holder := q.hold(func(ctx context.Context, run *singleton.Run) error {
					if run.Cursor != "" || q.item()["cursor"] != nil {
						t.Errorf("cursor %q of tick %v, item %v", run.Cursor, run.Tick, q.item())
					}
					if before != nil && before.Checkpoint(ctx, "a stray of the finished tick") == nil {
						t.Error("a finished tick's checkpoint went through")
					}
					before = run
					if err := run.Checkpoint(ctx, "page 2"); err != nil {
						return err
					}
					err := q.work(time.Minute)(ctx, run)
					if commits {
						err = errors.Join(err, run.Commit(ctx))
					}
					return err
				})
				time.Sleep(time.Second)
				q.deliver(time.Second, singleton.Queued)
				res := <-holder
				q.covered(interval{-time.Minute, 0}, interval{0, time.Second})
				if res.Committed != commits || !res.Marked || q.item()["cursor"] != nil {
					t.Errorf("%+v, item %v", res, q.item())
				}
				q.nothingWaits()
			})
		})
	}
}

func TestPanicOfAHolderLeavesTheQueuedTick(t *testing.T) {
	inQueue(t, func(q *queued) {
		started := make(chan struct{})
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_, _ = q.invoke(q.process("pod-1"), q.job, q.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
				close(started)
				_ = does(time.Minute)(ctx, run)
				_ = run.Commit(ctx)
				panic("boom")
			})
		}()
		<-started
		q.deliver(time.Second, singleton.Queued)
		if v := <-panicked; v != "boom" {
			t.Errorf("panicked with %v", v)
		}
		if it := q.item(); it["pending"] == nil || it["owner"] != nil {
			t.Errorf("item %v", it)
		}
	})
}
