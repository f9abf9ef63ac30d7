package singleton_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

func TestHandlerRunsWhatSchedulerSends(t *testing.T) {
	inWorld(t, func(w *world) {
		var log lines
		var seen *singleton.Run
		handler := singleton.Handler(w.process("a").locks, spec, func(_ context.Context, run *singleton.Run) error { seen = run; return nil }, log.option())
		w.requests("") // nothing is locked in the init phase
		input := strings.NewReplacer(
			"<aws.scheduler.scheduled-time>", w.due.Format(time.RFC3339),
			"<aws.scheduler.execution-id>", "d32c5kddcf5bb8c3", "<aws.scheduler.attempt-number>", "2",
		).Replace(events.ScheduleInput)
		ctx, cancel := context.WithTimeout(w.lambda("req-9"), spec.Timeout)
		defer cancel()
		res, err := handler(ctx, json.RawMessage(input))
		w.want(res, err, singleton.Completed)
		if !seen.Tick.Equal(w.due) || seen.Attempt != 2 || seen.RequestID != "req-9" {
			t.Errorf("run %+v", seen)
		}
		line, fields := log.one(t), asJSON(t, res)
		sameFacts(t, line, fields)
		if line["msg"] != "run ended" || line["level"] != "INFO" || fields["outcome"] != "completed" || fields["tick"] != w.due.Format(time.RFC3339) {
			t.Errorf("line %v", line)
		}
	})
}

// asJSON is the response that Lambda sends.
func asJSON(t *testing.T, res singleton.Result) map[string]any {
	t.Helper()
	b, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func sameFacts(t *testing.T, line, response map[string]any) {
	t.Helper()
	for key, value := range response {
		if !reflect.DeepEqual(line[key], value) {
			t.Errorf("%s is %v in the response and %v in the log", key, value, line[key])
		}
	}
	for key := range line {
		if _, ok := response[key]; !ok && key != "time" && key != "level" && key != "msg" {
			t.Errorf("%s is in the log and not in the response", key)
		}
	}
}

func TestHandlerFitsLambdaStart(t *testing.T) {
	inWorld(t, func(w *world) {
		handler := lambda.NewHandler(singleton.Handler(w.process("a").locks, spec, does(0)))
		answer, err := handler.Invoke(w.lambda("req-1"), []byte(`{"tick":"`+w.due.Format(time.RFC3339)+`"}`))
		if err != nil || !strings.Contains(string(answer), `"outcome":"completed"`) {
			t.Errorf("%s, %v", answer, err)
		}
	})
}

func TestTakeoverIsInResponseAndLog(t *testing.T) {
	for name, harm := range map[string]func(*world){
		"crashed run":    func(w *world) { w.crash("pod-1", spec, w.scheduled(0)) },
		"another client": func(w *world) { w.foreign(spec.Lease) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var log lines
				harm(w)
				res, err := w.invoke(w.process("pod-2"), spec, w.scheduled(0), does(0), log.option())
				w.want(res, err, singleton.Completed)
				line := log.one(t)
				sameFacts(t, line, asJSON(t, res))
				if line["takeover"] == nil {
					t.Errorf("line %v", line)
				}
			})
		})
	}
}

func TestHandlerRefusesWhatIsNoTickBeforeAnyRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, input := range []string{``, `null`, `[]`, `1764554400`, `{"tick":1764554400}`, events.ScheduleInput, `{"Records":[]}`} {
			var log lines
			res, err := singleton.Handler(w.process("a").locks, spec, mustNotRun(t), log.option())(w.Context(), json.RawMessage(input))
			if !errors.Is(err, events.ErrInput) || res.Outcome != "" || !strings.Contains(err.Error(), `"report"`) {
				t.Errorf("%s: %+v, %v", input, res, err)
			}
			if line := log.one(t); line["level"] != "ERROR" || line["error"] != err.Error() {
				t.Errorf("line %v", line)
			}
		}
		w.requests("")
	})
}

