package singleton_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/internal/trial"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

// orders come in one after another, and the job of the property handles those of
// its interval: two a page, the last page with the Commit.
const (
	orderEvery = 10 * time.Second
	orderCount = 30
)

func order(i int) string { return "order" + strconv.Itoa(i) }

// shift is one invocation of that job, and what befalls it.
type shift struct {
	at, tick time.Duration
	pause    time.Duration // before each page
	most     int           // pages that it does before it yields
	killed   time.Duration // after its beginning; 0: never
	replays  int           // which copy of a transaction arrives once more; 0: none
	late     time.Duration // how much later
	careless bool          // ignores the error of its Commit
	panics   bool          // after its Commit
}

func (s shift) String() string {
	return fmt.Sprintf("at %s tick %s pause %s most %d killed %s replays %d late %s careless %v panics %v", s.at, s.tick, s.pause, s.most, s.killed, s.replays, s.late, s.careless, s.panics)
}

// work handles the orders of its interval that no page before has handled.
func (s shift) work(w *world) singleton.Work {
	return func(ctx context.Context, run *singleton.Run) error {
		from := run.Since
		if run.Cursor != "" {
			ms, _ := strconv.ParseInt(run.Cursor, 10, 64)
			from = time.UnixMilli(ms)
		}
		var items []types.TransactWriteItem
		did := 0
		for i := range orderCount {
			at := w.due.Add(time.Duration(i) * orderEvery)
			if !at.After(from) || at.After(run.Tick) {
				continue
			}
			if len(items) == 2 {
				if did == s.most {
					return run.Yield()
				}
				if err := does(s.pause)(ctx, run); err != nil {
					return err
				}
				before := at.Add(-orderEvery)
				if err := run.Checkpoint(ctx, strconv.FormatInt(before.UnixMilli(), 10), items...); err != nil {
					return err
				}
				items, did = nil, did+1
			}
			items = append(items, add(order(i)))
		}
		if err := does(s.pause)(ctx, run); err != nil {
			return err
		}
		err := run.Commit(ctx, append(items, add("tick"+run.Tick.String()))...)
		switch {
		case err == nil && s.panics:
			panic("after the Commit")
		case s.careless:
			return nil
		}
		return err
	}
}

// deliver runs the shift in a process of its own.
func (s shift) deliver(w *world) (res singleton.Result) {
	time.Sleep(s.at)
	p := w.process("")
	if s.killed > 0 {
		time.AfterFunc(s.killed, p.kill)
	}
	calls := 0
	p.transact = func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
		if calls++; calls == s.replays {
			// A copy on its way through the network, for so long that DynamoDB has
			// forgotten the request token.
			again := *in
			again.ClientRequestToken = nil
			time.AfterFunc(s.late, func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
				defer cancel()
				_, _ = p.Client.TransactWriteItems(ctx, &again)
			})
		}
		return p.Client.TransactWriteItems(ctx, in, o...)
	}
	defer func() { _ = recover() }()
	res, _ = w.invoke(p, short, w.scheduled(s.tick), s.work(w))
	return res
}

// TestGuaranteeEveryEffectOnce delivers ticks in any order and number to a job of
// several pages, kills its processes at any moment, disturbs its requests and
// delivers copies of its transactions late: in the end every order was handled
// exactly once, and no tick was committed twice.
func TestGuaranteeEveryEffectOnce(t *testing.T) {
	trial.Few(t, 30)
	tenths := func(most int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(0, most*10), func(n int) time.Duration { return time.Duration(n) * 100 * time.Millisecond })
	}
	shifts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) shift {
		s := shift{
			at: tenths(240).Draw(t, "at"), tick: time.Duration(rapid.IntRange(0, 5).Draw(t, "tick")) * 40 * time.Second,
			pause: tenths(12).Draw(t, "pause"), most: rapid.IntRange(1, 6).Draw(t, "most"),
			replays: rapid.IntRange(0, 5).Draw(t, "replays"), late: rapid.OneOf(tenths(20), rapid.Map(rapid.IntRange(0, 40), func(n int) time.Duration { return time.Duration(n) * 5 * time.Millisecond })).Draw(t, "late"),
			careless: rapid.Bool().Draw(t, "careless"), panics: rapid.IntRange(0, 4).Draw(t, "panics") == 4,
		}
		s.at = max(s.at, s.tick)
		if rapid.IntRange(0, 2).Draw(t, "dies") == 2 {
			s.killed = time.Millisecond + tenths(40).Draw(t, "killed")
		}
		return s
	}), 1, 12)
	kinds := []locktest.FaultKind{locktest.FaultDropAnswer, locktest.FaultDelayAnswer, locktest.FaultFailBefore, locktest.FaultBlackHole, locktest.FaultLate, locktest.FaultThrottle, locktest.FaultConflict}
	faults := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) locktest.Fault {
		return locktest.Fault{
			Operation: rapid.SampledFrom([]string{"", transaction, transaction, "UpdateItem"}).Draw(t, "operation"),
			Kind:      rapid.SampledFrom(kinds).Draw(t, "kind"), Skip: rapid.IntRange(0, 20).Draw(t, "skip"),
			Count: rapid.IntRange(1, 4).Draw(t, "count"), Wait: tenths(15).Draw(t, "wait"),
		}
	}), 0, 8)
	rapid.Check(t, func(rt *rapid.T) {
		plan, disturb := shifts.Draw(rt, "shifts"), faults.Draw(rt, "faults")
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var calm []func()
			for _, f := range disturb {
				calm = append(calm, w.db.Inject(f))
			}
			var all sync.WaitGroup
			var mu sync.Mutex
			for _, s := range plan {
				all.Go(func() {
					if res := s.deliver(w); res.Outcome == singleton.Completed && !res.Committed {
						mu.Lock()
						defer mu.Unlock()
						wrong = append(wrong, fmt.Sprintf("completed without its Commit: %+v", res))
					}
				})
			}
			all.Wait()
			for _, stop := range calm {
				stop()
			}
			time.Sleep(time.Minute)
			// Whatever happened, the next tick does what is left.
			last := shift{tick: 5 * time.Minute, most: orderCount}.deliver(w)
			if last.Outcome != singleton.Completed || !last.Committed || !w.doneTick().Equal(last.Tick) {
				wrong = append(wrong, fmt.Sprintf("the last tick: %+v, done %v", last, w.doneTick()))
			}
			time.Sleep(time.Minute)
			for i := range orderCount {
				if got := w.added(order(i)); got != "1" {
					wrong = append(wrong, fmt.Sprintf("%s was handled %s times", order(i), got))
				}
			}
			for i := range 6 {
				name := "tick" + w.due.Add(time.Duration(i)*40*time.Second).String()
				if got := w.added(name); got != "0" && got != "1" {
					wrong = append(wrong, fmt.Sprintf("%s was committed %s times", name, got))
				}
			}
		})
		for _, s := range wrong {
			rt.Error(s)
		}
	})
}
