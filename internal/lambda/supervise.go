package lambda

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// farewell is how long a process that reported a failed init may take to exit.
	farewell = time.Second
	// leftovers is how long output and connections may outlive their process,
	// held open by a descendant that left the process group.
	leftovers = time.Second
)

// supervise runs an environment from the start of its process to its end.
func (s *Service) supervise(e *environment) {
	var tasks sync.WaitGroup
	defer tasks.Wait()

	// Not the context of whoever came first: the environment serves others later.
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		s.unstarted(e, errorSandbox, err)
		return
	}
	api := newRuntimeAPI(s, e)
	defer api.close()
	logs, err := newLogPipe()
	if err != nil {
		_ = listener.Close()
		s.unstarted(e, errorSandbox, err)
		return
	}
	defer logs.close()
	api.logs = logs
	tasks.Go(func() { api.serve(listener) })

	env, err := e.fn.environ(e.id, s.options.Region, e.logStream, listener.Addr().String())
	if err != nil {
		logs.closeWriter()
		s.unstarted(e, errorSandbox, err)
		return
	}
	process, err := startProcess(s.forker, e.fn.Bootstrap, e.fn.taskRoot(), env, logs.writer)
	logs.closeWriter()
	if err != nil {
		s.unstarted(e, ErrorEntrypoint, err)
		return
	}
	exited := make(chan string, 1)
	tasks.Go(func() { exited <- process.wait() })
	reading := make(chan struct{})
	tasks.Go(func() {
		defer close(reading)
		s.readLogs(e, logs)
	})
	s.running(e, process)
	status := s.watch(e, exited)
	s.exited(e)
	logs.end(leftovers)
	<-reading
	s.ended(e, status)
}

// running makes the process known, to a kill that came before it too.
func (s *Service) running(e *environment, process *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.process = process
	if e.killed != "" {
		process.kill()
	}
}

// watch kills the process at its deadlines and returns how it ended.
func (s *Service) watch(e *environment, exited <-chan string) string {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(s.checkDeadline(e))
		select {
		case status := <-exited:
			return status
		case <-timer.C:
		case <-e.wake:
		}
	}
}

// checkDeadline kills the process if its deadline has passed and returns the
// time until the next check.
func (s *Service) checkDeadline(e *environment) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.deadline.IsZero() || e.killed != "" {
		return time.Hour
	}
	if left := time.Until(e.deadline); left > 0 {
		return left
	}
	if e.initialised {
		if e.inv != nil {
			s.finish(e, failure(e.inv, ErrorTimeout, fmt.Sprintf("Task timed out after %.2f seconds", e.fn.Timeout.Seconds())))
		}
		s.kill(e, ReasonTimeout)
		return time.Hour
	}
	if e.inv.answered { // it has reported the error and did not exit
		s.kill(e, ReasonInitError)
		return time.Hour
	}
	s.failInit(e, failure(e.inv, ErrorTimeout, fmt.Sprintf("Init timed out after %.2f seconds", s.options.InitTimeout.Seconds())))
	s.kill(e, ReasonInitTimeout)
	return time.Hour
}

// exited keeps invocations off an environment that is about to go.
func (s *Service) exited(e *environment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.exited = true
}

// failInit is the end of an init that did not succeed; s.mu is held.
func (s *Service) failInit(e *environment, result Result) {
	if e.inv == nil || e.inv.answered {
		return
	}
	s.emitReason(e, EventInitFailed, result.FunctionError+": "+result.ErrorMessage)
	s.finish(e, result)
}

// unstarted is the end of an environment whose process never ran.
func (s *Service) unstarted(e *environment, kind string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failInit(e, failure(e.inv, kind, err.Error()))
	s.remove(e)
}

// ended is the end of an environment whose process is gone.
func (s *Service) ended(e *environment, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emitReason(e, EventExited, status)
	if e.inv != nil {
		message := "Runtime exited with error: " + status
		if status == "exit status 0" {
			message = "Runtime exited without providing a reason"
		}
		result := failure(e.inv, ErrorExit, message)
		if e.initialised {
			s.finish(e, result)
		} else {
			s.failInit(e, result)
		}
	}
	s.remove(e)
}

// remove takes the environment out of its function; s.mu is held.
func (s *Service) remove(e *environment) {
	for i, other := range e.fn.environments {
		if other == e {
			e.fn.environments = append(e.fn.environments[:i:i], e.fn.environments[i+1:]...)
			break
		}
	}
	close(e.gone)
	s.release(e)
	s.wakeQueue()
}
