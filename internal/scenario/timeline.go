package scenario

import (
	"cmp"
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

// step begins a scene of a job's act.
func (t *timeline) step(job, title string) {
	t.printf("%6.2fs  %-14s  -- %s --\n", t.since(time.Now()), job, title)
}

// note prints what the runner itself has done, about a job or "".
func (t *timeline) note(job, format string, args ...any) {
	t.printf("%6.2fs  %-14s  %s\n", t.since(time.Now()), job, fmt.Sprintf(format, args...))
}

// line prints what a delivery is seen to do.
func (t *timeline) line(at time.Time, d delivery, what string) {
	process := ""
	if d.pid != 0 {
		process = fmt.Sprintf("pid %d", d.pid)
	}
	t.printf("%6.2fs  %-14s  %-3s  %-5s  %-11s  %s\n", t.since(at), d.job, d.name, short(d.env), process, what)
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
	of := delivery{job: e.Function, env: e.Environment, pid: e.PID} // also of none
	if d != nil {
		of.name = d.name
	}
	say := func(format string, args ...any) {
		t.line(e.Time, of, fmt.Sprintf(format, args...))
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
	case logSweeping, logRefreshing:
		return fmt.Sprintf("working, token %d", l.Token)
	case logReporting:
		if l.Orders > 0 {
			return fmt.Sprintf("working, token %d, goes on behind the %d orders that are counted", l.Token, l.Orders)
		}
		return fmt.Sprintf("working, token %d", l.Token)
	case logClosed:
		return "closed " + l.Order
	case logCounted:
		return fmt.Sprintf("counted a page, %d orders so far", l.Orders)
	case logPulled:
		return "pulled document " + l.On
	case logUnchanged:
		return "the target has " + l.On + " already"
	case logPut:
		return "put document " + l.On
	case logRefused:
		return fmt.Sprintf("WRITE REFUSED: %s, token %d is stale", cmp.Or(l.Order, l.On, "a request"), l.Token)
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

// call prints what the endpoint saw a delivery do before it holds the lock, for
// its own log is silent until then, and each write that was refused as stale.
func (t *timeline) call(c call, d *delivery) {
	if c.Stale {
		t.line(c.At, *d, "the table REFUSED the write of "+c.Order+": the lock is another's")
	}
	if !c.OnLock || d.token != 0 || d.run != nil {
		return
	}
	switch {
	case c.Operation == "UpdateItem" && c.Refused != "":
		t.line(c.At, *d, "the table refused the lock")
	case c.Operation == "GetItem":
		t.line(c.At, *d, "waiting, looks at the holder")
	}
}
