package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

// observed is a history that has seen the start of one delivery.
func observed(t *testing.T) (*history, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	ticks := dueTimes(time.Now(), every, 3)
	h := newHistory(map[string][]time.Time{"job": ticks}, newTimeline(&out))
	payload := fmt.Appendf(nil, `{"tick":%q,"execution_id":"x","attempt":"1"}`, ticks[2].Format(time.RFC3339))
	h.happened(event(lambda.EventInvocation, func(e *lambda.Event) { e.Payload = payload }), "caller")
	return h, &out
}

func event(kind lambda.EventKind, change func(*lambda.Event)) lambda.Event {
	e := lambda.Event{Time: time.Now(), Kind: kind, Function: "job", Environment: "job-1", PID: 42, RequestID: "r", Attempt: 1}
	if change != nil {
		change(&e)
	}
	return e
}

func say(h *history, line string) {
	h.happened(event(lambda.EventLog, func(e *lambda.Event) { e.Line = line }), "")
}

func TestADeliveryIsFollowedThroughItsLogLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, out := observed(t)
		h.called(call{At: time.Now(), Caller: "caller", Operation: "UpdateItem", OnLock: true, Refused: "ConditionalCheckFailedException"})
		h.called(call{At: time.Now(), Caller: "another", Operation: "GetItem", OnLock: true})
		say(h, `{"message":"sweep started","requestId":"r","token":7}`)
		say(h, `{"message":"at work","requestId":"r","on":"a","token":7}`)
		say(h, `{"message":"at work","requestId":"of another","on":"b","token":7}`)
		say(h, `{"message":"order closed","requestId":"r","order":"a","token":7}`)
		say(h, `panic: something that is not JSON`)
		say(h, `{"message":"run ended","requestId":"r","outcome":"completed","token":7,"waited_ms":1,"worked_ms":2,"requests":3}`)
		h.happened(event(lambda.EventEnded, func(e *lambda.Event) { e.Result = &lambda.Result{} }), "")
		d, err := h.await(t.Context(), "r", 1, "the end", hasEnded)
		if err != nil || d.name != "T3" || d.outcome() != "completed" || d.token != 7 || len(d.working) != 1 || d.caller != "caller" {
			t.Errorf("%+v, %v", d, err)
		}
		for _, want := range []string{"T3", "delivered, due", "the table refused the lock", "working, token 7", "closed a", "says: panic", "COMPLETED; waited 1 ms, worked 2 ms, lock requests: 3"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in:\n%s", want, out)
			}
		}
		if strings.Contains(out.String(), "looks") {
			t.Errorf("another's request is shown as this delivery's:\n%s", out)
		}
	})
}

func TestAProcessThatDiesIsSeen(t *testing.T) {
	for kind, want := range map[string]string{lambda.ErrorExit: outcomeKilled, lambda.ErrorTimeout: "timed out", "": "no log line", "Other": "Other"} {
		h, _ := observed(t)
		h.happened(event(lambda.EventEnded, func(e *lambda.Event) { e.Result = &lambda.Result{FunctionError: kind} }), "")
		if d, err := h.await(t.Context(), "r", 1, "the end", hasEnded); err != nil || d.outcome() != want {
			t.Errorf("%q: %q, %v", kind, d.outcome(), err)
		}
	}
}

func TestAwaitSaysWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := observed(t)
		begin := time.Now()
		_, err := h.await(t.Context(), "r", 1, "the end", hasEnded)
		if err == nil || !strings.Contains(err.Error(), "waited 30s for the end of request r, attempt 1: it is running (T3)") || time.Since(begin) != patience {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		if _, err := h.await(t.Context(), "r", 2, "the end", hasEnded); err == nil || !strings.Contains(err.Error(), "it was not delivered") {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("interrupted"))
		if _, err := h.await(ctx, "r", 1, "the end", hasEnded); err == nil || err.Error() != "interrupted" {
			t.Errorf("got %v", err)
		}
		h.happened(event(lambda.EventEnded, nil), "")
		if _, err := h.await(t.Context(), "r", 1, "the second order", isAtWork(2)); err == nil || !strings.Contains(err.Error(), "which ended") {
			t.Errorf("a wait for what cannot come any more: %v", err)
		}
	})
}

