package lambda

import (
	"fmt"
	"time"
)

// State is what an environment does.
type State string

// The states of an environment.
const (
	StateStarting State = "starting" // the process starts or is in its init phase
	StateBusy     State = "busy"     // it runs an invocation
	StateIdle     State = "idle"     // it waits for one, frozen
	StateFrozen   State = "frozen"   // it was frozen by hand
	StateEnding   State = "ending"   // it was killed or has exited, and is not yet gone
)

// Environment is a snapshot of one environment.
type Environment struct {
	ID       string `json:"id"` // the function's name and a number
	Function string `json:"function"`
	PID      int    `json:"pid"` // 0 until the process has started
	State    State  `json:"state"`
	// RequestID is that of the running invocation, empty without one.
	RequestID   string    `json:"request_id,omitempty"`
	LogStream   string    `json:"log_stream"`
	Started     time.Time `json:"started"`
	Invocations int       `json:"invocations"` // handed over so far
}

// environment is one process and its place behind the Runtime API. Service.mu
// guards it from process on.
type environment struct {
	id        string
	fn        *function
	logStream string
	started   time.Time
	gone      chan struct{} // closed when the process has ended
	wake      chan struct{} // the deadline has changed

	process     *process // nil until started
	initialised bool     // it has asked for an invocation
	inv         *invocation
	waiting     chan *invocation // an unanswered request for the next invocation
	deadline    time.Time        // when to kill; zero: never
	stopped     bool             // SIGSTOP between invocations
	frozen      bool             // SIGSTOP by hand
	killed      string           // the reason, once it was killed
	exited      bool             // the process has ended by itself or was killed
	lastUsed    time.Time
	lastRequest string // for log lines
	invocations int
}

func (e *environment) pid() int {
	if e.process == nil {
		return 0
	}
	return e.process.pid
}

func (e *environment) state() State {
	switch {
	case e.killed != "" || e.exited:
		return StateEnding
	case e.frozen:
		return StateFrozen
	case !e.initialised:
		return StateStarting
	case e.inv != nil:
		return StateBusy
	default:
		return StateIdle
	}
}

// setDeadline sets when the environment is killed and tells its supervisor.
func (e *environment) setDeadline(t time.Time) {
	e.deadline = t
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// The methods below are steps of an environment's life. Service.mu is held;
// none of them blocks: a signal is sent, not waited for.

func (s *Service) emit(e *environment, kind EventKind, fill func(*Event)) {
	event := Event{Kind: kind, Function: e.fn.Name, Environment: e.id, PID: e.pid()}
	if e.inv != nil {
		event.RequestID, event.Attempt = e.inv.id, e.inv.attempt
	}
	if fill != nil {
		fill(&event)
	}
	s.events.put(event)
}

func (s *Service) emitReason(e *environment, kind EventKind, reason string) {
	s.emit(e, kind, func(event *Event) { event.Reason = reason })
}

// place gives the invocation to the idle environment that was used last, or
// to a new one.
func (s *Service) place(fn *function, inv *invocation) error {
	var idle *environment
	for _, e := range fn.environments {
		if e.state() == StateIdle && (idle == nil || e.lastUsed.After(idle.lastUsed)) {
			idle = e
		}
	}
	if idle == nil {
		if len(fn.environments) >= fn.MaxEnvironments {
			return fmt.Errorf("%w: all %d environments are taken; try again later or raise MaxEnvironments", ErrThrottled, fn.MaxEnvironments)
		}
		s.newEnvironment(fn, inv)
		return nil
	}
	idle.inv = inv
	s.resume(idle, ReasonBetween)
	if idle.waiting != nil {
		s.hand(idle)
	} else if !fn.IgnoreTimeout { // its request for the next one broke off: it has the timeout to ask again
		idle.setDeadline(time.Now().Add(fn.Timeout))
	}
	return nil
}

func (s *Service) newEnvironment(fn *function, inv *invocation) {
	fn.numbered++
	now := time.Now()
	e := &environment{
		id:        fmt.Sprintf("%s-%d", fn.Name, fn.numbered),
		fn:        fn,
		logStream: now.UTC().Format("2006/01/02") + "/[$LATEST]" + randomHex(16),
		started:   now,
		gone:      make(chan struct{}),
		wake:      make(chan struct{}, 1),
		inv:       inv,
		deadline:  now.Add(s.options.InitTimeout),
	}
	e.lastRequest = inv.id
	fn.environments = append(fn.environments, e)
	s.emit(e, EventStarting, nil)
	s.environments.Go(func() { s.supervise(e) })
}

// hand answers the waiting request with the environment's invocation.
func (s *Service) hand(e *environment) {
	inv, now := e.inv, time.Now()
	inv.started, inv.deadline = now, now.Add(e.fn.Timeout)
	e.lastRequest = inv.id
	e.invocations++
	if e.fn.IgnoreTimeout {
		e.setDeadline(time.Time{})
	} else {
		e.setDeadline(inv.deadline)
	}
	s.emit(e, EventInvocation, func(event *Event) { event.Payload = inv.payload })
	e.waiting <- inv
	e.waiting = nil
}

// finish fixes the invocation's result; only the first one counts.
func (s *Service) finish(e *environment, result Result) {
	inv := e.inv
	if inv == nil || inv.answered {
		return
	}
	inv.answered = true
	result.RequestID, result.Environment = inv.id, e.id
	if !inv.started.IsZero() {
		result.Duration = time.Since(inv.started)
	}
	inv.result = result
	s.emit(e, EventEnded, func(event *Event) { event.Result = &result })
}

// release takes the answered invocation off the environment.
func (s *Service) release(e *environment) {
	inv := e.inv
	e.inv = nil
	e.lastUsed = time.Now()
	e.setDeadline(time.Time{})
	if inv == nil {
		return
	}
	if inv.event != nil {
		s.settle(inv.event, inv.result)
	} else {
		s.less()
	}
	close(inv.done)
	s.wakeQueue()
}

// suspend is the freeze between invocations.
func (s *Service) suspend(e *environment) {
	if e.state() != StateEnding && !e.stopped && e.process.stop() == nil {
		e.stopped = true
		s.emitReason(e, EventFrozen, ReasonBetween)
	}
}

// resume undoes the freeze with that reason.
func (s *Service) resume(e *environment, reason string) {
	if reason == ReasonByHand {
		e.frozen = false
	} else {
		e.stopped = false
	}
	if e.process != nil && !e.stopped && !e.frozen && e.process.resume() == nil {
		s.emitReason(e, EventThawed, reason)
	}
}

// kill ends the process without any clean-up; its supervisor does the rest.
func (s *Service) kill(e *environment, reason string) {
	if e.killed != "" {
		return
	}
	e.killed = reason
	s.emitReason(e, EventKilled, reason)
	if e.process != nil {
		e.process.kill()
	}
}
