package lambda

import "fmt"

// Environments lists a function's environments in the order of their start.
// It is empty for an unknown function.
func (s *Service) Environments(function string) []Environment {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn, known := s.functions[function]
	if !known {
		return nil
	}
	list := make([]Environment, 0, len(fn.environments))
	for _, e := range fn.environments {
		snapshot := Environment{
			ID: e.id, Function: fn.Name, PID: e.pid(), State: e.state(),
			LogStream: e.logStream, Started: e.started, Invocations: e.invocations,
		}
		if e.inv != nil {
			snapshot.RequestID = e.inv.id
		}
		list = append(list, snapshot)
	}
	return list
}

// Kill ends an environment's process with SIGKILL, whatever it does. A running
// invocation fails with Runtime.ExitError. It returns at once; a second call is
// ErrState or, when the process is gone, ErrUnknownEnvironment.
func (s *Service) Kill(id string) error {
	return s.fault("kill", id, func(e *environment) error {
		s.kill(e, ReasonByHand)
		return nil
	})
}

// Freeze stops an environment's process with SIGSTOP in the middle of its
// invocation or init. Its deadline goes on and may kill it; see
// Function.IgnoreTimeout. An idle environment is frozen anyway: ErrState.
func (s *Service) Freeze(id string) error {
	return s.fault("freeze", id, func(e *environment) error {
		if state := e.state(); state != StateBusy && state != StateStarting {
			return fmt.Errorf("%w: it is %s, expected it to run an invocation", ErrState, state)
		}
		if e.process == nil {
			return fmt.Errorf("%w: its process is about to start; try again", ErrState)
		}
		if err := e.process.stop(); err != nil {
			return err
		}
		e.frozen = true
		s.emitReason(e, EventFrozen, ReasonByHand)
		return nil
	})
}

// Thaw lets a process that Freeze stopped go on; without that it is ErrState.
func (s *Service) Thaw(id string) error {
	return s.fault("thaw", id, func(e *environment) error {
		if !e.frozen {
			return fmt.Errorf("%w: it is %s, expected it to be frozen by hand", ErrState, e.state())
		}
		s.resume(e, ReasonByHand)
		s.wakeQueue() // it may be idle by now
		return nil
	})
}

func (s *Service) fault(verb, id string, act func(*environment) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fn := range s.functions {
		for _, e := range fn.environments {
			if e.id != id {
				continue
			}
			if e.state() == StateEnding {
				return fmt.Errorf("lambda: %s environment %q: %w: it is ending already", verb, id, ErrState)
			}
			if err := act(e); err != nil {
				return fmt.Errorf("lambda: %s environment %q: %w", verb, id, err)
			}
			return nil
		}
	}
	return fmt.Errorf("lambda: %s environment %q: %w; Environments lists those that are there", verb, id, ErrUnknownEnvironment)
}
