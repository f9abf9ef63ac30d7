//go:build integration

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/solotick/solotick/lockkit"
)

// unlucky dials connections on which the write of a body sometimes returns only
// when the head of the answer is there, as it does when a goroutine has to wait
// for its turn. It has bad luck twice in a row at most.
type unlucky struct {
	mu   sync.Mutex
	rand *rand.Rand
	row  int
}

func (u *unlucky) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return unluckyConn{conn, u}, nil
}

func (u *unlucky) draw() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.row == 2 || u.rand.IntN(3) > 0 {
		u.row = 0
		return false
	}
	u.row++
	return true
}

type unluckyConn struct {
	net.Conn
	of *unlucky
}

func (c unluckyConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if bytes.HasPrefix(p, []byte("{")) && c.of.draw() {
		time.Sleep(answerGap * 3 / 2)
	}
	return n, err
}

// answerGap lies between a request, the head of its answer and the body of that,
// so that only the unlucky lose an answer.
const answerGap = 10 * time.Millisecond

// The SDK closes the body of a request as soon as the head of the answer is
// there. If net/http still looks for that body's end, a call that succeeded
// becomes an error, and its answer is lost. A user's plain client has that, and
// it costs tries only.
func TestAnswersThatTheSDKLoses(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	url := endpoint(t)
	table := newTable(t, url)
	w := newWire(t, url)
	w.gap = answerGap
	w.harms(func(string) harm { return split })
	const workers, cycles = 8, 10
	var all sync.WaitGroup
	var requests atomic.Int64
	for i := range workers {
		all.Go(func() {
			u := &unlucky{rand: rand.New(rand.NewPCG(seed, uint64(i)))}
			client := plainClient(w.url, awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) { tr.DialContext = u.dial }))
			locks, name := process(t, client, table), fmt.Sprint("lock ", i)
			cycle(t, locks, table, name, cycles, &requests)
			if n := counted(t, url, table, name); n != cycles {
				t.Errorf("%d transactions counted %d", cycles, n)
			}
		})
	}
	all.Wait()
	if n := requests.Load(); n <= 4*workers*cycles {
		t.Errorf("%d requests for %d calls: no answer was lost; if the SDK does not do that any more, this test can go", n, 4*workers*cycles)
	} else {
		t.Logf("%d requests for %d calls", n, 4*workers*cycles)
	}
}

// cycle takes the lock, renews, commits and releases, again and again.
func cycle(t *testing.T, locks *lockkit.LockTable, table, name string, cycles int, requests *atomic.Int64) {
	t.Helper()
	for last := int64(0); cycles > 0; cycles-- {
		l, err := locks.Acquire(t.Context(), name, 10*lease, lockkit.KeepTrying(), lockkit.CountRequests(requests))
		if err != nil {
			t.Error(err)
			return
		}
		if last != 0 && l.Token() != last+1 {
			t.Errorf("token %d follows %d: an acquire of its own was taken for another's", l.Token(), last)
		}
		last = l.Token()
		if err := l.Renew(t.Context()); errors.Is(err, lockkit.ErrLeaseLost) {
			t.Error(err) // any other error is one try's
		}
		if err := l.Transact(t.Context(), count(table, name)); err != nil {
			t.Error(err)
		}
		release(t, l)
	}
}
