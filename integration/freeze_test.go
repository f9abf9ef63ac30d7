//go:build integration

package integration

import (
	"context"
	"net"
	"net/http"
	"sync"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// freezer dials connections of a process that can be frozen, as Lambda does
// between two invocations: what happens to a connection meanwhile is unread when
// the process goes on, and its first write comes before it notices.
type freezer struct {
	mu     sync.Mutex
	frozen bool
}

// transport returns the SDK's own HTTP client over the freezer's connections.
func (f *freezer) transport() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) { tr.DialContext = f.dial })
}

func (f *freezer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &freezable{Conn: conn, of: f, closed: make(chan struct{}), written: make(chan struct{}, 1)}, nil
}

// freeze holds back what happens to the connections that are open now, until
// each has written.
func (f *freezer) freeze(yes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = yes
}

func (f *freezer) isFrozen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frozen
}

type freezable struct {
	net.Conn
	of      *freezer
	once    sync.Once
	closed  chan struct{}
	written chan struct{}
}

// Read returns a failure that comes while frozen only after the next write.
func (c *freezable) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && c.of.isFrozen() {
		select {
		case <-c.written:
		case <-c.closed:
		}
	}
	return n, err
}

func (c *freezable) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if c.of.isFrozen() {
		select {
		case c.written <- struct{}{}:
		default:
		}
	}
	return n, err
}

func (c *freezable) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
