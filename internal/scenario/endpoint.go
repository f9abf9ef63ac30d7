package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/solotick/solotick/lockkit/locktest"
)

// endpoint is the DynamoDB that the functions talk to: one in memory, or a way to
// another. It sees every request on its way.
type endpoint struct {
	url, kind string
	lockTable string
	observe   func(call) // told each call once it is answered
	server    *http.Server
	serving   sync.WaitGroup

	mu   sync.Mutex
	log  []call
	hold *hold // nil: nothing is kept back
}

// listen starts the endpoint on a loopback address, before other or, if that is
// nil, before a DynamoDB in memory.
func listen(ctx context.Context, address string, other *upstream, lockTable string, observe func(call)) (*endpoint, error) {
	if err := loopback(address); err != nil {
		return nil, err
	}
	e := &endpoint{lockTable: lockTable, kind: "in memory", observe: observe}
	var next http.Handler = locktest.New()
	if other != nil {
		e.kind = other.url.String() + " (DYNAMODB_ENDPOINT)"
		next = other.handler(impatient())
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (--listen): %w; choose another port, or 0 for a free one", address, err)
	}
	e.url = "http://" + listener.Addr().String()
	e.server = &http.Server{Handler: e.count(next), ReadHeaderTimeout: 10 * time.Second}
	e.serving.Go(func() { _ = e.server.Serve(listener) }) // ends by close
	return e, nil
}

// loopback refuses an address that others could reach.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen is %q: expected an address and a port of this machine, such as 127.0.0.1:0", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen is %q: the endpoint has no access control, so only loopback is allowed, such as 127.0.0.1:0", address)
	}
	return nil
}

// count keeps a record of each request beside what answers it.
func (e *endpoint) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := time.Now()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender is gone
		}
		c := readCall(r, body, e.lockTable)
		answered := e.pass(c)
		if answered != nil {
			r = r.WithContext(context.WithoutCancel(r.Context()))
			arrived = time.Now()
			defer answered()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := &answerTap{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(answer, r)
		c.At = arrived
		c.answered(answer.status, answer.body.Bytes())
		e.mu.Lock()
		e.log = append(e.log, c)
		e.mu.Unlock()
		e.observe(c)
	})
}

// answerTap keeps what was answered to a request that failed.
type answerTap struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader notes the status.
func (a *answerTap) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Write keeps the body of an error.
func (a *answerTap) Write(p []byte) (int, error) {
	if a.status >= http.StatusBadRequest {
		a.body.Write(p)
	}
	return a.ResponseWriter.Write(p)
}

// calls returns the requests that were answered so far, without the runner's.
func (e *endpoint) calls() []call {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []call
	for _, c := range e.log {
		if c.Caller != runner {
			list = append(list, c)
		}
	}
	return list
}

func (e *endpoint) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if err != nil { // a request that hangs
		err = e.server.Close()
	}
	e.serving.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
