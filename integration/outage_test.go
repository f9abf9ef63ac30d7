//go:build integration

package integration

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/solotick/solotick/lockkit"
)

// candidate is a process of an election, and what it did.
type candidate struct {
	requests atomic.Int64
	leading  atomic.Int64 // terms under way
	terms    atomic.Int64 // terms begun
	lost     chan error   // why a term ended
}

// run contends until ctx ends.
func (c *candidate) run(ctx context.Context, locks *lockkit.LockTable, name string) error {
	return locks.RunAsLeader(ctx, name, lease, func(work context.Context) error {
		c.terms.Add(1)
		c.leading.Add(1)
		defer c.leading.Add(-1)
		<-work.Done()
		c.lost <- context.Cause(work)
		return nil
	}, lockkit.AcquireWith(lockkit.CountRequests(&c.requests)))
}

// An endpoint whose name is gone costs the lease in time, starts nothing, and is
// asked at an even pace; when it is back, one process leads.
func TestAnEndpointWhoseNameIsGone(t *testing.T) {
	address := endpoint(t)
	table := newTable(t, address)
	names := newNameserver(t)
	w := newWire(t, address)
	at, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	byName := "http://dynamodb.example:" + at.Port()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var candidates [3]*candidate
	ends := make(chan error, len(candidates))
	for i := range candidates {
		c := &candidate{lost: make(chan error, 10)}
		candidates[i] = c
		transport := awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) { tr.DialContext = names.dial })
		locks := process(t, plainClient(byName, transport), table)
		go func() { ends <- c.run(ctx, locks, "named") }()
	}
	leaders := func() (leader *candidate, n int64) {
		for _, c := range candidates {
			if c.leading.Load() > 0 {
				leader = c
			}
			n += c.leading.Load()
		}
		return leader, n
	}
	terms := func() (n int64) {
		for _, c := range candidates {
			n += c.terms.Load()
		}
		return n
	}
	elected := func(within time.Duration) *candidate {
		t.Helper()
		for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if leader, n := leaders(); n > 0 {
				return leader
			}
		}
		t.Fatalf("nobody leads after %s", within)
		return nil
	}
	leader := elected(5 * time.Second)

	names.lost.Store(true)
	w.resetAll() // or the open connections would go on
	gone := time.Now()
	var before [3]int64
	for i, c := range candidates {
		before[i] = c.requests.Load()
	}
	select {
	case err = <-leader.lost:
	case <-time.After(lease):
		t.Fatal("the loss is not signalled within the lease")
	}
	if dns, ok := errors.AsType[*net.DNSError](err); !errors.Is(err, lockkit.ErrLeaseLost) || !ok || !dns.IsNotFound {
		t.Errorf("the lease ended by %v, want the name that does not exist", err)
	}
	for time.Since(gone) < 2*lease {
		if _, n := leaders(); n > 0 {
			t.Fatal("somebody leads without the endpoint")
		}
		time.Sleep(5 * time.Millisecond)
	}
	for i, c := range candidates {
		// A heartbeat tries after 100 ms and then every sixth of the lease, an
		// election every third.
		if n := c.requests.Load() - before[i]; n < 3 || n > 15 {
			t.Errorf("process %d sent %d requests in two leases without an endpoint, want a few", i, n)
		}
	}
	if names.asked.Load() == 0 {
		t.Error("the name was never asked for")
	}

	began := terms()
	names.lost.Store(false)
	elected(3 * lease)
	time.Sleep(2 * lease)
	if _, n := leaders(); n != 1 || terms() != began+1 {
		t.Errorf("%d lead, in %d terms since, want one in one", n, terms()-began)
	}
	cancel()
	for range candidates {
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Errorf("an election ended with %v", err)
		}
	}
	if st := state(t, address, table, "named"); st.Held {
		t.Errorf("the lock is left as %+v", st)
	}
}
