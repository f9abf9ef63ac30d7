//go:build linux || darwin

package lambda

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// logPipe carries a process's output. Unlike a plain pipe it can tell when all
// that was written up to now has been read and handled, so that a function's
// lines come before the end of the invocation that wrote them. It counts bytes,
// so that lines that keep coming do not matter.
type logPipe struct {
	reader, writer *os.File
	raw            syscall.RawConn

	mu      sync.Mutex
	changed *sync.Cond
	read    int64 // bytes taken out of the pipe
	handled int64 // bytes of these that are dealt with
	ended   bool
}

func newLogPipe() (*logPipe, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	raw, err := reader.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, reader.Close(), writer.Close())
	}
	p := &logPipe{reader: reader, writer: writer, raw: raw}
	p.changed = sync.NewCond(&p.mu)
	return p, nil
}

// Read reads what the process wrote. A call says that what the one before
// returned is handled.
func (p *logPipe) Read(buffer []byte) (int, error) {
	p.mu.Lock()
	p.handled = p.read
	p.changed.Broadcast()
	p.mu.Unlock()
	var n int
	var err error
	waitErr := p.raw.Read(func(fd uintptr) bool {
		p.mu.Lock() // the read does not block; it and the count are one step
		defer p.mu.Unlock()
		for {
			if n, err = syscall.Read(int(fd), buffer); err != syscall.EINTR {
				break
			}
		}
		p.read += int64(max(n, 0))
		return err != syscall.EAGAIN
	})
	switch {
	case waitErr == nil && err == nil && n > 0:
		return n, nil
	case waitErr == nil && err == nil:
		waitErr = io.EOF
	case waitErr == nil:
		waitErr = err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.changed.Broadcast()
	return 0, waitErr
}

// drain waits until what the process had written is handled, at most that long.
func (p *logPipe) drain(limit time.Duration) {
	late := false
	timer := time.AfterFunc(limit, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for target := p.read + p.unread(); !late && !p.ended && p.handled < target; {
		p.changed.Wait()
	}
}

// unread is how many bytes wait in the pipe.
func (p *logPipe) unread() int64 {
	var count int32
	err := p.raw.Control(func(fd uintptr) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, unreadRequest, uintptr(unsafe.Pointer(&count))); errno != 0 {
			count = 0
		}
	})
	if err != nil {
		return 0
	}
	return int64(count)
}

// closeWriter gives up the runner's end for writing, so that reading ends with
// the process.
func (p *logPipe) closeWriter() { _ = p.writer.Close() }

// end lets the reader finish what is left. A descendant of the process that
// left its group may hold the pipe open: after the limit reading ends anyway.
func (p *logPipe) end(limit time.Duration) {
	_ = p.reader.SetReadDeadline(time.Now().Add(limit))
}

func (p *logPipe) close() { _ = p.reader.Close() }
