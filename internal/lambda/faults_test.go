package lambda_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

func TestKillByHand(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	running := r.background(command{Do: "sleep", Millis: 60_000})
	busy := r.environment(lambda.StateBusy)
	if err := r.Kill(busy.ID); err != nil {
		t.Fatal(err)
	}
	result := <-running
	if result.FunctionError != lambda.ErrorExit || !strings.HasSuffix(result.ErrorMessage, "signal: killed") || result.RequestID != busy.RequestID {
		t.Errorf("result %+v", result)
	}
	if err := r.Kill(busy.ID); !errors.Is(err, lambda.ErrUnknownEnvironment) {
		t.Errorf("second kill: %v", err)
	}
	idle := r.do(command{}).Environment
	if err := r.Kill(idle); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the idle one", func() bool { return len(r.Environments("f")) == 0 })
	if next := r.do(command{}).Environment; next != "f-3" {
		t.Errorf("environment %s, expected f-3", next)
	}
}

func TestKillBeforeTheProcessRuns(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	running := r.background(command{})
	eventually(t, "an environment", func() bool { return len(r.Environments("f")) == 1 })
	if err := r.Kill("f-1"); err != nil {
		t.Fatal(err)
	}
	if err := r.Kill("f-1"); err == nil {
		t.Error("a second kill is no error")
	}
	if result := <-running; result.FunctionError != lambda.ErrorExit {
		t.Errorf("result %+v", result)
	}
}

func TestFreezeAndThawByHand(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	running := r.background(command{Do: "sleep", Millis: 100, Text: "late"})
	busy := r.environment(lambda.StateBusy)
	if err := r.Thaw(busy.ID); !errors.Is(err, lambda.ErrState) {
		t.Errorf("thaw of a running one: %v", err)
	}
	if err := r.Freeze(busy.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.Freeze(busy.ID); !errors.Is(err, lambda.ErrState) {
		t.Errorf("second freeze: %v", err)
	}
	stopped(t, busy.PID)
	if got := r.environment(lambda.StateFrozen); got.ID != busy.ID || got.RequestID != busy.RequestID {
		t.Errorf("environment %+v", got)
	}
	select {
	case result := <-running:
		t.Errorf("a frozen process answered %+v", result)
	case <-time.After(300 * time.Millisecond):
	}
	if other := r.do(command{}); other.Environment != "f-2" {
		t.Errorf("environment %s, expected another one meanwhile", other.Environment)
	}
	if err := r.Thaw(busy.ID); err != nil {
		t.Fatal(err)
	}
	if got := decode(t, <-running); got.Text != "late" {
		t.Errorf("answer %+v", got)
	}
	if err := r.Freeze(busy.ID); !errors.Is(err, lambda.ErrState) {
		t.Errorf("freeze of an idle one: %v", err)
	}
	r.idle()
	var reasons []string
	for _, event := range r.all() {
		if event.Environment == busy.ID && (event.Kind == lambda.EventFrozen || event.Kind == lambda.EventThawed) {
			reasons = append(reasons, string(event.Kind)+" "+event.Reason)
		}
	}
	if want := []string{"frozen by hand", "thawed by hand", "frozen between invocations"}; !slices.Equal(reasons, want) {
		t.Errorf("events %q, expected %q", reasons, want)
	}
}

func TestTheTimeoutKillsAFrozenProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) { f.Timeout = 500 * time.Millisecond })
	running := r.background(command{Do: "sleep", Millis: 60_000})
	busy := r.environment(lambda.StateBusy)
	if err := r.Freeze(busy.ID); err != nil {
		t.Fatal(err)
	}
	if result := <-running; result.FunctionError != lambda.ErrorTimeout {
		t.Errorf("result %+v", result)
	}
}

func TestAFrozenProcessOutlivesAnIgnoredTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) { f.Timeout, f.IgnoreTimeout = 100*time.Millisecond, true })
	running := r.background(command{Do: "sleep", Millis: 300, Text: "woken"})
	busy := r.environment(lambda.StateBusy)
	if err := r.Freeze(busy.ID); err != nil {
		t.Fatal(err)
	}
	time.Sleep(150 * time.Millisecond)
	if err := r.Thaw(busy.ID); err != nil {
		t.Fatal(err)
	}
	if got := decode(t, <-running); got.Text != "woken" {
		t.Errorf("answer %+v", got)
	}
}

func TestTheObserverMayInjectFaults(t *testing.T) {
	var s *lambda.Service
	s = lambda.New(lambda.Options{Observer: func(event lambda.Event) {
		if event.Kind == lambda.EventInvocation && event.Attempt == 1 {
			if err := s.Kill(event.Environment); err != nil {
				t.Error(err)
			}
		}
	}})
	defer s.Close()
	f := testFunction(t)
	f.Retries, f.RetryDelays = 1, []time.Duration{0}
	if err := s.Create(f); err != nil {
		t.Fatal(err)
	}
	if _, err := s.InvokeAsync("f", mustJSON(command{Do: "sleep", Millis: 500}), 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if letters := s.DeadLetters("f"); len(letters) != 0 {
		t.Errorf("dead letters %+v", letters)
	}
	if left := s.Environments("f"); len(left) != 1 || left[0].ID != "f-2" {
		t.Errorf("environments %+v, expected the first to be killed", left)
	}
}

func TestAKillFromOutsideIsNoticed(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	first := r.ask(command{})
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil { // a child of this test
		t.Fatal(err)
	}
	eventually(t, "the end of the environment", func() bool { return len(r.Environments("f")) == 0 })
	if next := r.do(command{}); next.Environment != "f-2" {
		t.Errorf("environment %s, expected a new one", next.Environment)
	}
}
