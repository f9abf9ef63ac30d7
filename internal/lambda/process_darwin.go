package lambda

import "syscall"

// unreadRequest asks how many bytes wait in a pipe (FIONREAD).
const unreadRequest = 0x4004667f

// processAttributes only make a process group: macOS has no signal for the
// death of a parent. See the package comment for what ends orphans there.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// wait returns the exit status once the process has ended. Unlike on Linux
// what is left of its group goes on. Call it once.
func (p *process) wait() string {
	state, err := p.handle.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reap(state, err)
}
