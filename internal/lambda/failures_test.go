package lambda_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

func TestAnErrorLeavesTheEnvironmentWarm(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	failed := r.do(command{Do: "fail", Text: "no such table"})
	if failed.FunctionError != "errorString" || failed.ErrorMessage != "no such table" {
		t.Errorf("result %+v", failed)
	}
	if next := r.do(command{}); next.Environment != failed.Environment {
		t.Errorf("environment %s, expected %s", next.Environment, failed.Environment)
	}
}

func TestAPanicIsReportedAndEndsTheEnvironment(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	result := r.do(command{Do: "panic", Text: "out of luck"})
	if result.FunctionError != "string" || result.ErrorMessage != "out of luck" {
		t.Errorf("result %+v", result)
	}
	var report struct{ StackTrace []any }
	if err := json.Unmarshal(result.Payload, &report); err != nil || len(report.StackTrace) == 0 {
		t.Errorf("payload %s without a stack trace (%v)", result.Payload, err)
	}
	if next := r.do(command{}); next.Environment != "f-2" {
		t.Errorf("environment %s, expected a new one", next.Environment)
	}
	r.idle()
	if exited := r.of(lambda.EventExited); len(exited) != 1 || exited[0].Reason != "exit status 1" {
		t.Errorf("exited %+v", exited)
	}
}

func TestAnExitFailsTheInvocation(t *testing.T) {
	for status, want := range map[int]string{
		3: "Runtime exited with error: exit status 3",
		0: "Runtime exited without providing a reason",
	} {
		r := newRig(t, lambda.Options{})
		r.create()
		result := r.do(command{Do: "exit", Number: status})
		if result.FunctionError != lambda.ErrorExit || result.ErrorMessage != "RequestId: "+result.RequestID+" Error: "+want {
			t.Errorf("result %+v", result)
		}
		if next := r.do(command{}); next.Environment != "f-2" {
			t.Errorf("environment %s, expected a new one", next.Environment)
		}
	}
}

func TestAProcessIsKilledAtItsTimeout(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) { f.Timeout = 400 * time.Millisecond })
	result := r.do(command{Do: "sleep", Millis: 60_000})
	if result.FunctionError != lambda.ErrorTimeout || !strings.HasSuffix(result.ErrorMessage, "Error: Task timed out after 0.40 seconds") {
		t.Errorf("result %+v", result)
	}
	if result.Duration < 400*time.Millisecond {
		t.Errorf("killed after %v", result.Duration)
	}
	r.idle()
	killed, exited := r.of(lambda.EventKilled), r.of(lambda.EventExited)
	if len(killed) != 1 || killed[0].Reason != lambda.ReasonTimeout || len(exited) != 1 || exited[0].Reason != "signal: killed" {
		t.Errorf("killed %+v, exited %+v", killed, exited)
	}
	if lines := r.lines(); !slices.Equal(lines, []string{"sleeping"}) {
		t.Errorf("lines %q: it was to be killed in its sleep", lines)
	}
	if next := r.do(command{}); next.Environment != "f-2" {
		t.Errorf("environment %s, expected a new one", next.Environment)
	}
}

func TestAnInitThatFailsFailsTheInvocation(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ kind, message, killed string }{
		"init error":          {"Config.Missing", "TABLE is not set", ""},
		"init error, no exit": {"Config.Missing", "TABLE is not set", lambda.ReasonInitError},
		"init exit":           {lambda.ErrorExit, "exit status 7", ""},
		"init hang":           {lambda.ErrorTimeout, "Init timed out after", lambda.ReasonInitTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			options := lambda.Options{}
			if name == "init hang" {
				options.InitTimeout = 200 * time.Millisecond
			}
			r := newRig(t, options)
			r.create(as(name))
			result := r.do(command{})
			if result.FunctionError != want.kind || !strings.Contains(result.ErrorMessage, want.message) || result.Environment != "f-1" {
				t.Errorf("result %+v", result)
			}
			if left := r.Environments("f"); len(left) != 0 {
				t.Errorf("environments %+v are left", left)
			}
			r.idle()
			if failed := r.of(lambda.EventInitFailed); len(failed) != 1 || !strings.Contains(failed[0].Reason, want.message) {
				t.Errorf("init failed %+v", failed)
			}
			for _, killed := range r.of(lambda.EventKilled) {
				if killed.Reason != want.killed {
					t.Errorf("killed: %s, expected %q", killed.Reason, want.killed)
				}
			}
			if len(r.of(lambda.EventInvocation)) != 0 {
				t.Error("an invocation was handed over")
			}
		})
	}
}

