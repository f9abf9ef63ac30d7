package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

// timeline prints what is observed, one line each, at the time it was observed.
type timeline struct {
	begin time.Time
	mu    sync.Mutex
	out   io.Writer
}

func newTimeline(out io.Writer) *timeline {
	return &timeline{begin: time.Now(), out: out}
}

func (t *timeline) printf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, format, args...)
}

func (t *timeline) since(at time.Time) float64 { return at.Sub(t.begin).Seconds() }

// step begins a part of the scenario.
func (t *timeline) step(title string) { t.printf("\n%s\n", title) }

// note prints what the runner itself has done.
func (t *timeline) note(format string, args ...any) {
	t.printf("%6.2fs  %s\n", t.since(time.Now()), fmt.Sprintf(format, args...))
}

// line prints what a delivery, or an environment without one, is seen to do.
func (t *timeline) line(at time.Time, name, env string, pid int, what string) {
	process := ""
	if pid != 0 {
		process = fmt.Sprintf("pid %d", pid)
	}
	t.printf("%6.2fs  %-4s %-6s %-11s %s\n", t.since(at), name, short(env), process, what)
}

// short is an environment's number.
func short(env string) string {
	if env == "" {
		return ""
	}
	return "env " + env[strings.LastIndexAny(env, "-#/ ")+1:]
}

// event prints an event of the local Lambda, if it is one worth a line; d is the
// delivery that it belongs to, or nil.
func (t *timeline) event(e lambda.Event, d *delivery) {
	name := ""
	if d != nil {
		name = d.name
	}
	say := func(format string, args ...any) {
		t.line(e.Time, name, e.Environment, e.PID, fmt.Sprintf(format, args...))
	}
	switch e.Kind {
	case lambda.EventInvocation:
		if d.attempt > 1 {
			say("delivered again by Lambda's retry, due %s", d.tick.Format(time.TimeOnly))
			return
		}
		say("delivered, due %s", d.tick.Format(time.TimeOnly))
	case lambda.EventLog:
		if what := spoken(e.Line); what != "" {
			say("%s", what)
		}
	case lambda.EventEnded:
		if d != nil && d.run == nil {
			say("ended without a result: %s", d.fault)
		}
	case lambda.EventKilled:
		if e.Reason == lambda.ReasonByHand {
			say("kill -9")
		} else if e.Reason != lambda.ReasonClosed {
			say("killed by Lambda: %s", e.Reason)
		}
	case lambda.EventFrozen, lambda.EventThawed:
		if e.Reason == lambda.ReasonByHand {
			say("%s", map[lambda.EventKind]string{lambda.EventFrozen: "frozen (SIGSTOP)", lambda.EventThawed: "thawed (SIGCONT)"}[e.Kind])
		}
	case lambda.EventInitFailed:
		say("the process did not start: %s", e.Reason)
	case lambda.EventRetry:
		say("Lambda will retry the delivery in %s", e.Delay)
	case lambda.EventDeadLetter:
		say("Lambda gave up the delivery: %s", e.Reason)
	default: // the rest is of interest to nobody who watches
	}
}

// spoken turns a line of the function's log into words; "" for one that the time
// line leaves out. A line that is not of the known form is shown as it is.
func spoken(raw string) string {
	var l logLine
	if json.Unmarshal([]byte(raw), &l) != nil {
		if strings.Contains(raw, `"errorMessage"`) || strings.TrimSpace(raw) == "" {
			return "" // what the handler returned, once more: "run ended" has said it
		}
		return "says: " + raw
	}
	switch l.Message {
	case logStarted:
		return fmt.Sprintf("working, token %d", l.Token)
	case logClosed:
		return "closed " + l.Order
	case logRefused:
		return fmt.Sprintf("WRITE REFUSED: %s, token %d is stale", l.Order, l.Token)
	case logEnded:
		return l.ended()
	}
	if l.Level == "WARN" || l.Level == "ERROR" {
		return l.Message
	}
	return ""
}

// ended is the sentence of a run's result.
func (l *logLine) ended() string {
	var b strings.Builder
	if l.Outcome == "" {
		return "refused: " + l.Error
	}
	b.WriteString(strings.ToUpper(l.Outcome))
	if l.Takeover != nil {
		fmt.Fprintf(&b, ", taken over from the run of %s that held token %d", clock(l.Takeover.Tick), l.Takeover.Token)
	}
	if !l.DoneTick.IsZero() {
		fmt.Fprintf(&b, ", %s is done", l.DoneTick.Format(time.TimeOnly))
	}
	fmt.Fprintf(&b, "; waited %d ms, worked %d ms, lock requests: %d", l.WaitedMS, l.WorkedMS, l.Requests)
	return b.String()
}

// call prints what the endpoint saw a delivery do before it holds the lock; its
// own log is silent until then.
func (t *timeline) call(c call, d *delivery) {
	if !c.OnLock || d.token != 0 || d.run != nil {
		return
	}
	switch {
	case c.Operation == "UpdateItem" && c.Refused != "":
		t.line(c.At, d.name, d.env, d.pid, "the table refused the lock")
	case c.Operation == "GetItem":
		t.line(c.At, d.name, d.env, d.pid, "waiting, looks at the holder")
	}
}
