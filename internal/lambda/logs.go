package lambda

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is where log lines are cut, in bytes.
const maxLine = 64 << 10

// readLogs passes a process's output on, line by line, until it ends.
func (s *Service) readLogs(e *environment, output io.Reader) {
	reader := bufio.NewReaderSize(output, maxLine)
	for {
		line, err := reader.ReadSlice('\n')
		truncated := errors.Is(err, bufio.ErrBufferFull)
		if len(line) > 0 {
			s.logLine(e, bytes.TrimRight(line, "\r\n"), truncated)
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of an overlong line
			_, err = reader.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (s *Service) logLine(e *environment, line []byte, truncated bool) {
	s.mu.Lock()
	event := Event{
		Kind: EventLog, Function: e.fn.Name, Environment: e.id, PID: e.pid(),
		RequestID: e.lastRequest, Line: string(line), Truncated: truncated,
	}
	s.mu.Unlock()
	s.events.putPatiently(event)
}
