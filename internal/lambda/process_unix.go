//go:build linux || darwin

package lambda

import (
	"fmt"
	"os"
	"sync"
	"syscall"
)

// process is the leader of a process group. Signals go to the whole group.
type process struct {
	pid    int
	handle *os.Process

	mu     sync.Mutex
	reaped bool // the id may belong to a stranger by now
}

func supported() error { return nil }

// startProcess starts path in a process group of its own. Its output goes to
// output, its input is empty.
func startProcess(f *forker, path, dir string, env []string, output *os.File) (*process, error) {
	input, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	handle, err := f.start(path, &os.ProcAttr{
		Dir:   dir,
		Env:   env,
		Files: []*os.File{input, output, output},
		Sys:   processAttributes(),
	})
	if err != nil {
		return nil, explainStart(path, err)
	}
	return &process{pid: handle.Pid, handle: handle}, nil
}

func (p *process) stop() error   { return p.signal(syscall.SIGSTOP) }
func (p *process) resume() error { return p.signal(syscall.SIGCONT) }

// kill ends the group; one that has ended already is no error.
func (p *process) kill() { _ = p.signal(syscall.SIGKILL) }

func (p *process) signal(signal syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return os.ErrProcessDone
	}
	if err := syscall.Kill(-p.pid, signal); err != nil {
		return fmt.Errorf("%v to process group %d: %w", signal, p.pid, err)
	}
	return nil
}

// reap notes the end, after which no signal is sent any more, and returns the
// exit status in the words of os.ProcessState. p.mu is held.
func (p *process) reap(state *os.ProcessState, err error) string {
	p.reaped = true
	if err != nil {
		return fmt.Sprintf("exit status unknown: %v", err)
	}
	return state.String()
}