func TestInvalidSpecIsTheErrorOfEveryInvocation(t *testing.T) {
	inWorld(t, func(w *world) {
		handler := singleton.Handler(w.process("a").locks, job.Spec{Name: "report", Lease: 500 * time.Millisecond, Retries: 9}, mustNotRun(t))
		for range 2 {
			_, err := handler(w.Context(), json.RawMessage(`{}`))
			if err == nil || !strings.Contains(err.Error(), "Lease is 500ms") || !strings.Contains(err.Error(), "Retries is 9") {
				t.Error(err)
			}
		}
		_, err := singleton.Handler(nil, spec, nil)(w.Context(), json.RawMessage(`{}`))
		if err == nil || !strings.Contains(err.Error(), "lock table is nil") || !strings.Contains(err.Error(), "work is nil") {
			t.Error(err)
		}
		w.requests("")
	})
}

func TestDeadlineWithoutRoomIsRefusedBeforeAnyRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		for _, c := range []struct {
			left  time.Duration
			words []string
		}{
			{-time.Second, []string{"passed 1s ago"}},
			{0, []string{"passed 0s ago"}},
			{42 * time.Second, []string{"deadline is 42s away", "lease 30s", "contend margin 10s", "reserve 2s", "42s in all"}},
		} {
			ctx, cancel := context.WithTimeout(w.Context(), c.left)
			res, err := singleton.Do(ctx, p.locks, spec, w.scheduled(0), mustNotRun(t))
			cancel()
			if err == nil || res.Outcome != "" {
				t.Fatalf("%s: %+v, %v", c.left, res, err)
			}
			for _, word := range c.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%s: error does not name %q: %v", c.left, word, err)
				}
			}
		}
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if _, err := singleton.Do(ctx, p.locks, spec, w.scheduled(0), mustNotRun(t)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		w.requests("")
		ctx, cancel = context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		if _, err := singleton.Do(ctx, w.process("b", lockkit.WithTakeoverDelay(18*time.Second)).locks, spec, w.scheduled(0), mustNotRun(t)); err == nil || !strings.Contains(err.Error(), "takeover delay 18s") {
			t.Error(err)
		}
		w.requests("")
		ctx, cancel = context.WithTimeout(w.Context(), 42*time.Second+time.Millisecond)
		defer cancel()
		res, err := singleton.Do(ctx, p.locks, spec, w.scheduled(0), does(0))
		w.want(res, err, singleton.Completed)
	})
}

func TestDoCutsATickToMillisecondsAndChecksIt(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		var ran time.Time
		res, err := singleton.Do(w.Context(), p.locks, spec, events.Tick{Time: w.due.Add(1500 * time.Microsecond)}, func(_ context.Context, run *singleton.Run) error { ran = run.Tick; return nil })
		w.want(res, err, singleton.Completed)
		if !ran.Equal(w.due.Add(time.Millisecond)) || !w.doneTick().Equal(ran) {
			t.Errorf("ran %v, done %v", ran, w.doneTick())
		}
		if _, err := singleton.Do(w.Context(), p.locks, spec, events.Tick{Time: time.Now().Add(time.Hour)}, mustNotRun(t)); !errors.Is(err, events.ErrInput) {
			t.Error(err)
		}
	})
}

func TestEachRunIsOneLogLine(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process("a")
		for _, c := range []struct {
			tick  events.Tick
			work  singleton.Work
			level string
			want  singleton.Outcome
		}{
			{w.scheduled(0), does(0), "INFO", singleton.Completed},
			{w.scheduled(0), does(0), "INFO", singleton.Duplicate},
			{w.scheduled(time.Second), func(context.Context, *singleton.Run) error { return errBoom }, "ERROR", singleton.Failed},
		} {
			var log lines
			_, _ = w.invoke(p, spec, c.tick, c.work, log.option())
			if line := log.one(t); line["level"] != c.level || line["outcome"] != string(c.want) || line["job"] != "report" || line["requests"] == nil {
				t.Errorf("line %v", line)
			}
		}
	})
}

func TestOutcomesThatAreErrors(t *testing.T) {
	for _, o := range []singleton.Outcome{singleton.Failed, singleton.Lost, singleton.OutOfTime, singleton.Blocked} {
		if !o.Err() {
			t.Errorf("%s is no error", o)
		}
	}
	for _, o := range []singleton.Outcome{singleton.Completed, singleton.Skipped, singleton.Duplicate, singleton.Superseded, singleton.Expired} {
		if o.Err() {
			t.Errorf("%s is an error", o)
		}
	}
}
