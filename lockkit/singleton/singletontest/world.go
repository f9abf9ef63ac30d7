package singletontest

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

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// Program makes the work of one process, as the main of a job's program does:
// with the clients of the process, and with nothing that another process has in
// its memory. It is called once for each delivery.
type Program func(p *Process) singleton.Work

// World is an in-memory DynamoDB with a table for locks, and the processes that
// use it, in a bubble of virtual time. It is safe for concurrent use.
type World struct {
	// T is the test of the bubble.
	T *testing.T
	// DB holds the tables. Through its methods and Client nothing is counted or
	// disturbed, except by faults that the test injects itself. It can still be
	// read when the bubble has ended.
	DB *locktest.DB

	table settings
	over  chan struct{} // closed at the end: the dead may go
	runs  sync.WaitGroup

	mu         sync.Mutex // guards the rest, and the state of processes
	processes  int
	deliveries int
	sent       []Request // by all processes
	trap       trap
	works      []chan struct{} // one for each work, closed when it returns: it may outlive its run
}

// settings are what the options say.
type settings struct {
	name, partitionKey, sortKey string
	locks                       []lockkit.Option
	setup                       func(w *World)
	first, next                 time.Time
}

// Option changes the world of a test.
type Option func(*settings)

// Setup is called when the table for the locks is there, before any delivery:
// it makes tables and puts items, and fails w.T when it cannot. In CrashEverywhere
// it is called for each world anew, at the time when the first tick is due.
func Setup(setup func(w *World)) Option { return func(s *settings) { s.setup = setup } }

// Table names the table with the locks and its keys, where a job has its own
// items in the same one; an empty sortKey is a table without one. The default is
// "locks" with "pk" and "sk".
func Table(name, partitionKey, sortKey string) Option {
	return func(s *settings) { s.name, s.partitionKey, s.sortKey = name, partitionKey, sortKey }
}

// LockOptions are passed to lockkit.New for each process, behind the names of the
// table's keys.
func LockOptions(opts ...lockkit.Option) Option {
	return func(s *settings) { s.locks = append(s.locks, opts...) }
}

// At returns a tick that EventBridge Scheduler delivers for the first time, cut
// to milliseconds.
func At(due time.Time) events.Tick {
	return events.Tick{Time: due.UTC().Truncate(time.Millisecond), Source: events.KindSchedule, ID: "execution-1", Attempt: 1}
}

// Test runs a story in a world of its own. When it returns, processes that were
// killed are let go and those that still run are waited for, as are works that
// ignore the end of their ctx; one that never returns ends the test binary.
func Test(t *testing.T, story func(w *World), opts ...Option) {
	t.Helper()
	s := newSettings(opts)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, s)
		defer w.end()
		if s.setup != nil {
			s.setup(w)
		}
		story(w)
	})
}

// Run delivers one tick to a process in a world of its own and returns what
// became of it; its World is there for checks.
func Run(t *testing.T, spec job.Spec, program Program, tick events.Tick, opts ...Option) Ended {
	t.Helper()
	var got Ended
	Test(t, func(w *World) { got = w.Deliver(spec, program, tick) }, opts...)
	return got
}

func newSettings(opts []Option) settings {
	s := settings{name: "locks", partitionKey: "pk", sortKey: "sk"}
	for _, o := range opts {
		o(&s)
	}
	return s
}

func newWorld(t *testing.T, s settings) *World {
	t.Helper()
	w := &World{T: t, DB: locktest.New(), table: s, over: make(chan struct{})}
	w.CreateTable(s.name, s.partitionKey, s.sortKey)
	return w
}

// lockTable makes a lock table as the options say.
func (w *World) lockTable(client lockkit.Client, label string) *lockkit.LockTable {
	w.T.Helper()
	opts := append([]lockkit.Option{lockkit.WithKeys(w.table.partitionKey, w.table.sortKey), lockkit.WithHolderLabel(label)}, w.table.locks...)
	locks, err := lockkit.New(client, w.table.name, opts...)
	if err != nil {
		w.T.Fatal(err)
	}
	return locks
}

// end lets go of who is dead or frozen and waits for every run, and for every work:
// a bubble cannot end before those that ignore the end of their ctx.
func (w *World) end() {
	close(w.over)
	w.runs.Wait()
	w.mu.Lock()
	works := w.works // no run is left to begin another
	w.mu.Unlock()
	never := time.NewTimer(longestWork)
	defer never.Stop()
	for _, returned := range works {
		select {
		case <-returned:
		case <-never.C:
			panic(fmt.Sprintf("singletontest: test %s: a work has not returned %s after the end of its story: it ignores the end of its ctx, and nothing can end it from outside: let it wait for <-ctx.Done() too", w.T.Name(), longestWork))
		}
	}
}

// longestWork is longer than any test has a work ignore its ctx for.
const longestWork = 7 * 24 * time.Hour

// counted has the end of the world wait for a work. The deferred call keeps what
// the work panics with as it is.
func (w *World) counted(work singleton.Work) singleton.Work {
	if work == nil { // for the run to refuse
		return nil
	}
	return func(ctx context.Context, run *singleton.Run) error {
		returned := make(chan struct{})
		w.mu.Lock()
		w.works = append(w.works, returned)
		w.mu.Unlock()
		defer close(returned)
		return work(ctx, run)
	}
}

// Client returns a client of the test itself, which nothing disturbs.
func (w *World) Client() *dynamodb.Client { return w.DB.Client() }

// CreateTable makes a table with string keys; an empty sortKey is a table without
// one. A table that exists already fails the test.
func (w *World) CreateTable(name, partitionKey, sortKey string) {
	w.T.Helper()
	if err := locktest.CreateTable(context.WithoutCancel(w.T.Context()), w.Client(), name, partitionKey, sortKey); err != nil {
		w.T.Fatal(err)
	}
}

// Put stores an item without a request. An item that does not fit its table fails
// the test.
func (w *World) Put(table string, item map[string]types.AttributeValue) {
	w.T.Helper()
	if err := w.DB.Put(table, item); err != nil {
		w.T.Fatalf("put an item into table %q: %v", table, err)
	}
}

// Lock returns the item of a job's lock, nil when there is none.
func (w *World) Lock(job string) lockkit.Item {
	key := lockkit.Item{w.table.partitionKey: &types.AttributeValueMemberS{Value: "LOCK#" + job}}
	if w.table.sortKey != "" {
		key[w.table.sortKey] = &types.AttributeValueMemberS{Value: "LOCK"}
	}
	return w.DB.Item(w.table.name, key)
}

// Completed returns the last tick that the lock's item calls completed, zero when
// it names none.
func (w *World) Completed(job string) time.Time {
	v, ok := w.Lock(job)[lockkit.AttrTick].(*types.AttributeValueMemberN)
	if !ok {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Requests returns what all processes have sent so far, oldest first. The caller
// owns the slice.
func (w *World) Requests() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Request(nil), w.sent...)
}

// Deliver runs a job for a tick in a process of its own, to its end.
func (w *World) Deliver(spec job.Spec, program Program, tick events.Tick) Ended {
	return <-w.Process().Start(spec, program, tick)
}
