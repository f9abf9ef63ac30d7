//go:build !linux && !darwin

package lambda

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// supported refuses: without process groups, SIGSTOP and SIGKILL there is no
// local Lambda. What follows makes the package compile.
func supported() error {
	return fmt.Errorf("the local Lambda runs on linux and darwin and not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

type process struct{ pid int }

func startProcess(*forker, string, string, []string, *os.File) (*process, error) {
	return nil, supported()
}

func (p *process) stop() error   { return supported() }
func (p *process) resume() error { return supported() }
func (p *process) kill()         {}
func (p *process) wait() string  { return "" }

type logPipe struct{ writer *os.File }

func newLogPipe() (*logPipe, error)         { return nil, supported() }
func (p *logPipe) Read([]byte) (int, error) { return 0, io.EOF }
func (p *logPipe) drain(time.Duration)      {}
func (p *logPipe) closeWriter()             {}
func (p *logPipe) end(time.Duration)        {}
func (p *logPipe) close()                   {}
