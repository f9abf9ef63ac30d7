package scenario

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// hold keeps the writes of one order back on their way to the table, as a slow
// network would: those of the first who sends one. Any other's pass.
type hold struct {
	order    string
	arrived  chan struct{} // closed when the first is here
	answered chan struct{} // closed when the table has answered the first
	release  func()        // lets them go on; may be called again

	gone   chan struct{} // closed by release
	sender string        // guarded by the endpoint's mu
}

// holdWrite begins to keep the writes of an order back. There is one hold at a
// time.
func (e *endpoint) holdWrite(order string) *hold {
	h := &hold{order: order, arrived: make(chan struct{}), answered: make(chan struct{}), gone: make(chan struct{})}
	h.release = sync.OnceFunc(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.hold = nil
		close(h.gone)
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hold = h
	return h
}

// pass waits while a request is to be kept back, and returns what it has to tell
// about the answer, or nil. The request goes on also if its sender has given it up
// meanwhile: what is on its way arrives.
func (e *endpoint) pass(c call) (answered func()) {
	e.mu.Lock()
	h := e.hold
	if h == nil || c.Order != h.order || h.sender != "" && h.sender != c.Caller {
		e.mu.Unlock()
		return nil
	}
	first := h.sender == ""
	if first {
		h.sender = c.Caller
		close(h.arrived)
	}
	e.mu.Unlock()
	<-h.gone
	if !first {
		return func() {}
	}
	return func() { close(h.answered) }
}

// until waits for what must follow.
func until(ctx context.Context, event <-chan struct{}, what string) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-event:
		return nil
	case <-timer.C:
		return fmt.Errorf("waited %s for %s", patience, what)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
