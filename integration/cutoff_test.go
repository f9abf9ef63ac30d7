//go:build integration

package integration

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	local "github.com/solotick/solotick/internal/lambda"
	"github.com/solotick/solotick/lockkit/singleton"
)

// firstEnvironment is the local Lambda's name for the function's first process.
const firstEnvironment = "cut-off-1"

// service is the function behind the local Lambda: real processes, of which the
// first does in its first run what the test says.
type service struct {
	*local.Service
	t          *testing.T
	url, table string
	tick       []byte // as Scheduler sends it
	kills      bool   // the first process is killed at work

	mu     sync.Mutex
	events []local.Event
}

func newService(t *testing.T, first string, kills bool) *service {
	t.Helper()
	if _, ok := works[first]; !ok {
		t.Fatalf("there is no work %q", first)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, url: endpoint(t), kills: kills}
	s.table = newTable(t, s.url)
	s.tick = []byte(`{"tick":"` + time.Now().UTC().Add(-time.Second).Format(time.RFC3339) + `","execution_id":"e1","attempt":"1"}`)
	s.Service = local.New(local.Options{Observer: s.observe})
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Create(local.Function{
		Name: cutOff.Name, Bootstrap: self, Timeout: cutOff.Timeout,
		Env: map[string]string{ofServer: s.url, inTable: s.table, "AWS_LAMBDA_LOG_FORMAT": "JSON", "GORACE": "atexit_sleep_ms=0"},
		EnvFor: func(environment string) map[string]string {
			if environment == firstEnvironment {
				return map[string]string{does: first}
			}
			return nil
		},
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *service) observe(e local.Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	if s.kills && e.Line == atWork && e.Environment == firstEnvironment {
		if err := s.Kill(e.Environment); err != nil {
			s.t.Error(err)
		}
	}
}

// deliver invokes the function with the tick and waits for the end.
func (s *service) deliver() local.Result {
	s.t.Helper()
	result, err := s.Invoke(s.t.Context(), cutOff.Name, s.tick)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.Idle(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return result
}

// of are the events of that kind, in their order.
func (s *service) of(kind local.EventKind) []local.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.events), func(e local.Event) bool { return e.Kind != kind })
}

// outcome is that of the run's log line, "" for a run that wrote none.
func (s *service) outcome(request string) string {
	s.t.Helper()
	var found string
	for _, e := range s.of(local.EventLog) {
		var line struct{ Outcome string }
		if e.RequestID == request && json.Unmarshal([]byte(e.Line), &line) == nil && line.Outcome != "" {
			found += line.Outcome
		}
	}
	return found
}

func (s *service) printed(text string) bool {
	return slices.ContainsFunc(s.of(local.EventLog), func(e local.Event) bool { return strings.Contains(e.Line, text) })
}

// completes checks that a run did the tick.
func (s *service) completes(result local.Result) singleton.Result {
	s.t.Helper()
	var res singleton.Result
	if err := json.Unmarshal(result.Payload, &res); err != nil || result.FunctionError != "" || res.Outcome != singleton.Completed || !res.Marked {
		s.t.Fatalf("%v, %s %s: %+v", err, result.FunctionError, result.ErrorMessage, res)
	}
	return res
}

// A job that is longer than its invocation is told before the deadline, and has
// released the lock by then: the process stays, and the next delivery runs at once.
func TestAJobLongerThanItsInvocationReleasesBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	s := newService(t, "waits for the end of its context", false)
	first := s.deliver()
	if first.FunctionError == "" || first.FunctionError == local.ErrorTimeout || first.Duration >= cutOff.Timeout || s.outcome(first.RequestID) != "out_of_time" {
		t.Errorf("ended after %s with %s: %s; outcome %q", first.Duration, first.FunctionError, first.ErrorMessage, s.outcome(first.RequestID))
	}
	if held := state(t, s.url, s.table, cutOff.Name); held.Held {
		t.Errorf("still held: %+v", held)
	}
	second := s.deliver()
	if res := s.completes(second); second.Environment != firstEnvironment || res.Takeover != nil || res.WaitedMS >= lease.Milliseconds()/2 {
		t.Errorf("in %s: %+v", second.Environment, res)
	}
}

// However a process ends in the middle of a run, nobody gives its lock back: the
// next delivery takes over after one lease, and says whom from. No case has a
// signal that a process could wait for.
func TestAProcessThatEndsInTheMiddleOfARunIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work    string
		kills   bool
		exit    string // how the process ends
		says    string // the function's error, as Lambda tells it
		prints  string
		outcome string // in the log, where the run got to that
	}{
		"kill -9": {
			work: "waits for the end of its context", kills: true, exit: "signal: killed", says: "killed",
		},
		"a panic on a goroutine of the work's": {
			work: "panics on a goroutine of its own", exit: "exit status 2", says: "exit status 2", prints: "panic: out of sight",
		},
		"a work that ignores the end of its context": {
			work: "ignores its context", exit: "exit status 1", says: "ignores its context", outcome: "out_of_time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.work, c.kills)
			first := s.deliver()
			ended := time.Now()
			if first.FunctionError == "" || first.FunctionError == local.ErrorTimeout || !strings.Contains(first.ErrorMessage, c.says) || s.outcome(first.RequestID) != c.outcome || !s.printed(c.prints) {
				t.Errorf("%s: %s; outcome %q", first.FunctionError, first.ErrorMessage, s.outcome(first.RequestID))
			}
			if exited := s.of(local.EventExited); len(exited) != 1 || exited[0].Reason != c.exit {
				t.Errorf("exited %+v, want %s", exited, c.exit)
			}
			if held := state(t, s.url, s.table, cutOff.Name); !held.Held {
				t.Errorf("released: %+v", held)
			}
			second := s.deliver()
			res := s.completes(second)
			if res.Takeover == nil || res.Takeover.RequestID != first.RequestID || res.Takeover.Token >= res.Token || second.Environment == first.Environment {
				t.Errorf("%+v, takeover %+v; the dead run was request %s", res, res.Takeover, first.RequestID)
			}
			// It had renewed a third of its lease before its end at the earliest.
			if took := time.Since(ended); took < lease*2/3 {
				t.Errorf("taken over %s after its end, before its lease of %s was over", took, lease)
			}
			if waited := time.Duration(res.WaitedMS) * time.Millisecond; waited > cutOff.Contend() {
				t.Errorf("waited %s, longer than lease and margin", waited)
			}
		})
	}
}

// A panic of the work itself is visible to Lambda, with its stack, and the lock is
// free at once.
func TestAPanicOfTheWorkIsVisibleAndReleases(t *testing.T) {
	t.Parallel()
	s := newService(t, "panics", false)
	first := s.deliver()
	var report struct{ StackTrace []any }
	if err := json.Unmarshal(first.Payload, &report); err != nil || len(report.StackTrace) == 0 || !strings.Contains(first.ErrorMessage, "out of luck") {
		t.Errorf("%v, %s: %s, payload %s", err, first.FunctionError, first.ErrorMessage, first.Payload)
	}
	if s.outcome(first.RequestID) != "failed" || !s.printed("integration.init") {
		t.Errorf("outcome %q; the stack of the work is in no line", s.outcome(first.RequestID))
	}
	if held := state(t, s.url, s.table, cutOff.Name); held.Held {
		t.Errorf("still held: %+v", held)
	}
	second := s.deliver()
	if res := s.completes(second); res.Takeover != nil || res.WaitedMS >= lease.Milliseconds()/2 || second.Environment == first.Environment {
		t.Errorf("in %s: %+v", second.Environment, res)
	}
}
