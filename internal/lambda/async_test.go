package lambda_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

// fast makes a minute of Lambda's waits 60 ms.
var fast = lambda.Options{Speed: 1000}

func retries(n int) func(*lambda.Function) {
	return func(f *lambda.Function) { f.Retries = n }
}

func TestAnEventIsRetriedUnderItsRequestID(t *testing.T) {
	r := newRig(t, fast)
	r.create(retries(2))
	ids := r.send(command{Do: "fail times", Number: 2}, 1)
	r.idle()
	started := r.of(lambda.EventInvocation)
	if len(started) != 3 {
		t.Fatalf("%d attempts, expected 3", len(started))
	}
	for i, event := range started {
		if event.RequestID != ids[0] || event.Attempt != i+1 || string(event.Payload) != string(started[0].Payload) {
			t.Errorf("attempt %d: %+v", i+1, event)
		}
	}
	for i, want := range []time.Duration{60 * time.Millisecond, 120 * time.Millisecond} {
		scheduled := r.of(lambda.EventRetry)[i]
		if scheduled.Delay != want || scheduled.Attempt != i+2 || scheduled.RequestID != ids[0] {
			t.Errorf("retry %+v, expected a delay of %v", scheduled, want)
		}
		if waited := started[i+1].Time.Sub(started[i].Time); waited < want {
			t.Errorf("attempt %d came after %v, expected %v", i+2, waited, want)
		}
	}
	if letters := r.DeadLetters("f"); len(letters) != 0 {
		t.Errorf("dead letters %+v", letters)
	}
}

func TestAnEventThatKeepsFailingIsADeadLetter(t *testing.T) {
	for n := range 3 {
		r := newRig(t, fast)
		r.create(retries(n), func(f *lambda.Function) { f.RetryDelays = []time.Duration{0} })
		do := command{Do: "exit", Number: 9}
		ids := r.send(do, 1)
		r.idle()
		letters := r.DeadLetters("f")
		if len(letters) != 1 {
			t.Fatalf("%d retries: dead letters %+v", n, letters)
		}
		letter := letters[0]
		if letter.Reason != lambda.RetriesExhausted || letter.Attempts != n+1 || letter.RequestID != ids[0] ||
			letter.ErrorType != lambda.ErrorExit || string(letter.Payload) != string(mustJSON(do)) || letter.Function != "f" {
			t.Errorf("%d retries: %+v", n, letter)
		}
		if told := r.of(lambda.EventDeadLetter); len(told) != 1 || told[0].DeadLetter.RequestID != ids[0] {
			t.Errorf("told %+v", told)
		}
		if got := len(r.of(lambda.EventInvocation)); got != n+1 {
			t.Errorf("%d retries: %d attempts", n, got)
		}
	}
}

func TestAnOldEventIsADeadLetter(t *testing.T) {
	r := newRig(t, lambda.Options{Speed: 600}) // an age limit of 100 ms, before the retry
	r.create(retries(1), func(f *lambda.Function) {
		f.MaxEventAge = time.Minute
		f.RetryDelays = []time.Duration{10 * time.Minute}
	})
	r.send(command{Do: "fail", Text: "once"}, 1)
	r.idle()
	if letters := r.DeadLetters("f"); len(letters) != 1 || letters[0].Reason != lambda.EventAgeExceeded ||
		letters[0].Attempts > 1 || letters[0].Time.Sub(letters[0].Accepted) < 100*time.Millisecond {
		t.Errorf("dead letters %+v", letters)
	}
}

func TestAThrottledEventWaits(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) { f.MaxEnvironments = 1 })
	ids := r.send(command{Do: "sleep", Millis: 20}, 4)
	r.idle()
	var order []string
	for _, event := range r.of(lambda.EventInvocation) {
		order = append(order, event.RequestID)
		if event.Environment != "f-1" || event.Attempt != 1 {
			t.Errorf("invocation %+v", event)
		}
	}
	if !slices.Equal(order, ids) {
		t.Errorf("order %v, expected %v", order, ids)
	}
	if throttled := r.of(lambda.EventThrottled); len(throttled) != 3 {
		t.Errorf("%d events were throttled, expected 3: %+v", len(throttled), throttled)
	}
}

func TestAThrottledEventGetsTooOld(t *testing.T) {
	r := newRig(t, lambda.Options{Speed: 1000})
	r.create(func(f *lambda.Function) { f.MaxEnvironments, f.MaxEventAge = 1, time.Minute })
	running := r.background(command{Do: "sleep", Millis: 300})
	r.environment(lambda.StateBusy)
	r.send(command{}, 1)
	decode(t, <-running)
	r.idle()
	if letters := r.DeadLetters("f"); len(letters) != 1 || letters[0].Reason != lambda.EventAgeExceeded || letters[0].Attempts != 0 {
		t.Errorf("dead letters %+v", letters)
	}
}

func TestCopiesAreDeliveredAtOneInstant(t *testing.T) {
	t.Parallel()
	r := newRig(t, lambda.Options{})
	r.create()
	ids := r.send(command{Do: "sleep", Millis: 300}, 3)
	r.idle()
	environments, requests := map[string]bool{}, map[string]bool{}
	for _, event := range r.of(lambda.EventInvocation) {
		environments[event.Environment] = true
		requests[event.RequestID] = true
	}
	if len(environments) != 3 || len(requests) != 3 || len(ids) != 3 || !requests[ids[2]] {
		t.Errorf("environments %v, requests %v, expected three of each", environments, requests)
	}
}

func TestIdleEndsWithItsContext(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(retries(1)) // after a minute
	r.send(command{Do: "fail"}, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	eventually(t, "the retry", func() bool { return len(r.of(lambda.EventRetry)) == 1 })
	reason := errors.New("enough")
	cancel(reason)
	if err := r.Idle(ctx); !errors.Is(err, reason) {
		t.Errorf("Idle: %v, expected the cause", err)
	}
}
