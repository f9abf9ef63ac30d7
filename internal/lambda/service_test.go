package lambda_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

func TestInvokeAnswersAndReusesTheEnvironment(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	first, second := r.ask(command{Text: "one"}), r.ask(command{Text: "two"})
	if first.Text != "one" || second.Text != "two" {
		t.Errorf("answers %q and %q", first.Text, second.Text)
	}
	if first.PID != second.PID || second.Calls != 2 {
		t.Errorf("processes %d and %d, call %d: expected a warm one", first.PID, second.PID, second.Calls)
	}
	if first.Request == second.Request {
		t.Error("two invocations have one request id")
	}
	r.idle()
	want := []lambda.EventKind{
		lambda.EventStarting, lambda.EventInitDone,
		lambda.EventInvocation, lambda.EventEnded, lambda.EventFrozen,
		lambda.EventThawed, lambda.EventInvocation, lambda.EventEnded, lambda.EventFrozen,
	}
	if got := r.kinds(); !slices.Equal(got, want) {
		t.Errorf("events %v,\nexpected %v", got, want)
	}
	for i, event := range r.all() {
		if event.Seq != int64(i+1) || event.Time.IsZero() || event.Function != "f" || event.Environment != "f-1" {
			t.Errorf("event %d: %+v", i, event)
		}
	}
}

func TestAnEnvironmentIsFrozenBetweenInvocations(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	pid := r.ask(command{}).PID
	stopped(t, pid)
	if got := r.Environments("f"); len(got) != 1 || got[0].State != lambda.StateIdle || got[0].PID != pid || got[0].RequestID != "" {
		t.Errorf("environments %+v", got)
	}
	if again := r.ask(command{}).PID; again != pid {
		t.Errorf("process %d after the thaw, expected %d", again, pid)
	}
	stopped(t, pid)
}

func TestEnvironmentsRunOneInvocationEachAtOneTime(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) { f.MaxEnvironments = 3 })
	var results []<-chan lambda.Result
	for range 3 {
		results = append(results, r.background(command{Do: "sleep", Millis: 500}))
	}
	eventually(t, "three busy environments", func() bool {
		busy := 0
		for _, e := range r.Environments("f") {
			if e.State == lambda.StateBusy && e.RequestID != "" {
				busy++
			}
		}
		return busy == 3
	})
	pids := map[int]bool{}
	var last answer
	for _, result := range results {
		last = decode(t, <-result)
		pids[last.PID] = true
	}
	if len(pids) != 3 {
		t.Errorf("processes %v, expected three", pids)
	}
	r.idle()
	frozen := r.of(lambda.EventFrozen)
	warm := r.do(command{})
	if want := frozen[len(frozen)-1].Environment; warm.Environment != want {
		t.Errorf("environment %s, expected %s, which was used last", warm.Environment, want)
	}
}

func TestInvokeAboveTheBoundIsThrottled(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) { f.MaxEnvironments = 1 })
	running := r.background(command{Do: "sleep", Millis: 200})
	r.environment(lambda.StateBusy)
	_, err := r.Invoke(t.Context(), "f", nil)
	if !errors.Is(err, lambda.ErrThrottled) || !strings.Contains(err.Error(), "raise MaxEnvironments") {
		t.Errorf("error %v", err)
	}
	decode(t, <-running)
	r.ask(command{})
}

func TestAnAbandonedInvocationGoesOn(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := r.Invoke(ctx, "f", mustJSON(command{Do: "sleep", Millis: 200, Text: "done"}))
		failed <- err
	}()
	r.environment(lambda.StateBusy)
	reason := errors.New("the caller has left")
	cancel(reason)
	if err := <-failed; !errors.Is(err, reason) {
		t.Errorf("error %v, expected the cause", err)
	}
	r.idle()
	if ended := r.of(lambda.EventEnded); len(ended) != 1 || decode(t, *ended[0].Result).Text != "done" {
		t.Errorf("ended %+v", ended)
	}
	if _, err := r.Invoke(ctx, "f", nil); !errors.Is(err, reason) {
		t.Errorf("error %v with an ended ctx, expected the cause", err)
	}
}

