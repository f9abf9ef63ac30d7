package lambda

import (
	"context"
	"sync"
	"time"
)

// EventKind says what an Event tells.
type EventKind string

// What an observer is told.
const (
	EventStarting   EventKind = "environment_starting"
	EventInitDone   EventKind = "init_done"
	EventInitFailed EventKind = "init_failed" // Reason: the error
	EventInvocation EventKind = "invocation_started"
	EventEnded      EventKind = "invocation_ended" // Result
	EventFrozen     EventKind = "frozen"           // Reason: between invocations, by hand
	EventThawed     EventKind = "thawed"           // Reason: the same
	EventKilled     EventKind = "killed"           // Reason: timeout, by hand, ...
	EventExited     EventKind = "exited"           // Reason: the exit status
	EventLog        EventKind = "log"              // Line
	EventThrottled  EventKind = "throttled"        // an asynchronous event waits for an environment
	EventRetry      EventKind = "retry_scheduled"  // Delay; Reason: the error
	EventDeadLetter EventKind = "dead_lettered"    // DeadLetter
)

// Why a process was frozen, thawed or killed.
const (
	ReasonBetween     = "between invocations"
	ReasonByHand      = "by hand"
	ReasonTimeout     = "timeout"
	ReasonInitTimeout = "init timeout"
	ReasonInitError   = "init error"
	ReasonClosed      = "service closed"
)

// Event is one observation. Fields that do not belong to the kind are zero.
// Its slices and pointers are shared: do not change what they point to.
type Event struct {
	// Seq counts the events of a Service from 1, in the order of delivery.
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	Kind EventKind `json:"kind"`

	Function    string `json:"function"`
	Environment string `json:"environment,omitempty"`
	// PID is 0 until the process has started.
	PID       int    `json:"pid,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	// Attempt counts the deliveries of an asynchronous event from 1; it is 1
	// for a synchronous one.
	Attempt int `json:"attempt,omitempty"`
	// Payload is what the function was given (EventInvocation, EventThrottled).
	Payload []byte  `json:"payload,omitempty"`
	Result  *Result `json:"result,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	// Line is one line of the process's standard output or error without its
	// end, cut at 64 KiB. Its RequestID is that of the invocation that runs or
	// ran last when the line is read.
	Line      string `json:"line,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	// Delay is the scaled wait before the next attempt.
	Delay      time.Duration `json:"delay,omitempty"`
	DeadLetter *DeadLetter   `json:"dead_letter,omitempty"`
}

// maxQueuedEvents is where log lines begin to wait for the observer, so that
// a noisy function is slowed and does not fill the memory.
const maxQueuedEvents = 4096

// eventQueue hands events to the observer in order without making the
// service's own steps wait for it.
type eventQueue struct {
	observer func(Event)

	mu        sync.Mutex
	changed   *sync.Cond
	queue     []Event
	seq       int64 // of the last event put
	delivered int64 // of the last event that the observer has returned from
	closed    bool
}

func newEventQueue(observer func(Event)) *eventQueue {
	q := &eventQueue{observer: observer}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// put appends an event and stamps it; it never waits.
func (q *eventQueue) put(event Event) {
	if q.observer == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(event)
}

// putPatiently is put for log lines: it waits while the observer lags.
func (q *eventQueue) putPatiently(event Event) {
	if q.observer == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) >= maxQueuedEvents {
		q.changed.Wait()
	}
	q.add(event)
}

func (q *eventQueue) add(event Event) {
	q.seq++
	event.Seq, event.Time = q.seq, time.Now()
	q.queue = append(q.queue, event)
	q.changed.Broadcast()
}

// run delivers until close was called and nothing is left.
func (q *eventQueue) run() {
	for {
		q.mu.Lock()
		for len(q.queue) == 0 && !q.closed {
			q.changed.Wait()
		}
		batch := q.queue
		q.queue = nil
		q.changed.Broadcast()
		q.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, event := range batch {
			q.observer(event)
		}
		q.mu.Lock()
		q.delivered = batch[len(batch)-1].Seq
		q.changed.Broadcast()
		q.mu.Unlock()
	}
}

// flush waits until the observer has seen everything put before the call.
func (q *eventQueue) flush(ctx context.Context) error {
	if q.observer == nil {
		return nil
	}
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for target := q.seq; q.delivered < target; q.changed.Wait() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (q *eventQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
