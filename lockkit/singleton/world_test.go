package singleton_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

const table = "locks"

// spec is the job of these tests: it contends for 40 s and releases within 2 s.
var spec = job.Spec{Name: "report", Lease: 30 * time.Second, Timeout: 5 * time.Minute, Retries: 2}

// world is an in-memory DynamoDB in a bubble of virtual time.
type world struct {
	testing.TB
	db  *locktest.DB
	due time.Time // of the first tick: a second before the test began
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{TB: tb, db: locktest.New(), due: time.Now().UTC().Add(-time.Second).Truncate(time.Second)}
	if err := locktest.CreateTable(context.Background(), w.db.Client(), table, "pk", "sk"); err != nil {
		tb.Fatal(err)
	}
	w.db.ResetRequests()
	return w
}

// process is one process with its own LockTable. Killed, it never reaches
// DynamoDB again, the way a frozen or crashed process does.
type process struct {
	*dynamodb.Client
	dead  atomic.Bool
	locks *lockkit.LockTable
	// transact takes the place of the client's call, if a test sets it.
	transact func(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

func (w *world) process(label string, opts ...lockkit.Option) *process {
	w.Helper()
	p := &process{Client: w.db.Client()}
	if label != "" {
		opts = append(opts, lockkit.WithHolderLabel(label))
	}
	var err error
	if p.locks, err = lockkit.New(p, table, opts...); err != nil {
		w.Fatal(err)
	}
	return p
}

func (p *process) kill() { p.dead.Store(true) }

func (p *process) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if p.dead.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return p.Client.UpdateItem(ctx, in, o...)
}

func (p *process) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if p.dead.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return p.Client.GetItem(ctx, in, o...)
}

func (p *process) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if p.dead.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if p.transact != nil {
		return p.transact(ctx, in, o...)
	}
	return p.Client.TransactWriteItems(ctx, in, o...)
}

// scheduled is a delivery of the tick that was due after the first one.
func (w *world) scheduled(after time.Duration) events.Tick {
	return events.Tick{Time: w.due.Add(after), Source: events.KindSchedule, ID: "e1", Attempt: 1}
}

// invoke runs a job as Lambda does: with the function's deadline and a request.
func (w *world) invoke(p *process, s job.Spec, tick events.Tick, work singleton.Work, opts ...singleton.Option) (singleton.Result, error) {
	ctx, cancel := context.WithTimeout(w.lambda("req-1"), s.Timeout)
	defer cancel()
	return singleton.Do(ctx, p.locks, s, tick, work, opts...)
}

func (w *world) lambda(request string) context.Context {
	return lambdacontext.NewContext(w.Context(), &lambdacontext.LambdaContext{AwsRequestID: request})
}

// crash starts a run of the tick and kills its process while it works. The run
// itself still exists and ends when it notices, at the latest with the test.
func (w *world) crash(label string, s job.Spec, tick events.Tick) {
	w.Helper()
	p := w.process(label)
	started, gone := make(chan struct{}), make(chan struct{})
	w.Cleanup(func() { <-gone })
	go func() {
		defer close(gone)
		ctx, cancel := context.WithTimeout(w.lambda("req-dead"), s.Timeout)
		defer cancel()
		_, _ = singleton.Do(ctx, p.locks, s, tick, func(ctx context.Context, _ *singleton.Run) error {
			close(started)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-started
	p.kill()
	w.db.ResetRequests()
}

// want checks an outcome and whether it is an error.
func (w *world) want(res singleton.Result, err error, outcome singleton.Outcome) {
	w.Helper()
	if res.Outcome != outcome || (err != nil) != outcome.Err() {
		w.Fatalf("outcome %q, error %v, want %q\n%+v", res.Outcome, err, outcome, res)
	}
}

// requests checks what was sent since the last reset, as letters: W a write, w a
// refused one, R a read.
func (w *world) requests(want string) {
	w.Helper()
	if got := w.sent(); got != want {
		w.Errorf("requests %s, want %s", got, want)
	}
}

func (w *world) sent() string {
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
	return b.String()
}

func (w *world) key() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "LOCK#" + spec.Name}, "sk": &types.AttributeValueMemberS{Value: "LOCK"},
	}
}

func (w *world) item() lockkit.Item { return w.db.Item(table, w.key()) }

// put changes attributes of the lock's item, as another client would.
func (w *world) put(attrs lockkit.Item) {
	w.Helper()
	it := w.item()
	if it == nil {
		it = w.key()
	}
	for k, v := range attrs {
		if it[k] = v; v == nil {
			delete(it, k)
		}
	}
	if err := w.db.Put(table, it); err != nil {
		w.Fatal(err)
	}
}

// foreign makes another client hold the lock.
func (w *world) foreign(lease time.Duration) {
	w.Helper()
	w.put(lockkit.Item{
		"_type": s("LOCK"), "owner": s("foreign"), "rvn": s("v1"), "fence": n(7), "leaseMs": n(lease.Milliseconds()), "holder": s("dotnet"),
	})
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v int64) types.AttributeValue {
	b, _ := json.Marshal(v)
	return &types.AttributeValueMemberN{Value: string(b)}
}

// doneTick is the tick that the item calls completed; zero for none.
func (w *world) doneTick() time.Time {
	v, ok := w.item()["tick"].(*types.AttributeValueMemberN)
	if !ok {
		return time.Time{}
	}
	var ms int64
	if err := json.Unmarshal([]byte(v.Value), &ms); err != nil {
		w.Fatal(err)
	}
	return time.UnixMilli(ms).UTC()
}

func (w *world) held() bool { return w.item()["owner"] != nil }

// does is a work that takes some time, unless it is told to stop.
func does(d time.Duration) singleton.Work {
	return func(ctx context.Context, _ *singleton.Run) error {
		select {
		case <-time.NewTimer(d).C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lines collects log lines.
type lines struct{ bytes.Buffer }

func (l *lines) option() singleton.Option {
	return singleton.WithLogger(slog.New(slog.NewJSONHandler(&l.Buffer, nil)))
}

// one returns the only line.
func (l *lines) one(t *testing.T) map[string]any {
	t.Helper()
	all := strings.Split(strings.TrimSpace(l.String()), "\n")
	if len(all) != 1 {
		t.Fatalf("%d log lines, want one:\n%s", len(all), l.String())
	}
	m := map[string]any{}
	if err := json.Unmarshal([]byte(all[0]), &m); err != nil {
		t.Fatal(err)
	}
	return m
}
