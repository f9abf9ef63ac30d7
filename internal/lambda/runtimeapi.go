package lambda

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	apiPrefix        = "/2018-06-01/runtime/"
	errorTypeHeader  = "Lambda-Runtime-Function-Error-Type"
	errorBodyTrailer = "Lambda-Runtime-Function-Error-Body"
	// maxResponse is the service's own limit in bytes, with its own slack.
	maxResponse = MaxPayload + 100
	// drainLimit bounds the wait for log lines before an answer is taken; it is
	// reached only if the observer lags that much.
	drainLimit = 10 * time.Second
)

// runtimeAPI is the Runtime API of one environment.
type runtimeAPI struct {
	service *Service
	e       *environment
	logs    *logPipe
	server  *http.Server
	calls   sync.WaitGroup
}

func newRuntimeAPI(s *Service, e *environment) *runtimeAPI {
	a := &runtimeAPI{service: s, e: e}
	a.server = &http.Server{
		Handler:           a,
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	return a
}

// serve returns after close.
func (a *runtimeAPI) serve(listener net.Listener) {
	if err := a.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		_ = a.server.Close() // the process finds its connections closed and exits
	}
}

// close ends the connections and waits for the calls; the environment is gone.
func (a *runtimeAPI) close() {
	ctx, cancel := context.WithTimeout(context.Background(), leftovers)
	defer cancel()
	if a.server.Shutdown(ctx) != nil {
		_ = a.server.Close()
	}
	a.calls.Wait()
}

// apiError is an error as the Runtime API renders it.
type apiError struct {
	status  int
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"`
}

func (e *apiError) Error() string { return e.Type + ": " + e.Message }

func refusal(status int, kind, message string) *apiError {
	return &apiError{status: status, Message: message, Type: kind}
}

func wrongState(message string) *apiError {
	return refusal(http.StatusForbidden, "InvalidStateTransition", message)
}

// ServeHTTP routes the four calls.
func (a *runtimeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !a.enter() {
		a.refuse(w, wrongState("the environment has ended"))
		return
	}
	defer a.calls.Done()
	path, known := strings.CutPrefix(r.URL.Path, apiPrefix)
	method, call := http.MethodPost, http.HandlerFunc(nil)
	id, verb, _ := strings.Cut(strings.TrimPrefix(path, "invocation/"), "/")
	switch {
	case !known:
	case path == "invocation/next":
		method, call = http.MethodGet, a.next
	case path == "init/error":
		call = a.initError
	case strings.HasPrefix(path, "invocation/") && verb == "response":
		call = func(w http.ResponseWriter, r *http.Request) { a.answer(w, r, id, false) }
	case strings.HasPrefix(path, "invocation/") && verb == "error":
		call = func(w http.ResponseWriter, r *http.Request) { a.answer(w, r, id, true) }
	}
	switch {
	case call == nil:
		a.refuse(w, refusal(http.StatusNotFound, "NotFound", "no such path in the Runtime API: "+r.URL.Path))
	case r.Method != method:
		w.Header().Set("Allow", method)
		a.refuse(w, refusal(http.StatusMethodNotAllowed, "MethodNotAllowed", r.Method+" is not allowed here, expected "+method))
	default:
		call(w, r)
	}
}

// enter counts a call unless the environment is gone.
func (a *runtimeAPI) enter() bool {
	a.service.mu.Lock()
	defer a.service.mu.Unlock()
	select {
	case <-a.e.gone:
		return false
	default:
		a.calls.Add(1)
		return true
	}
}

func (a *runtimeAPI) refuse(w http.ResponseWriter, err *apiError) { writeJSON(w, err.status, err) }

func (a *runtimeAPI) accept(w http.ResponseWriter) {
	writeJSON(w, http.StatusAccepted, struct {
		Status string `json:"status"`
	}{"OK"})
}

// writeJSON answers a call. A client that is gone is not told.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// next answers with an invocation once there is one.
func (a *runtimeAPI) next(w http.ResponseWriter, r *http.Request) {
	a.logs.drain(drainLimit)
	waiting, err := a.service.ask(a.e)
	if err != nil {
		a.refuse(w, err)
		return
	}
	select {
	case inv, ok := <-waiting:
		if !ok {
			a.refuse(w, wrongState("another request for the next invocation came later"))
			return
		}
		header := w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
		header.Set("Lambda-Runtime-Invoked-Function-Arn", a.e.fn.arn)
		header.Set("Lambda-Runtime-Trace-Id", inv.traceID)
		_, _ = w.Write(inv.payload) // a process that is gone by now is noticed by its exit or timeout
	case <-r.Context().Done():
		a.service.withdraw(a.e, waiting)
	case <-a.e.gone:
	}
}

// answer takes the answer or the error of an invocation.
func (a *runtimeAPI) answer(w http.ResponseWriter, r *http.Request, id string, isError bool) {
	if err := a.service.expects(a.e, id); err != nil {
		a.refuse(w, err) // at once, before a large body
		return
	}
	body, err := readBody(r)
	if err != nil {
		a.refuse(w, refusal(http.StatusBadRequest, "InvalidRequest", "the body broke off: "+err.Error()))
		return
	}
	result := Result{Payload: body}
	if isError {
		result = reported(body, r.Header.Get(errorTypeHeader))
	} else if kind := r.Trailer.Get(errorTypeHeader); kind != "" { // the answer's own source failed midway
		report, err := base64.StdEncoding.DecodeString(r.Trailer.Get(errorBodyTrailer))
		if err != nil {
			report = nil // the type is all there is
		}
		result = reported(report, kind)
	}
	a.logs.drain(drainLimit)
	if err := a.service.take(a.e, id, result, len(body) > maxResponse); err != nil {
		a.refuse(w, err)
		return
	}
	a.accept(w)
}

// readBody reads at most one byte more than is allowed.
func readBody(r *http.Request) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r.Body, maxResponse+1))
}

// initError takes the report of an init that failed.
func (a *runtimeAPI) initError(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		a.refuse(w, refusal(http.StatusBadRequest, "InvalidRequest", "the body broke off: "+err.Error()))
		return
	}
	a.logs.drain(drainLimit)
	if err := a.service.takeInitError(a.e, reported(body, r.Header.Get(errorTypeHeader))); err != nil {
		a.refuse(w, err)
		return
	}
	a.accept(w)
}
