package lambda

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// Lambda's defaults and bounds.
const (
	DefaultTimeout         = 3 * time.Second
	DefaultMemoryMB        = 128
	DefaultMaxEnvironments = 10
	DefaultMaxEventAge     = 6 * time.Hour

	maxTimeout      = 15 * time.Minute
	maxMemoryMB     = 10240
	maxRetries      = 2
	minEventAge     = time.Minute
	maxEnvironments = 1000
	maxEnvBytes     = 4096
)

// Function describes a function to run. The zero value of every field but Name
// and Bootstrap is usable.
type Function struct {
	// Name has 1 to 64 letters, digits, hyphens or underscores.
	Name string
	// Bootstrap is the path of the executable; its directory is the task root
	// and the working directory.
	Bootstrap string
	// Env is what the function finds in its environment besides Lambda's own
	// variables. Those are reserved and refused, the credentials excepted.
	Env map[string]string
	// EnvFor, where it is set, adds variables for one environment, such as an
	// endpoint of its own that can be cut off. It is called once per process,
	// from several goroutines, with the environment's id, and must not block;
	// what Create would refuse fails the invocation.
	EnvFor func(environment string) map[string]string
	// Timeout is what an invocation may take before its process is killed;
	// 0 means 3 s, at most 15 minutes. Init does not count.
	Timeout time.Duration
	// IgnoreTimeout only announces the deadline and does not kill at it, so
	// that a process frozen by hand can outlive it.
	IgnoreTimeout bool
	// MemoryMB is told to the function and not enforced; 0 means 128.
	MemoryMB int
	// MaxEnvironments bounds the environments (so the invocations) at one time;
	// 0 means 10.
	MaxEnvironments int
	// Retries is how often a failed asynchronous event is tried again, 0 to 2.
	// Unlike in Lambda 0 means none.
	Retries int
	// RetryDelays are the waits before the retries; nil means 1 and 2 minutes,
	// and the last is repeated where they are too few. See Options.Speed.
	RetryDelays []time.Duration
	// MaxEventAge is how long an asynchronous event may wait, 1 minute to 6
	// hours; 0 means 6 hours. See Options.Speed.
	MaxEventAge time.Duration
}

// function is a Function in operation. Service.mu guards what follows the
// Function.
type function struct {
	Function
	arn          string
	environments []*environment
	numbered     int
	deadLetters  []DeadLetter
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// withDefaults returns a copy that shares nothing with f.
func (f Function) withDefaults() Function {
	f.Env = maps.Clone(f.Env)
	f.RetryDelays = slices.Clone(f.RetryDelays)
	if f.Timeout == 0 {
		f.Timeout = DefaultTimeout
	}
	if f.MemoryMB == 0 {
		f.MemoryMB = DefaultMemoryMB
	}
	if f.MaxEnvironments == 0 {
		f.MaxEnvironments = DefaultMaxEnvironments
	}
	if f.RetryDelays == nil {
		f.RetryDelays = []time.Duration{time.Minute, 2 * time.Minute}
	}
	if f.MaxEventAge == 0 {
		f.MaxEventAge = DefaultMaxEventAge
	}
	return f
}

// validate checks a Function with its defaults filled in.
func (f Function) validate() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("lambda: function %q: %w: %s", f.Name, ErrInvalid, fmt.Sprintf(format, args...))
	}
	switch {
	case !namePattern.MatchString(f.Name):
		return refuse("Name must have 1 to 64 letters, digits, hyphens or underscores")
	case f.Timeout < 0 || f.Timeout > maxTimeout:
		return refuse("Timeout is %v, expected more than 0 and at most %v; set IgnoreTimeout to run longer", f.Timeout, maxTimeout)
	case f.MemoryMB < DefaultMemoryMB || f.MemoryMB > maxMemoryMB:
		return refuse("MemoryMB is %d, expected %d to %d; leave it 0 for %d", f.MemoryMB, DefaultMemoryMB, maxMemoryMB, DefaultMemoryMB)
	case f.MaxEnvironments < 0 || f.MaxEnvironments > maxEnvironments:
		return refuse("MaxEnvironments is %d, expected 1 to %d; leave it 0 for %d", f.MaxEnvironments, maxEnvironments, DefaultMaxEnvironments)
	case f.Retries < 0 || f.Retries > maxRetries:
		return refuse("Retries is %d, expected 0 to %d", f.Retries, maxRetries)
	case len(f.RetryDelays) == 0 && f.Retries > 0:
		return refuse("RetryDelays is empty while Retries is %d; give a delay or leave it nil for 1 and 2 minutes", f.Retries)
	case f.MaxEventAge < minEventAge || f.MaxEventAge > DefaultMaxEventAge:
		return refuse("MaxEventAge is %v, expected %v to %v; to see it sooner raise Options.Speed", f.MaxEventAge, minEventAge, DefaultMaxEventAge)
	}
	for _, delay := range f.RetryDelays {
		if delay < 0 {
			return refuse("RetryDelays has %v, expected 0 or more", delay)
		}
	}
	if err := validateEnv(f.Env); err != nil {
		return refuse("%v", err)
	}
	if err := checkBootstrap(f.Bootstrap); err != nil {
		return refuse("%v", err)
	}
	return nil
}

// retryDelay is the wait after the given number of failed attempts, unscaled.
func (f Function) retryDelay(attempts int) time.Duration {
	return f.RetryDelays[min(attempts, len(f.RetryDelays))-1]
}

// taskRoot is the function's working directory.
func (f Function) taskRoot() string { return filepath.Dir(f.Bootstrap) }
