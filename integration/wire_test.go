//go:build integration

package integration

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// harm is what a wire does to one request.
type harm int

const (
	pass       harm = iota
	cutBefore       // closes the connection; the endpoint never hears of the request
	cutAfter        // the endpoint has answered; the connection is closed before a byte of it arrives
	resetAfter      // the same with a reset
	cutInHead       // half of the answer's head arrives
	cutInBody       // the head and half of the body arrive
	split           // everything arrives, the head some time after the request and the body after the head
	swallow         // nothing ever arrives, and the connection stays open
	failed          // an internal error of the service's; the endpoint never hears of the request
)

func (h harm) String() string {
	return [...]string{"pass", "cut before", "cut after", "reset after", "cut in the head", "cut in the body", "split", "swallow", "failed"}[h]
}

// wire stands between a client and an endpoint, on sockets of its own, and harms
// what a test says.
type wire struct {
	url      string // where clients find it
	endpoint string
	gap      time.Duration // of split, each time

	mu    sync.Mutex
	harm  func(operation string) harm
	seen  int // requests
	conns map[*wired]struct{}
}

// wired is a client's connection. A dead one reads nothing more, as if a box on
// the way had forgotten it.
type wired struct {
	net.Conn
	dead bool
}

func newWire(t *testing.T, endpoint string) *wire {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{url: "http://" + listener.Addr().String(), endpoint: endpoint, conns: map[*wired]struct{}{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c := &wired{Conn: conn}
			w.mu.Lock()
			w.conns[c] = struct{}{}
			w.mu.Unlock()
			serving.Go(func() { w.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.each(func(c *wired) { _ = c.Close() })
		serving.Wait()
	})
	return w
}

func (w *wire) each(f func(*wired)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		f(c)
	}
}

// harms has f choose the harm of each request from now on; nil: none.
func (w *wire) harms(f func(operation string) harm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.harm = f
}

// next harms the next request of an operation, and no other.
func (w *wire) next(operation string, h harm) {
	done := false
	w.harms(func(op string) harm {
		if done || op != operation {
			return pass
		}
		done = true
		return h
	})
}

// requests returns how many requests have come.
func (w *wire) requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// open returns how many connections of clients there are.
func (w *wire) open() (n int) {
	w.each(func(*wired) { n++ })
	return n
}

// closeAll ends every connection, as a server does with idle ones.
func (w *wire) closeAll() { w.each(func(c *wired) { _ = c.Close() }) }

// resetAll ends every connection with a reset.
func (w *wire) resetAll() { w.each(func(c *wired) { reset(c.Conn) }) }

// forgetAll makes every connection a black hole that stays open.
func (w *wire) forgetAll() { w.each(func(c *wired) { c.dead = true }) }

func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (w *wire) serve(c *wired) {
	defer func() {
		_ = c.Close()
		w.mu.Lock()
		delete(w.conns, c)
		w.mu.Unlock()
	}()
	for r := bufio.NewReader(c.Conn); ; {
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil || !w.handle(c, request, body) {
			return
		}
	}
}

// handle answers one request, or harms it, and reports whether the connection
// goes on.
func (w *wire) handle(c *wired, request *http.Request, body []byte) bool {
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	w.mu.Lock()
	w.seen++
	h := pass
	if w.harm != nil {
		h = w.harm(operation)
	}
	if c.dead {
		h = swallow
	}
	w.mu.Unlock()
	switch h {
	case cutBefore:
		return false
	case swallow:
		_, _ = io.Copy(io.Discard, c.Conn) // until the client gives it up
		return false
	case failed:
		const message = `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"}`
		_, err := fmt.Fprintf(c.Conn, "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s", len(message), message)
		return err == nil
	default:
	}
	head, answer, err := w.forward(request, body)
	if err != nil {
		return false
	}
	switch h {
	case cutAfter:
		return false
	case resetAfter:
		reset(c.Conn)
		return false
	case cutInHead:
		_, _ = c.Write(head[:len(head)/2])
		return false
	case cutInBody:
		_, _ = c.Write(append(head, answer[:len(answer)/2]...))
		return false
	case split:
		time.Sleep(w.gap)
		_, err = c.Write(head)
		time.Sleep(w.gap)
		_, second := c.Write(answer)
		err = errors.Join(err, second)
	default:
		_, err = c.Write(append(head, answer...))
	}
	return err == nil
}

// forward passes a request on and returns the answer's two parts as they go over
// the wire.
func (w *wire) forward(request *http.Request, body []byte) (head, answer []byte, err error) {
	out, err := http.NewRequestWithContext(request.Context(), request.Method, w.endpoint+request.URL.Path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	out.Header = request.Header
	in, err := http.DefaultClient.Do(out)
	if err != nil {
		return nil, nil, err
	}
	defer in.Body.Close()
	if answer, err = io.ReadAll(in.Body); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %s\r\n", in.Status)
	in.Header.Set("Content-Length", fmt.Sprint(len(answer)))
	_ = in.Header.Write(&b)
	b.WriteString("\r\n")
	return b.Bytes(), answer, nil
}
