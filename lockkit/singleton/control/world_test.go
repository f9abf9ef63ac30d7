package control_test

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/control"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

const table = "locks"

var report = job.Spec{Name: "report", Lease: 30 * time.Second, Timeout: 5 * time.Minute}

// world is an in-memory DynamoDB in a bubble of virtual time.
type world struct {
	*testing.T
	db  *locktest.DB
	ctl *control.Controls
	due time.Time
}

func inWorld(t *testing.T, test func(w *world), opts ...lockkit.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, db: locktest.New(), due: time.Now().UTC().Add(-time.Second)}
		if err := locktest.CreateTable(t.Context(), w.db.Client(), table, "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		w.ctl = control.New(w.locks(opts...))
		w.db.ResetRequests()
		test(w)
	})
}

func (w *world) locks(opts ...lockkit.Option) *lockkit.LockTable {
	w.Helper()
	locks, err := lockkit.New(w.db.Client(), table, opts...)
	if err != nil {
		w.Fatal(err)
	}
	return locks
}

// run runs the job's tick so long after the first one.
func (w *world) run(after time.Duration, work singleton.Work) singleton.Result {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), report.Timeout)
	defer cancel()
	tick := events.Tick{Time: w.due.Add(after), Source: events.KindSchedule, Attempt: 1}
	res, _ := singleton.Do(ctx, w.locks(lockkit.WithHolderLabel("pod")), report, tick, work)
	return res
}

// hold has a run work until its ctx ends, and returns once it works.
func (w *world) hold() (state control.State, result <-chan singleton.Result) {
	w.Helper()
	started, out := make(chan struct{}), make(chan singleton.Result, 1)
	go func() {
		out <- w.run(0, func(ctx context.Context, _ *singleton.Run) error {
			close(started)
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}()
	<-started
	state = w.look()
	w.db.ResetRequests()
	return state, out
}

// dead makes a holder that never writes again.
func (w *world) dead(lease time.Duration) control.State {
	w.Helper()
	if _, err := locktest.SimulateHolder(w.Context(), w.db.Client(), table, report.Name, lease, "pod"); err != nil {
		w.Fatal(err)
	}
	state := w.look()
	w.db.ResetRequests()
	return state
}

func (w *world) look() control.State {
	w.Helper()
	return w.lookIn(w.Context())
}

func (w *world) lookIn(ctx context.Context) control.State {
	w.Helper()
	state, err := w.ctl.Look(ctx, report.Name)
	if err != nil {
		w.Fatal(err)
	}
	return state
}

func (w *world) pause(p control.Pause) control.Pause {
	w.Helper()
	got, err := w.ctl.Pause(w.Context(), report.Name, p)
	if err != nil {
		w.Fatal(err)
	}
	return got
}

var rest = control.Pause{By: "jane", Why: "the database moves"}

// requests checks what was sent since the last reset, as letters: W a write, w a
// refused one, R a read.
func (w *world) requests(want string) {
	w.Helper()
	var b strings.Builder
	for _, r := range w.db.Requests() {
		switch {
		case r.Operation == "GetItem":
			b.WriteByte('R')
		case r.Error != "":
			b.WriteByte('w')
		default:
			b.WriteByte('W')
		}
	}
	if got := b.String(); got != want {
		w.Errorf("requests %s, want %s", got, want)
	}
}

func (w *world) item() lockkit.Item {
	return w.db.Item(table, lockkit.Item{"pk": s("LOCK#" + report.Name), "sk": s("LOCK")})
}

func (w *world) put(item lockkit.Item) {
	w.Helper()
	all := lockkit.Item{"pk": s("LOCK#" + report.Name), "sk": s("LOCK")}
	maps.Copy(all, item)
	if err := w.db.Put(table, all); err != nil {
		w.Fatal(err)
	}
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

func m(v lockkit.Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: v} }

func nothing(context.Context, *singleton.Run) error { return nil }

// held is a transaction that commits while the holder that was seen has the lock.
func held(was control.State) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{ConditionCheck: &types.ConditionCheck{
		TableName: new(table), Key: lockkit.Item{"pk": s("LOCK#" + was.Job), "sk": s("LOCK")},
		ConditionExpression:       new("#o = :o AND #f = :f"),
		ExpressionAttributeNames:  map[string]string{"#o": "owner", "#f": "fence"},
		ExpressionAttributeValues: lockkit.Item{":o": s(was.Owner), ":f": n(strconv.FormatInt(was.Token, 10))},
	}}}}
}
