package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

// recorder is an observer that keeps what it is told.
type recorder struct {
	mu     sync.Mutex
	events []lambda.Event
}

func (r *recorder) observe(event lambda.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

func (r *recorder) all() []lambda.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func (r *recorder) of(kind lambda.EventKind) []lambda.Event {
	return slices.DeleteFunc(r.all(), func(e lambda.Event) bool { return e.Kind != kind })
}

// kinds lists the kinds in order, log lines excepted.
func (r *recorder) kinds() []lambda.EventKind {
	var list []lambda.EventKind
	for _, e := range r.all() {
		if e.Kind != lambda.EventLog {
			list = append(list, e.Kind)
		}
	}
	return list
}

func (r *recorder) lines() []string {
	var list []string
	for _, e := range r.of(lambda.EventLog) {
		list = append(list, e.Line)
	}
	return list
}

// rig is a Service with a recorder, closed at the end of the test, after which
// none of the processes that it ever had may be left.
type rig struct {
	*lambda.Service
	*recorder
	t *testing.T
}

func newRig(t *testing.T, options lambda.Options) *rig {
	t.Helper()
	r := &recorder{}
	options.Observer = r.observe
	s := &rig{Service: lambda.New(options), recorder: r, t: t}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error("Close:", err)
		}
		for _, event := range r.all() {
			if event.PID != 0 && procState(event.PID) != "" {
				t.Errorf("process %d of %s is left", event.PID, event.Environment)
			}
		}
	})
	return s
}

// create adds the test function "f", changed by the given functions.
func (r *rig) create(changes ...func(*lambda.Function)) {
	r.t.Helper()
	f := testFunction(r.t)
	for _, change := range changes {
		change(&f)
	}
	if err := r.Create(f); err != nil {
		r.t.Fatal(err)
	}
}

func testFunction(t *testing.T) lambda.Function {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return lambda.Function{Name: "f", Bootstrap: self, Timeout: time.Minute, Env: map[string]string{
		role:     "function",
		"GORACE": "atexit_sleep_ms=0", // under -race an exit would take a second
	}}
}

func as(name string) func(*lambda.Function) {
	return func(f *lambda.Function) { f.Env[role] = name }
}

// do invokes the function and fails the test on a service error.
func (r *rig) do(c command) lambda.Result {
	r.t.Helper()
	result, err := r.Invoke(r.t.Context(), "f", mustJSON(c))
	if err != nil {
		r.t.Fatal(err)
	}
	return result
}

// ask is do for a command that succeeds.
func (r *rig) ask(c command) answer {
	r.t.Helper()
	return decode(r.t, r.do(c))
}

func decode(t *testing.T, result lambda.Result) answer {
	t.Helper()
	if result.FunctionError != "" {
		t.Fatalf("function error %s: %s", result.FunctionError, result.ErrorMessage)
	}
	var a answer
	if err := json.Unmarshal(result.Payload, &a); err != nil {
		t.Fatalf("%v in %q", err, result.Payload)
	}
	return a
}

func (r *rig) send(c command, copies int) []string {
	r.t.Helper()
	ids, err := r.InvokeAsync("f", mustJSON(c), copies)
	if err != nil {
		r.t.Fatal(err)
	}
	return ids
}

func (r *rig) idle() {
	r.t.Helper()
	if err := r.Idle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// background starts an invocation and returns where its result comes.
func (r *rig) background(c command) <-chan lambda.Result {
	results := make(chan lambda.Result, 1)
	go func() {
		result, err := r.Invoke(r.t.Context(), "f", mustJSON(c))
		if err != nil {
			result.ErrorMessage = "service: " + err.Error()
		}
		results <- result
	}()
	return results
}

// environment waits for an environment of f in that state.
func (r *rig) environment(state lambda.State) lambda.Environment {
	r.t.Helper()
	var found lambda.Environment
	eventually(r.t, "an environment that is "+string(state), func() bool {
		for _, e := range r.Environments("f") {
			if e.State == state {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// eventually polls; the bound is for a loaded machine only.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no sign of %s", what)
		}
	}
}

// procState is the state letter of a process, "" once it is gone or a zombie.
func procState(pid int) string {
	var output []byte
	var err error
	if runtime.GOOS == "linux" {
		output, err = os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		_, output, _ = bytes.Cut(output, []byte(") "))
	} else {
		output, err = exec.CommandContext(context.Background(), "ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	}
	if err != nil || len(output) == 0 || output[0] == 'Z' || output[0] == 'X' {
		return ""
	}
	return string(output[:1])
}

func stopped(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "the stop of process "+strconv.Itoa(pid), func() bool { return procState(pid) == "T" })
}
