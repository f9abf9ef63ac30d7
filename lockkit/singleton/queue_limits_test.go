package singleton_test

import (
	"context"
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

// lines of a log, each by itself.
func (q *queued) lines() []map[string]any {
	q.Helper()
	var all []map[string]any
	for text := range strings.SplitSeq(strings.TrimSpace(q.log.String()), "\n") {
		one := &lines{}
		one.WriteString(text)
		all = append(all, one.one(q.TB.(*testing.T)))
	}
	return all
}

func TestQueuedTickThatIsTooOldIsNotRun(t *testing.T) {
	inQueue(t, func(q *queued) {
		q.job.MaxAge = time.Minute
		_, holder := q.hold(q.work(90 * time.Second))
		time.Sleep(time.Second)
		q.deliver(5*time.Second, singleton.Queued)
		res := <-holder
		q.covered(interval{-time.Minute, 0})
		if res.Outcome != singleton.Completed || !res.Marked || res.Queued || !res.Tick.Equal(q.due) || !q.doneTick().Equal(q.due) {
			t.Errorf("%+v, done %v", res, q.doneTick())
		}
		q.nothingWaits()
		all := q.lines()
		if len(all) != 2 || all[0]["outcome"] != "completed" || all[1]["outcome"] != "expired" || all[1]["queued"] != true || all[1]["tick"] != q.due.Add(5*time.Second).Format(time.RFC3339) {
			t.Errorf("lines %v", all)
		}
		q.deliver(5*time.Second, singleton.Expired) // as the same tick delivered
	})
}

// A newer one that is put there while the old one is taken off is run.
func TestTickQueuedBehindOneThatIsTooOldIsRun(t *testing.T) {
	inQueue(t, func(q *queued) {
		q.job.MaxAge = time.Minute
		_, holder := q.hold(q.work(90*time.Second, 0))
		newer := q.due.Add(80 * time.Second)
		time.AfterFunc(90*time.Second+100*time.Millisecond, func() { q.put(lockkit.Item{"pending": n(newer.UnixMilli())}) })
		q.deliver(5*time.Second, singleton.Queued)
		q.db.Inject(locktest.Fault{ // the answer that refuses the release
			Operation: "UpdateItem", Kind: locktest.FaultDelayAnswer, Wait: 200 * time.Millisecond,
			Match: func(r locktest.FaultRequest) bool { return strings.Contains(string(r.Body), "#pending <= :done") },
		})
		res := <-holder
		q.covered(interval{-time.Minute, 0}, interval{0, 80 * time.Second})
		if !res.Tick.Equal(newer) || !res.Marked {
			t.Errorf("%+v", res)
		}
		q.nothingWaits()
		if all := q.lines(); len(all) != 3 || all[0]["outcome"] != "completed" || all[1]["outcome"] != "expired" || all[2]["queued"] != true || all[2]["outcome"] != "completed" {
			t.Errorf("lines %v", all)
		}
	})
}

func TestManualRunDoesNotTakeAQueuedTickThatIsTooOld(t *testing.T) {
	for name, tick := range map[string]func(q *queued) events.Tick{
		"of an older tick": func(q *queued) events.Tick { return events.Tick{Time: q.due} },
		"without a tick":   func(*queued) events.Tick { return events.Tick{} },
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(q *queued) {
				q.job.MaxAge = time.Minute
				q.put(lockkit.Item{"pending": n(q.due.Add(time.Second).UnixMilli())})
				time.Sleep(2 * time.Minute)
				res, err := q.invoke(q.process("a"), q.job, tick(q), q.work(0), q.log.option())
				q.want(res, err, singleton.Completed)
				if len(q.ran) != 1 || q.ran[0].tick > 0 || !res.RunsTick.IsZero() {
					t.Errorf("ran %v, %+v", q.ran, res)
				}
				q.nothingWaits()
				if all := q.lines(); len(all) != 2 || all[1]["outcome"] != "expired" {
					t.Errorf("lines %v", all)
				}
			})
		})
	}
}

func TestPendingThatIsNoTickDoesNotKeepTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		pending func(q *queued) types.AttributeValue
		says    string
	}{
		"unreadable":    {func(*queued) types.AttributeValue { return s("soon") }, "expected a whole number"},
		"far too early": {func(q *queued) types.AttributeValue { return n(q.due.Add(time.Hour).UnixMilli()) }, "at most 5m0s after now"},
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(q *queued) {
				_, holder := q.hold(q.work(15 * time.Second))
				q.put(lockkit.Item{"pending": c.pending(q)})
				res := <-holder
				q.covered(interval{-time.Minute, 0})
				it := q.item()
				if res.Outcome != singleton.Completed || !res.Marked || it["owner"] != nil || it["pending"] == nil || !q.doneTick().Equal(q.due) || res.Requests != 4 {
					t.Errorf("%+v, item %v", res, it)
				}
				if !strings.Contains(res.Warning, "attribute pending") || !strings.Contains(res.Warning, c.says) || strings.Contains(res.Warning, "no answer") {
					t.Errorf("warning %q", res.Warning)
				}
			})
		})
	}
}

func TestTickOnTheItemFarAheadOfNowIsNotRun(t *testing.T) {
	ahead := func(q *queued) types.AttributeValue { return n(q.due.Add(24 * time.Hour).UnixMilli()) }
	for name, attrs := range map[string]func(q *queued) lockkit.Item{
		"pending": func(q *queued) lockkit.Item { return lockkit.Item{"pending": ahead(q)} },
		"cursor": func(q *queued) lockkit.Item {
			return lockkit.Item{"cursor": m(lockkit.Item{"tick": ahead(q), "data": s("page 2")})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(q *queued) {
				q.put(attrs(q))
				res, err := q.invoke(q.process("a"), q.job, q.scheduled(0), mustNotRun(t))
				q.want(res, err, singleton.Failed)
				if !strings.Contains(err.Error(), "attribute "+name) || !strings.Contains(err.Error(), "remove") || q.held() {
					t.Errorf("%v, item %v", err, q.item())
				}
			})
		})
	}
}

func TestTickIsQueuedOnlyForAHolderThatRunsIt(t *testing.T) {
	for name, holds := range map[string]func(q *queued) (gone <-chan struct{}){
		"another client": func(q *queued) <-chan struct{} {
			lease, err := q.process("dotnet").locks.Acquire(q.Context(), q.job.Name, q.job.Lease)
			if err != nil {
				q.Fatal(err)
			}
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				time.Sleep(time.Minute)
				_ = lease.Release(context.WithoutCancel(q.Context()))
			}()
			return gone
		},
		"a run under another policy": func(q *queued) <-chan struct{} {
			own := q.job
			q.job = with(job.SkipWhenAlive)
			_, holder := q.hold(q.work(time.Minute))
			q.job = own
			gone := make(chan struct{})
			go func() { defer close(gone); <-holder }()
			return gone
		},
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(q *queued) {
				gone := holds(q)
				res := q.deliver(time.Second, singleton.Skipped)
				if q.item()["pending"] != nil {
					t.Errorf("%+v, item %v", res, q.item())
				}
				<-gone
			})
		})
	}
}
