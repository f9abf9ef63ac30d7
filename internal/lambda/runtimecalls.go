package lambda

import (
	"fmt"
	"net/http"
	"time"
)

// The steps behind the Runtime API's calls. Each takes the lock for one step
// between states; the waiting is left to the call.

// ask notes a request for the next invocation. It ends the init or the
// invocation before; the channel delivers the next, or is closed by a later
// request.
func (s *Service) ask(e *environment) (chan *invocation, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := e.inv != nil && !e.inv.started.IsZero()
	switch {
	case running && !e.inv.answered:
		return nil, wrongState("invocation " + e.inv.id + " was not answered yet")
	case !e.initialised && e.inv.answered:
		return nil, wrongState("the init has failed")
	case e.killed != "":
		return nil, wrongState("the process was killed: " + e.killed)
	}
	if e.waiting != nil {
		close(e.waiting)
	}
	e.waiting = make(chan *invocation, 1)
	if !e.initialised {
		e.initialised = true
		s.emit(e, EventInitDone, nil)
	}
	if running {
		s.release(e)
	}
	waiting := e.waiting
	if e.inv != nil {
		s.hand(e)
	} else {
		s.suspend(e)
	}
	return waiting, nil
}

// withdraw forgets a request whose connection broke off.
func (s *Service) withdraw(e *environment, waiting chan *invocation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.waiting == waiting {
		e.waiting = nil
	}
}

// expects tells whether an answer to that invocation is taken now.
func (s *Service) expects(e *environment, id string) *apiError {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.expects(id)
}

func (e *environment) expects(id string) *apiError {
	switch {
	case e.inv == nil || e.inv.started.IsZero() || e.inv.id != id:
		return refusal(http.StatusBadRequest, "InvalidRequestID", fmt.Sprintf("invocation %q is not running here", id))
	case e.inv.answered:
		return refusal(http.StatusBadRequest, "InvalidRequestID", fmt.Sprintf("invocation %q is over", id))
	default:
		return nil
	}
}

// take fixes the result of the running invocation.
func (s *Service) take(e *environment, id string, result Result, tooLarge bool) *apiError {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := e.expects(id); err != nil {
		return err
	}
	if tooLarge {
		message := fmt.Sprintf("Exceeded maximum allowed payload size (%d bytes).", maxResponse)
		s.finish(e, failure(e.inv, ErrorResponseSize, message))
		return refusal(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", message)
	}
	s.finish(e, result)
	return nil
}

// takeInitError ends the init with the function's own error. The process is
// expected to exit, and is killed if it does not.
func (s *Service) takeInitError(e *environment, result Result) *apiError {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.initialised || e.inv.answered {
		return wrongState("the init is over")
	}
	s.failInit(e, result)
	if end := time.Now().Add(farewell); end.Before(e.deadline) {
		e.setDeadline(end)
	}
	return nil
}
