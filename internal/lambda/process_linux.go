package lambda

import (
	"syscall"
	"unsafe"
)

// unreadRequest asks how many bytes wait in a pipe (FIONREAD).
const unreadRequest = syscall.TIOCINQ

// processAttributes ask the kernel to kill the process when the thread that
// started it ends, so that it cannot outlive a runner that was killed.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// wait returns the exit status once the process has ended, and ends what is
// left of its group before: until the leader is reaped, the group's id cannot
// belong to a stranger. Call it once.
func (p *process) wait() string {
	awaitZombie(p.pid)
	p.kill()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reap(p.handle.Wait())
}

// awaitZombie waits for the end of a child without reaping it. Should the
// kernel refuse, reaping waits instead.
func awaitZombie(pid int) {
	const (
		byPID  = 1 // P_PID
		exited = 4 // WEXITED
		noReap = 0x1000000
	)
	var info [128]byte // siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), exited|noReap, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}