func TestTheRunnersEnvironmentDoesNotLeak(t *testing.T) {
	t.Setenv("RUNNER_SECRET", "leaked")
	t.Setenv("AWS_PROFILE", "production")
	r := newRig(t, lambda.Options{Region: "eu-central-1"})
	r.create(func(f *lambda.Function) {
		f.Env["TABLE"] = "locks"
		f.Timeout = 10 * time.Second
	})
	a := r.ask(command{Do: "describe"})
	env := map[string]string{}
	for _, variable := range a.Env {
		key, value, _ := strings.Cut(variable, "=")
		env[key] = value
	}
	f := testFunction(t)
	root := f.Bootstrap[:strings.LastIndex(f.Bootstrap, "/")]
	for key, want := range map[string]string{
		"AWS_LAMBDA_FUNCTION_NAME": "f", "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
		"AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/f", "AWS_LAMBDA_LOG_STREAM_NAME": r.Environments("f")[0].LogStream,
		"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-central-1", "_HANDLER": "bootstrap", "TZ": ":UTC",
		"LAMBDA_TASK_ROOT": root, "AWS_ACCESS_KEY_ID": "local", "TABLE": "locks", role: "function",
	} {
		if env[key] != want {
			t.Errorf("%s=%q, expected %q", key, env[key], want)
		}
	}
	if !strings.HasPrefix(env["AWS_LAMBDA_RUNTIME_API"], "127.0.0.1:") {
		t.Errorf("AWS_LAMBDA_RUNTIME_API=%q, expected loopback", env["AWS_LAMBDA_RUNTIME_API"])
	}
	for _, key := range []string{"RUNNER_SECRET", "AWS_PROFILE", "HOME", "USER"} {
		if value, leaked := env[key]; leaked {
			t.Errorf("%s=%q leaked from the runner", key, value)
		}
	}
	if a.Function != "f" || a.ARN != "arn:aws:lambda:eu-central-1:000000000000:function:f" || a.Text != root {
		t.Errorf("function %q, arn %q, directory %q", a.Function, a.ARN, a.Text)
	}
	if a.Left <= 0 || a.Left > 10*time.Second {
		t.Errorf("%v left until the deadline, expected up to 10 s", a.Left)
	}
}

func TestLogLinesComeBeforeTheEndOfTheirInvocation(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	const lines = 3000
	result := r.do(command{Do: "print", Number: lines, Text: strings.Repeat("-", 100)})
	r.idle()
	seen, ended := 0, false
	for _, event := range r.all() {
		switch event.Kind {
		case lambda.EventEnded:
			ended = true
		case lambda.EventLog:
			seen++
			if ended || event.RequestID != result.RequestID || event.PID == 0 {
				t.Fatalf("line %d after the end, or of a stranger: %+v", seen, event)
			}
		default:
		}
	}
	if seen != 2*lines {
		t.Errorf("%d lines, expected %d", seen, 2*lines)
	}
	if first := r.lines()[:2]; !strings.HasPrefix(first[0], "out 0") || first[1] != "err 0" {
		t.Errorf("lines start with %q", first)
	}
}

func TestLongLogLinesAreCut(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	e := r.do(command{Do: "print long", Number: 200_000}).Environment
	r.ask(command{})
	if err := r.Kill(e); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the exit", func() bool { return len(r.of(lambda.EventExited)) == 1 })
	logged := r.of(lambda.EventLog)
	if len(logged) != 2 || len(logged[0].Line) != 64<<10 || !logged[0].Truncated || logged[1].Line != "no end of line" || logged[1].Truncated {
		t.Errorf("%d lines: %.100v", len(logged), logged)
	}
}

func TestALaggingObserverSlowsLogsAndLosesNothing(t *testing.T) {
	hold := make(chan struct{})
	var seen []lambda.Event
	s := lambda.New(lambda.Options{Observer: func(event lambda.Event) {
		<-hold
		seen = append(seen, event)
	}})
	defer s.Close()
	if err := s.Create(testFunction(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.InvokeAsync("f", mustJSON(command{Do: "print", Number: 5000}), 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Idle(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Idle: %v, expected the end of ctx", err)
	}
	close(hold)
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	lines := 0
	for _, event := range seen {
		if event.Kind == lambda.EventLog {
			lines++
		}
	}
	if lines != 10_000 {
		t.Errorf("%d lines, expected 10000", lines)
	}
}

func TestCloseEndsEverythingAndCanBeRepeated(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) { f.Retries, f.MaxEnvironments = 2, 3 })
	idle := r.ask(command{}).PID
	running := make(chan error, 1)
	go func() {
		_, err := r.Invoke(t.Context(), "f", mustJSON(command{Do: "sleep", Millis: 60_000}))
		running <- err
	}()
	busy := r.environment(lambda.StateBusy)
	r.send(command{Do: "sleep", Millis: 60_000}, 5) // the rest is queued
	eventually(t, "three environments", func() bool { return len(r.Environments("f")) == 3 })

	start := time.Now()
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- r.Close() }()
	}
	for range 2 {
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	if err := <-running; !errors.Is(err, lambda.ErrClosed) {
		t.Errorf("Invoke: %v, expected ErrClosed", err)
	}
	if procState(idle) != "" || procState(busy.PID) != "" {
		t.Error("processes are left")
	}
	for name, err := range map[string]error{
		"Create": r.Create(lambda.Function{Name: "g", Bootstrap: testFunction(t).Bootstrap}),
		"Invoke": second(r.Invoke(t.Context(), "f", nil)),
		"Async":  second(r.InvokeAsync("f", nil, 1)),
	} {
		if !errors.Is(err, lambda.ErrClosed) {
			t.Errorf("%s: %v, expected ErrClosed", name, err)
		}
	}
	if err := r.Idle(t.Context()); err != nil && !errors.Is(err, lambda.ErrClosed) {
		t.Errorf("Idle: %v", err)
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if strings.Contains(string(stacks), reflect.TypeFor[lambda.Service]().PkgPath()+".(*") {
		t.Errorf("goroutines are left:\n%s", stacks)
	}
}

func second[T any](_ T, err error) error { return err }
