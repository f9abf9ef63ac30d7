package lockkit_test

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

const (
	table = "locks"
	name  = "nightly-report"
	lease = 30 * time.Second
)

// world is a table on virtual time and the processes that contend for its locks.
type world struct {
	t      *testing.T
	db     *locktest.DB
	client *dynamodb.Client
}

// inWorld runs f on virtual time, with a table of the default keys.
func inWorld(t *testing.T, f func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, db: locktest.New()}
		w.client = w.db.Client()
		if err := locktest.CreateTable(t.Context(), w.client, table, "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		w.db.ResetRequests()
		f(w)
	})
}

// process is a LockTable as a process of its own would have it.
func (w *world) process(opts ...lockkit.Option) *lockkit.LockTable {
	w.t.Helper()
	locks, err := lockkit.New(w.client, table, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return locks
}

func (w *world) acquire(locks *lockkit.LockTable, opts ...lockkit.AcquireOption) *lockkit.Lease {
	w.t.Helper()
	l, err := locks.Acquire(w.t.Context(), name, lease, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *world) release(l *lockkit.Lease) {
	w.t.Helper()
	if err := l.Release(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// crash makes a holder stop as a killed process does: its renewals reach nobody.
// The lease object lives on and believes what it can; back lets it through again.
func (w *world) crash(l *lockkit.Lease) (back func()) {
	return w.db.Inject(locktest.Fault{
		Operation: "UpdateItem", Count: -1, Kind: locktest.FaultFailBefore,
		Match: func(r locktest.FaultRequest) bool { return sentBy(r, l) },
	})
}

// key is the lock's key.
func key() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": s("LOCK#" + name), "sk": s("LOCK")}
}

func (w *world) item() map[string]types.AttributeValue { return w.db.Item(table, key()) }

// plant puts an item at the lock's key.
func (w *world) plant(attributes map[string]types.AttributeValue) {
	w.t.Helper()
	item := key()
	maps.Copy(item, attributes)
	if err := w.db.Put(table, item); err != nil {
		w.t.Fatal(err)
	}
}

// holder is the item of a live or dead holder of another kind.
func holder(owner, version, token string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"_type": s("LOCK"), "owner": s(owner), "rvn": s(version), "fence": n(token), "leaseMs": n("30000"),
	}
}

// counts are the requests since the last reset.
type counts struct{ writes, refused, reads int }

func (w *world) counts() counts {
	var c counts
	for _, r := range w.db.Requests() {
		switch {
		case r.Operation == "GetItem":
			c.reads++
		case r.Error == "ConditionalCheckFailedException":
			c.refused++
		default:
			c.writes++
		}
	}
	return c
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// elapsed is the virtual time f takes.
func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// background runs f and returns a wait for it.
func background(f func()) (wait func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	return func() { <-done }
}

// noItems is an endpoint that does not bring the item along with a refusal.
type noItems struct{ *dynamodb.Client }

func (c noItems) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	plain := *in
	plain.ReturnValuesOnConditionCheckFailure = ""
	return c.Client.UpdateItem(ctx, &plain, o...)
}

func (w *world) stripItems() *lockkit.LockTable {
	w.t.Helper()
	locks, err := lockkit.New(noItems{w.client}, table)
	if err != nil {
		w.t.Fatal(err)
	}
	return locks
}
