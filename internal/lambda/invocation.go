package lambda

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Result is what became of an invocation.
type Result struct {
	RequestID   string `json:"request_id"`
	Environment string `json:"environment"`
	// Payload is the function's answer, or the error as Lambda renders it.
	Payload []byte `json:"payload,omitempty"`
	// FunctionError is the type of the error, empty if there was none. Lambda's
	// own are Sandbox.Timedout, Runtime.ExitError, Runtime.InvalidEntrypoint and
	// Function.ResponseSizeTooLarge; any other comes from the function.
	FunctionError string `json:"function_error,omitempty"`
	// ErrorMessage is the message of the error, empty if there was none.
	ErrorMessage string `json:"error_message,omitempty"`
	// Duration is the time from the hand-over to the answer, init not counted.
	Duration time.Duration `json:"duration"`
}

// Types of the errors that Lambda itself reports.
const (
	ErrorTimeout       = "Sandbox.Timedout"
	ErrorExit          = "Runtime.ExitError"
	ErrorEntrypoint    = "Runtime.InvalidEntrypoint"
	ErrorResponseSize  = "Function.ResponseSizeTooLarge"
	errorSandbox       = "Sandbox.Failure"
	errorUnknownReport = "Runtime.UnknownReason"
)

// invocation is one delivery to an environment. Service.mu guards it from
// answered on; done is closed once the environment is at rest or gone.
type invocation struct {
	id      string
	traceID string
	payload []byte
	attempt int
	event   *asyncEvent // nil: synchronous
	done    chan struct{}

	started     time.Time // the hand-over; zero: never handed over
	deadline    time.Time
	answered    bool
	result      Result
	interrupted bool // Close came first
}

func newInvocation(id string, payload []byte) *invocation {
	return &invocation{id: id, traceID: newTraceID(), payload: payload, attempt: 1, done: make(chan struct{})}
}

// reportedError is the part of an error report that is looked into.
type reportedError struct {
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"`
}

// failure renders an error of Lambda's own as Lambda does.
func failure(inv *invocation, kind, message string) Result {
	message = fmt.Sprintf("RequestId: %s Error: %s", inv.id, message)
	payload, err := json.Marshal(reportedError{Message: message, Type: kind})
	if err != nil {
		payload = nil // two strings always marshal
	}
	return Result{Payload: payload, FunctionError: kind, ErrorMessage: message}
}

// reported takes over an error that the function reported.
func reported(body []byte, kindHeader string) Result {
	result := Result{Payload: body, FunctionError: kindHeader}
	var report reportedError
	if json.Unmarshal(body, &report) == nil {
		result.ErrorMessage = report.Message
		if report.Type != "" {
			result.FunctionError = report.Type
		}
	}
	if result.FunctionError == "" {
		result.FunctionError = errorUnknownReport
	}
	return result
}

// newRequestID is a random UUID, as Lambda's are.
func newRequestID() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func newTraceID() string {
	id := randomHex(20)
	return fmt.Sprintf("Root=1-%08x-%s;Parent=%s;Sampled=0", time.Now().Unix(), id[:24], id[24:])
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return hex.EncodeToString(b)
}
