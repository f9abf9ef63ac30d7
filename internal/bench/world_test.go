//go:build bench

package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

const (
	lockTable = "locks"
	lockName  = "nightly-report"
	lockLease = 30 * time.Second
)

type attributes = map[string]types.AttributeValue

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// world is a table on virtual time, whose requests take as long as real ones.
type world struct {
	t   *testing.T
	rng *rand.Rand // of the main goroutine only
	db  *locktest.DB
	sdk *dynamodb.Client
}

// inWorld runs f on virtual time; each request takes from least to most.
func inWorld(t *testing.T, least, most time.Duration, f func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, rng: rand.New(rand.NewPCG(*seed, 0)), db: locktest.New()}
		if err := locktest.CreateTable(t.Context(), w.db.Client(), lockTable, "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		far := &far{db: w.db, rng: rand.New(rand.NewPCG(*seed, 1)), least: least, most: most}
		w.sdk = w.db.Client(func(o *dynamodb.Options) { o.HTTPClient = far })
		f(w)
	})
}

// slowest is the longest that a request takes in the usual world.
const slowest = 30 * time.Millisecond

// usual runs f in a world as the goals assume it: 10 to 30 ms per request.
func usual(t *testing.T, f func(*world)) {
	t.Helper()
	inWorld(t, 10*time.Millisecond, slowest, f)
}

// far is an endpoint at a distance: half of a request's time passes before it is
// applied, half before its answer is there.
type far struct {
	db          *locktest.DB
	mu          sync.Mutex
	rng         *rand.Rand
	least, most time.Duration
}

func (f *far) Do(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	way := (f.least + time.Duration(f.rng.Int64N(int64(f.most-f.least)+1))) / 2
	f.mu.Unlock()
	if err := pause(req.Context(), way); err != nil {
		return nil, err
	}
	resp, err := f.db.Do(req)
	if err != nil {
		return nil, err
	}
	return resp, pause(req.Context(), way)
}

// process is the DynamoDB client of one process.
type process struct {
	*dynamodb.Client
	ahead   time.Duration // its wall clock is ahead of the holder's by this
	noHints bool          // it is never shown when the holder sent its newest write

	dead   atomic.Bool // nothing that it sends arrives any more
	before func()      // called before each read; nil: nothing

	mu    sync.Mutex
	calls []call
}

// call is one request of a process.
type call struct {
	sent    time.Time
	read    bool
	refused bool
	failed  bool
}

// locks is the LockTable of a new process that uses this client.
func (w *world) locks(p *process, opts ...lockkit.Option) *lockkit.LockTable {
	w.t.Helper()
	p.Client = w.sdk
	t, err := lockkit.New(p, lockTable, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

var errKilled = errors.New("this process was killed")

func (p *process) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if p.dead.Load() {
		return nil, errKilled
	}
	c := call{sent: time.Now()}
	out, err := p.Client.UpdateItem(ctx, in, opts...)
	if refusal, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		c.refused = true
		p.see(refusal.Item)
	}
	c.failed = err != nil && !c.refused
	p.note(c)
	return out, err
}

func (p *process) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if p.before != nil {
		p.before()
	}
	c := call{sent: time.Now(), read: true}
	out, err := p.Client.GetItem(ctx, in, opts...)
	if err == nil {
		p.see(out.Item)
	}
	c.failed = err != nil
	p.note(c)
	return out, err
}

func (p *process) note(c call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
}

// see makes an item look as it would to this process. All clocks of a bubble are
// one; a wall clock that is ahead sees stamps that are older by as much.
func (p *process) see(item attributes) {
	at, ok := item["at"].(*types.AttributeValueMemberM)
	if !ok {
		return
	}
	if p.noHints {
		delete(item, "at")
		return
	}
	if ms, ok := at.Value["ms"].(*types.AttributeValueMemberN); ok {
		if n, err := strconv.ParseInt(ms.Value, 10, 64); err == nil {
			at.Value["ms"] = number(n - p.ahead.Milliseconds())
		}
	}
}

// counts are requests by kind.
type counts struct{ reads, writes, refused, failed int }

func (c counts) all() int { return c.reads + c.writes + c.refused + c.failed }

// since counts the requests sent at a moment or later; the zero time counts all.
func (p *process) since(from time.Time) counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	var n counts
	for _, c := range p.calls {
		switch {
		case c.sent.Before(from):
		case c.failed:
			n.failed++
		case c.read:
			n.reads++
		case c.refused:
			n.refused++
		default:
			n.writes++
		}
	}
	return n
}

// busiest is the most reads in any one lease's time, less a hundredth: three looks a
// lease, each a millisecond early or late, are not four.
func (p *process) busiest(lease time.Duration) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := 0
	for i, first := range p.calls {
		n := 0
		for _, c := range p.calls[i:] {
			if c.read && c.sent.Sub(first.sent) < lease-lease/100 {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// last is when the newest write that succeeded was sent.
func (p *process) last() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range slices.Backward(p.calls) {
		if !c.read && !c.refused && !c.failed {
			return c.sent
		}
	}
	return time.Time{}
}

// skew is how far two clocks that are kept well are apart.
func (w *world) skew() time.Duration { return w.between(-15*time.Millisecond, 15*time.Millisecond) }

func (w *world) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.rng.Int64N(int64(most-least)+1))
}

// spread is the i-th of n moments within d, one in each n-th part.
func (w *world) spread(i, n int, d time.Duration) time.Duration {
	return time.Duration((float64(i) + w.rng.Float64()) / float64(n) * float64(d))
}

func (w *world) acquire(locks *lockkit.LockTable, name string, lease time.Duration, opts ...lockkit.AcquireOption) *lockkit.Lease {
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
