package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/internal/lambda"
)

// errNotStarted says that a function's process ended before its first delivery.
var errNotStarted = errors.New("it does not start")

// history is what has happened, as it was observed, for the steps to wait on and
// for the report. It is safe for concurrent use.
type history struct {
	ticks map[string][]time.Time // by job
	line  *timeline

	mu         sync.Mutex
	changed    chan struct{} // closed at the next change
	events     []lambda.Event
	deliveries []*delivery          // in the order of their start
	open       map[string]*delivery // by environment
}

func newHistory(ticks map[string][]time.Time, line *timeline) *history {
	return &history{ticks: ticks, line: line, changed: make(chan struct{}), open: map[string]*delivery{}}
}

// happened takes an event of the local Lambda; caller is the name of its
// environment at the endpoint, for the start of an invocation.
func (h *history) happened(e lambda.Event, caller string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	d := h.open[e.Environment]
	switch e.Kind {
	case lambda.EventInvocation:
		d = h.begin(e, caller)
	case lambda.EventLog:
		d = h.logged(e, d)
	case lambda.EventEnded:
		d = h.end(e, d)
	case lambda.EventRetry, lambda.EventDeadLetter:
		d = h.newest(e.RequestID)
	default: // changes nothing about a delivery
	}
	h.line.event(e, d)
	close(h.changed)
	h.changed = make(chan struct{})
}

// end closes a delivery. One that its process did not live to see began and
// ended here.
func (h *history) end(e lambda.Event, d *delivery) *delivery {
	if d == nil {
		d = newDelivery(e)
		d.fault = outcomeNotStarted
		h.deliveries = append(h.deliveries, d)
	} else if d.run == nil && e.Result != nil {
		d.fault = faultOf(e.Result)
	}
	d.ended = e.Time
	delete(h.open, e.Environment)
	return d
}

// startOf says what was seen of an environment that did not start.
func (h *history) startOf(env string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	why, said := "nothing was seen of its process", "it said nothing"
	for _, e := range h.events {
		switch {
		case e.Environment != env:
		case e.Kind == lambda.EventExited:
			return "its process ended with " + e.Reason + ", and " + said
		case e.Kind == lambda.EventInitFailed:
			why = e.Reason
		case e.Kind == lambda.EventLog && spoken(e.Line) != "":
			said = "what it said is above"
		}
	}
	return why + ", and " + said
}

// newest is the last delivery of a request, nil if there was none.
func (h *history) newest(request string) *delivery {
	for _, d := range slices.Backward(h.deliveries) {
		if d.request == request {
			return d
		}
	}
	return nil
}

func (h *history) begin(e lambda.Event, caller string) *delivery {
	d := newDelivery(e)
	d.caller = caller
	if tick, err := events.Decode(e.Payload, e.Time); err == nil {
		d.tick, d.name = tick.Time, h.nameOf(e.Function, tick.Time)
	}
	h.deliveries = append(h.deliveries, d)
	h.open[e.Environment] = d
	return d
}

func (h *history) nameOf(job string, tick time.Time) string {
	if i := slices.IndexFunc(h.ticks[job], tick.Equal); i >= 0 {
		return fmt.Sprintf("T%d", i+1)
	}
	return tick.Format(time.TimeOnly)
}

// logged takes a line; open is what its environment runs. Lines come before the
// end of the invocation that wrote them.
func (h *history) logged(e lambda.Event, open *delivery) *delivery {
	var l logLine
	if json.Unmarshal([]byte(e.Line), &l) != nil || open == nil || l.RequestID != open.request {
		return open
	}
	switch l.Message {
	case logSweeping, logRefreshing:
		open.token = l.Token
	case logReporting:
		open.token, open.resumed, open.counted = l.Token, l.Orders, l.Orders
	case logCounted:
		open.counted = l.Orders
	case logWorking:
		open.working = append(open.working, l.On)
	case logEnded:
		open.run = &l
	}
	return open
}

// called takes a request that the endpoint has answered.
func (h *history) called(c call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.open {
		if d.caller == c.Caller {
			h.line.call(c, d)
		}
	}
}

// deliveriesByStart returns copies of all deliveries.
func (h *history) deliveriesByStart() []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]delivery, len(h.deliveries))
	for i, d := range h.deliveries {
		list[i] = *d
	}
	return list
}

// find returns a copy of a request's delivery.
func (h *history) find(request string, attempt int) (delivery, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.deliveries {
		if d.request == request && d.attempt == attempt {
			return *d, true
		}
	}
	return delivery{}, false
}

// patience is how long a step waits for what must follow. It is far above what
// it takes, so that a loaded machine is only slow.
const patience = 30 * time.Second

// await waits until a request's delivery is as wanted and returns it.
func (h *history) await(ctx context.Context, request string, attempt int, what string, is func(delivery) bool) (delivery, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		d, found := h.find(request, attempt)
		if found && d.fault == outcomeNotStarted {
			return d, fmt.Errorf("%w: %s", errNotStarted, h.startOf(d.env))
		}
		if found && is(d) {
			return d, nil
		}
		if found && hasEnded(d) {
			return d, fmt.Errorf("waited for %s of %s (request %s, attempt %d), which ended: %s", what, d.name, request, attempt, d.outcome())
		}
		select {
		case <-changed:
		case <-timer.C:
			state := "it was not delivered"
			if found {
				state = fmt.Sprintf("it is %s (%s)", d.outcome(), d.name)
			}
			return d, fmt.Errorf("waited %s for %s of request %s, attempt %d: %s", patience, what, request, attempt, state)
		case <-ctx.Done():
			return d, context.Cause(ctx)
		}
	}
}
