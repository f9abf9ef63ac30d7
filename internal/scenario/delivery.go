package scenario

import (
	"strings"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

// delivery is one attempt to run a tick.
type delivery struct {
	job     string
	tick    time.Time
	name    string // of the tick: T1 is the job's first
	request string
	attempt int // of this request, from 1; above 1 it is a retry of Lambda's
	env     string
	pid     int
	caller  string // what its environment calls itself at the endpoint
	started time.Time
	ended   time.Time
	token   int64    // of the lease it works under
	working []string // what it has begun to work on, such as an order, each before the write
	resumed int64    // nightly-report: the orders that it found counted
	counted int64    // nightly-report: the orders whose sums it has stored, with those found
	run     *logLine // its "run ended"
	fault   string   // how it ended without that line
}

// label is its name with a mark for each time that Lambda has delivered it before.
func (d *delivery) label() string { return d.name + strings.Repeat("'", max(d.attempt-1, 0)) }

// outcome is what became of the delivery.
func (d *delivery) outcome() string {
	switch {
	case d.run != nil && d.run.Outcome != "":
		return d.run.Outcome
	case d.run != nil:
		return "refused"
	case d.fault != "":
		return d.fault
	default:
		return "running"
	}
}

// Outcomes of deliveries whose process died without a word.
const (
	outcomeKilled     = "killed"
	outcomeNotStarted = "not started"
)

func newDelivery(e lambda.Event) *delivery {
	return &delivery{job: e.Function, request: e.RequestID, attempt: e.Attempt, env: e.Environment, pid: e.PID, started: e.Time, name: "?"}
}

// faultOf names the end of a delivery that has no line of its own.
func faultOf(r *lambda.Result) string {
	switch r.FunctionError {
	case "":
		return "no log line"
	case lambda.ErrorExit:
		return outcomeKilled
	case lambda.ErrorTimeout:
		return "timed out"
	default:
		return r.FunctionError
	}
}

// logLine is what the scenario reads of a line that a function logged.
type logLine struct {
	Message   string    `json:"message"`
	Level     string    `json:"level"`
	RequestID string    `json:"requestId"`
	Order     string    `json:"order"`
	On        string    `json:"on"`
	Token     int64     `json:"token"`
	Orders    int64     `json:"orders"`
	Bytes     int64     `json:"bytes"`
	Outcome   string    `json:"outcome"`
	WaitedMS  int64     `json:"waited_ms"`
	WorkedMS  int64     `json:"worked_ms"`
	Requests  int       `json:"requests"`
	DoneTick  time.Time `json:"done_tick"`
	Error     string    `json:"error"`
	Takeover  *struct {
		Token int64     `json:"token"`
		Tick  time.Time `json:"tick"`
	} `json:"takeover"`
}

// The messages that the scenario knows.
const (
	logWorking = "at work"
	logRefused = "stale write refused"
	logEnded   = "run ended"

	logSweeping = "sweep started"
	logClosed   = "order closed"

	logReporting = "report started"
	logCounted   = "page counted"

	logRefreshing = "refresh started"
	logPulled     = "document pulled"
	logUnchanged  = "document unchanged"
	logPut        = "document put"
)
