package lambda

import (
	"os"
	"runtime"
)

// forker starts all processes from one operating system thread, because the
// kernel's kill of orphans (PR_SET_PDEATHSIG) watches the thread that forked
// and not its process: on any other thread it would fire when the Go runtime
// ends that thread, or be lost with it.
type forker struct {
	requests chan forkRequest
}

type forkRequest struct {
	path  string
	attr  *os.ProcAttr
	reply chan<- forkReply
}

type forkReply struct {
	process *os.Process
	err     error
}

func newForker() *forker {
	return &forker{requests: make(chan forkRequest)}
}

// run serves until close. It keeps the thread to itself to the end.
func (f *forker) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for request := range f.requests {
		process, err := os.StartProcess(request.path, []string{request.path}, request.attr)
		request.reply <- forkReply{process, err}
	}
}

// start starts a process; run must be running.
func (f *forker) start(path string, attr *os.ProcAttr) (*os.Process, error) {
	reply := make(chan forkReply, 1)
	f.requests <- forkRequest{path, attr, reply}
	answer := <-reply
	return answer.process, answer.err
}

// close ends run. Nothing may be started after it, and by then every process
// must have ended: those that have not lose the thread that guards them.
func (f *forker) close() { close(f.requests) }
