package scenario

import (
	"context"
	"net/http"
	"strings"
)

// hold keeps one write of an order on its way to the table, as a network does
// that delivers a request long after its sender has stopped waiting.
type hold struct {
	prefix  string // of the orders
	passing int    // how many writes of them go by before it
	order   string // that is written, once it has arrived
	arrived chan struct{}
	free    chan struct{}
	done    chan struct{}
}

// holdWrite makes the endpoint keep the nth write of an order whose name begins
// with the prefix. There is one at a time.
func (e *endpoint) holdWrite(prefix string, nth int) *hold {
	h := &hold{prefix: prefix, passing: nth - 1, arrived: make(chan struct{}), free: make(chan struct{}), done: make(chan struct{})}
	e.mu.Lock()
	e.held = h
	e.mu.Unlock()
	return h
}

// await waits until the write has arrived, and returns the order.
func (h *hold) await(ctx context.Context) (order string, err error) {
	select {
	case <-h.arrived:
		return h.order, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// release lets the write go on to the table, and waits until it is answered.
func (h *hold) release(ctx context.Context) error {
	close(h.free)
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// caught returns the hold that a call is to wait for, or nil.
func (e *endpoint) caught(c call) *hold {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.held
	if h == nil || c.Order == "" || c.Caller == runner || !strings.HasPrefix(c.Order, h.prefix) {
		return nil
	}
	if h.passing > 0 {
		h.passing--
		return nil
	}
	e.held, h.order = nil, c.Order
	return h
}

// wait keeps a request until it is released, or until the endpoint closes. That
// its sender goes away changes nothing: the request has left it.
func (h *hold) wait(r *http.Request, closing <-chan struct{}) *http.Request {
	close(h.arrived)
	select {
	case <-h.free:
	case <-closing:
	}
	return r.WithContext(context.WithoutCancel(r.Context()))
}