func TestTheRuntimeAPIRefusesWhatDoesNotFit(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(as("exit after answer"))
	result := r.do(command{})
	if string(result.Payload) != `"first"` || result.FunctionError != "" {
		t.Errorf("result %+v", result)
	}
	r.idle()
	want := []string{
		"answer to a stranger: 400", "init error: 403", "next before the answer: 403",
		"answer: 202", "second answer: 400", "error after the answer: 400",
	}
	if lines := r.lines(); !slices.Equal(lines, want) {
		t.Errorf("lines %q,\nexpected %q", lines, want)
	}
	if exited := r.of(lambda.EventExited); len(exited) != 1 || exited[0].Reason != "exit status 0" {
		t.Errorf("exited %+v", exited)
	}
}

func TestLateAnswersAreRefused(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	first := r.ask(command{Do: "describe"})
	i := slices.IndexFunc(first.Env, func(s string) bool { return strings.HasPrefix(s, "AWS_LAMBDA_RUNTIME_API=") })
	_, address, _ := strings.Cut(first.Env[i], "=")
	late := "invocation/" + first.Request + "/response"
	if status := post(address, late, `"late"`); status != 400 {
		t.Errorf("status %d while idle, expected 400", status)
	}
	running := r.background(command{Do: "sleep", Millis: 300, Text: "own"})
	busy := r.environment(lambda.StateBusy)
	for path, want := range map[string]int{
		late:                                     400,
		"invocation/" + first.Request + "/error": 400,
		"invocation/next":                        405,
		"invocation/" + busy.RequestID:           404,
		"somewhere":                              404,
		"init/error":                             403,
	} {
		if status := post(address, path, `"late"`); status != want {
			t.Errorf("%s: status %d, expected %d", path, status, want)
		}
	}
	if got := decode(t, <-running); got.Text != "own" || got.PID != first.PID {
		t.Errorf("answer %+v was changed by a late one", got)
	}
}

func TestAnOversizedAnswerIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, lambda.Options{})
	r.create()
	result := r.do(command{Do: "answer large", Number: lambda.MaxPayload + 200})
	if result.FunctionError != lambda.ErrorResponseSize {
		t.Errorf("error %q, payload of %d bytes", result.FunctionError, len(result.Payload))
	}
	if text := r.ask(command{Do: "answer large", Number: lambda.MaxPayload - 1000}).Text; len(text) != lambda.MaxPayload-1000 {
		t.Errorf("answer of %d bytes", len(text))
	}
}

func TestTheProcessGroupEndsWithItsLeader(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	child := r.ask(command{Do: "child"}).Calls
	stopped(t, child)
	r.do(command{Do: "exit", Number: 1})
	eventually(t, "the end of the child", func() bool { return procState(child) == "" })
}

func TestADescendantOutsideTheGroupDoesNotHoldTheEnvironment(t *testing.T) {
	t.Parallel()
	r := newRig(t, lambda.Options{})
	r.create()
	start := time.Now()
	result := r.do(command{Do: "daemon"})
	if took := time.Since(start); result.FunctionError != lambda.ErrorExit || took > 2900*time.Millisecond {
		t.Errorf("%s after %v, expected it without waiting for the output's end", result.FunctionError, took)
	}
}

func TestServiceErrors(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	large := append(append([]byte{'"'}, strings.Repeat("x", lambda.MaxPayload)...), '"')
	for name, c := range map[string]struct {
		err  error
		want error
		says string
	}{
		"unknown function": {second(r.Invoke(t.Context(), "g", nil)), lambda.ErrUnknownFunction, "[f]"},
		"unknown, async":   {second(r.InvokeAsync("g", nil, 1)), lambda.ErrUnknownFunction, "[f]"},
		"not JSON":         {second(r.Invoke(t.Context(), "f", []byte("tick"))), lambda.ErrInvalid, `"tick" is not JSON`},
		"too large":        {second(r.Invoke(t.Context(), "f", large)), lambda.ErrInvalid, "at most 6291456"},
		"too large, async": {second(r.InvokeAsync("f", large, 1)), lambda.ErrInvalid, "at most 1048576"},
		"no copies":        {second(r.InvokeAsync("f", nil, 0)), lambda.ErrInvalid, "copies is 0"},
		"kill":             {r.Kill("f-9"), lambda.ErrUnknownEnvironment, `"f-9"`},
		"freeze":           {r.Freeze("f-9"), lambda.ErrUnknownEnvironment, `"f-9"`},
		"thaw":             {r.Thaw("f-9"), lambda.ErrUnknownEnvironment, `"f-9"`},
	} {
		if !errors.Is(c.err, c.want) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if r.Environments("g") != nil || r.DeadLetters("g") != nil {
		t.Error("an unknown function has something")
	}
	r.ask(command{Do: ""})
	if result, err := r.Invoke(t.Context(), "f", nil); err != nil || result.FunctionError != "" {
		t.Errorf("an empty payload: %+v, %v", result, err)
	}
}
