package lambda

import (
	"fmt"
	"time"
)

// Why an event was given up.
const (
	RetriesExhausted = "RetriesExhausted"
	EventAgeExceeded = "EventAgeExceeded"
)

// DeadLetter is an asynchronous event that was given up.
type DeadLetter struct {
	Function  string `json:"function"`
	RequestID string `json:"request_id"`
	Payload   []byte `json:"payload"`
	// Reason is RetriesExhausted or EventAgeExceeded.
	Reason string `json:"reason"`
	// Attempts is 0 for an event that never found an environment.
	Attempts     int       `json:"attempts"`
	ErrorType    string    `json:"error_type,omitempty"` // of the last attempt
	ErrorMessage string    `json:"error_message,omitempty"`
	Accepted     time.Time `json:"accepted"`
	Time         time.Time `json:"time"`
}

// asyncEvent is an event on its way through the attempts. Service.mu guards it.
type asyncEvent struct {
	id        string
	fn        *function
	payload   []byte
	accepted  time.Time
	expires   time.Time
	notBefore time.Time // of the next attempt
	attempts  int
	throttled bool // and told so
	last      Result
}

// InvokeAsync accepts an event for copies independent deliveries at one instant
// and returns their request ids at once. More than one is what an at-least-once
// sender may do. The error is ErrUnknownFunction, ErrClosed or ErrInvalid (copies
// below 1, a payload that is not JSON or above 1 MB).
func (s *Service) InvokeAsync(function string, payload []byte, copies int) ([]string, error) {
	if copies < 1 {
		return nil, fmt.Errorf("lambda: invoke %q: %w: copies is %d, expected 1 or more", function, ErrInvalid, copies)
	}
	payload, err := checkPayload(payload, MaxAsyncPayload)
	if err != nil {
		return nil, fmt.Errorf("lambda: invoke %q: %w", function, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fn, err := s.lookup(function)
	if err != nil {
		return nil, fmt.Errorf("lambda: invoke %q: %w", function, err)
	}
	now := time.Now()
	ids := make([]string, copies)
	for i := range ids {
		ids[i] = newRequestID()
		s.queue = append(s.queue, &asyncEvent{
			id: ids[i], fn: fn, payload: payload,
			accepted: now, expires: now.Add(s.scaled(fn.MaxEventAge)), notBefore: now,
		})
	}
	s.more(copies)
	s.wakeQueue()
	return ids, nil
}

// DeadLetters lists the events of a function that were given up, oldest first.
// It is empty for an unknown function.
func (s *Service) DeadLetters(function string) []DeadLetter {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn, known := s.functions[function]
	if !known {
		return nil
	}
	return append([]DeadLetter(nil), fn.deadLetters...)
}

func (s *Service) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.options.Speed)
}

func (s *Service) wakeQueue() {
	select {
	case s.queueWake <- struct{}{}:
	default:
	}
}

// runQueue starts the attempts that are due until the service closes.
func (s *Service) runQueue() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(s.startDue())
		select {
		case <-timer.C:
		case <-s.queueWake:
		case <-s.closing:
			return
		}
	}
}

// startDue goes once through the queue and returns how long nothing is due.
func (s *Service) startDue() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return time.Hour
	}
	now := time.Now()
	wait := time.Hour
	queue := s.queue
	s.queue = nil
	for _, event := range queue {
		switch {
		case !now.Before(event.expires):
			s.giveUp(event, EventAgeExceeded)
			continue
		case now.Before(event.notBefore):
			wait = min(wait, event.notBefore.Sub(now))
		case s.attempt(event):
			continue
		}
		s.queue = append(s.queue, event)
		wait = min(wait, event.expires.Sub(now))
	}
	return wait
}

// attempt delivers the event if an environment is free.
func (s *Service) attempt(event *asyncEvent) bool {
	inv := newInvocation(event.id, event.payload)
	inv.event = event
	inv.attempt = event.attempts + 1
	if err := s.place(event.fn, inv); err != nil {
		if !event.throttled {
			event.throttled = true
			s.events.put(Event{
				Kind: EventThrottled, Function: event.fn.Name, RequestID: event.id,
				Attempt: inv.attempt, Payload: event.payload, Reason: err.Error(),
			})
		}
		return false
	}
	event.attempts++
	event.throttled = false
	return true
}

// settle decides what follows on an attempt; s.mu is held.
func (s *Service) settle(event *asyncEvent, result Result) {
	event.last = result
	switch {
	case result.FunctionError == "" || s.closed:
		s.less()
	case event.attempts > event.fn.Retries:
		s.giveUp(event, RetriesExhausted)
	default:
		delay := s.scaled(event.fn.retryDelay(event.attempts))
		event.notBefore = time.Now().Add(delay)
		s.queue = append(s.queue, event)
		s.events.put(Event{
			Kind: EventRetry, Function: event.fn.Name, RequestID: event.id, Attempt: event.attempts + 1,
			Delay: delay, Reason: result.FunctionError + ": " + result.ErrorMessage,
		})
	}
}

func (s *Service) giveUp(event *asyncEvent, reason string) {
	letter := DeadLetter{
		Function: event.fn.Name, RequestID: event.id, Payload: event.payload, Reason: reason, Attempts: event.attempts,
		ErrorType: event.last.FunctionError, ErrorMessage: event.last.ErrorMessage,
		Accepted: event.accepted, Time: time.Now(),
	}
	event.fn.deadLetters = append(event.fn.deadLetters, letter)
	s.events.put(Event{
		Kind: EventDeadLetter, Function: event.fn.Name, RequestID: event.id,
		Attempt: event.attempts, Reason: reason, DeadLetter: &letter,
	})
	s.less()
}