func TestAFunctionThatDoesNotStartIsTold(t *testing.T) {
	log := func(line string) lambda.Event {
		return event(lambda.EventLog, func(e *lambda.Event) { e.Line = line })
	}
	exited := event(lambda.EventExited, func(e *lambda.Event) { e.Reason = "exit status 1" })
	for name, test := range map[string]struct {
		before []lambda.Event
		want   string
	}{
		"silent":          {[]lambda.Event{exited}, "its process ended with exit status 1, and it said nothing"},
		"blank lines":     {[]lambda.Event{log(" "), exited}, "its process ended with exit status 1, and it said nothing"},
		"not shown":       {[]lambda.Event{log(`{"message":"of no interest"}`), exited}, "its process ended with exit status 1, and it said nothing"},
		"spoken":          {[]lambda.Event{log("no table"), exited}, "its process ended with exit status 1, and what it said is above"},
		"never a process": {nil, "Runtime.InvalidEntrypoint: no interpreter, and it said nothing"},
	} {
		var out bytes.Buffer
		h := newHistory(nil, newTimeline(&out))
		for _, e := range test.before {
			h.happened(e, "")
		}
		h.happened(event(lambda.EventInitFailed, func(e *lambda.Event) { e.Reason = "Runtime.InvalidEntrypoint: no interpreter" }), "")
		h.happened(event(lambda.EventEnded, func(e *lambda.Event) { e.Result = &lambda.Result{FunctionError: lambda.ErrorExit} }), "")
		if _, err := h.await(t.Context(), "r", 1, "the end", hasEnded); !errors.Is(err, errNotStarted) || err.Error() != "it does not start: "+test.want {
			t.Errorf("%s: got %v, expected %s", name, err, test.want)
		}
	}
}

func TestWhatAReportHasStoredIsFollowed(t *testing.T) {
	h, out := observed(t)
	say(h, `{"message":"report started","requestId":"r","token":7,"orders":4}`)
	say(h, `{"message":"page counted","requestId":"r","token":7,"orders":8}`)
	if d, _ := h.find("r", 1); d.token != 7 || d.resumed != 4 || d.counted != 8 {
		t.Errorf("%+v", d)
	}
	for _, want := range []string{"working, token 7, goes on behind the 4 orders that are counted", "counted a page, 8 orders so far"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestARefreshIsFollowed(t *testing.T) {
	h, out := observed(t)
	say(h, `{"message":"refresh started","requestId":"r","token":7}`)
	say(h, `{"message":"document pulled","requestId":"r","token":7,"on":"v1"}`)
	say(h, `{"message":"document put","requestId":"r","token":7,"on":"v1"}`)
	say(h, `{"message":"document unchanged","requestId":"r","token":7,"on":"v1"}`)
	say(h, `{"message":"stale write refused","requestId":"r","token":7,"on":"v2"}`)
	if d, _ := h.find("r", 1); d.token != 7 {
		t.Errorf("%+v", d)
	}
	for _, want := range []string{"working, token 7", "pulled document v1", "put document v1", "the target has v1 already", "WRITE REFUSED: v2, token 7 is stale"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

const every = 5 * time.Minute // between two ticks

// However the clock stands, each tick of each job is accepted and none is too old.
func TestDueTimes(t *testing.T) {
	for _, now := range []time.Time{noon, noon.Add(-time.Nanosecond), noon.Add(every - time.Millisecond)} {
		s := &stage{options: Options{Functions: functionsOf(t, nil)}}
		if err := s.cast(now); err != nil {
			t.Fatal(err)
		}
		for _, d := range s.dramas {
			a := d.part()
			first, last := a.ticks[0], a.ticks[len(a.ticks)-1]
			if last.After(now) || now.Sub(first) > a.spec.MaxAge-timeout {
				t.Errorf("%s at %s: %v", a.spec.Name, now, a.ticks)
			}
		}
	}
}
