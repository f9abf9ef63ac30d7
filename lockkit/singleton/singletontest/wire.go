package singletontest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

// Request is one request that a process sent.
type Request struct {
	Operation string // of DynamoDB, such as "UpdateItem"; else the HTTP method
	Target    string // the tables it names; else host and path
}

// String is both parts, with a space.
func (r Request) String() string { return r.Operation + " " + r.Target }

// wire is the way of one process to one endpoint.
type wire struct {
	process *Process
	read    func(*http.Request) (Request, error)
	send    func(*http.Request) (*http.Response, error)
}

// errBroken is a connection that was lost.
var errBroken = errors.New("singletontest: connection reset by peer")

// Do sends a request, or what is left of it: the trap of the world may strike.
func (x wire) Do(req *http.Request) (*http.Response, error) {
	if _, err := x.process.gate(); err != nil {
		return nil, err
	}
	about, err := x.read(req)
	if err != nil {
		return nil, err
	}
	switch x.process.w.arrives(about) {
	case diesBefore:
		x.process.Kill()
	case freezesBefore:
		if !x.process.holdUp() {
			return nil, errGone
		}
		// Whatever became of the process meanwhile, the request is on its way.
		resp, err := x.late(req)
		return x.answer(req, resp, err)
	case requestLost:
		return nil, errBroken
	case answerLost:
		x.applied(req)
		return nil, errBroken
	case diesAfter:
		x.applied(req)
		x.process.Kill()
	case freezesAfter:
		resp, err := x.late(req)
		x.process.Freeze()
		return x.answer(req, resp, err)
	default:
	}
	stale, err := x.process.gate()
	if err != nil {
		return nil, err
	}
	if stale {
		// It was about to send this, and has not looked at a clock since.
		resp, err := x.late(req)
		return x.answer(req, resp, err)
	}
	resp, err := x.send(req)
	return x.answer(req, resp, err)
}

// RoundTrip makes a wire the Transport of an http.Client.
func (x wire) RoundTrip(req *http.Request) (*http.Response, error) { return x.Do(req) }

// applied sends a request whose answer nobody gets.
func (x wire) applied(req *http.Request) {
	resp, err := x.late(req)
	if err == nil {
		_ = resp.Body.Close() // nobody reads it
	}
}

// late sends a request whatever has become of the caller's interest in it.
func (x wire) late(req *http.Request) (*http.Response, error) {
	return x.send(req.WithContext(context.WithoutCancel(req.Context())))
}

// answer hands over an answer, if the process is still there to get it.
func (x wire) answer(req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	_, gone := x.process.gate()
	if gone == nil {
		gone = req.Context().Err()
	}
	if gone == nil {
		return resp, err
	}
	if err == nil {
		_ = resp.Body.Close() // nobody reads it
	}
	return nil, gone
}

// Transport returns a transport for an http.Client of the process: what goes over
// it is counted and disturbed as the requests to DynamoDB are. In a bubble no real
// socket can be used, so base is usually a [Server].
func (p *Process) Transport(base http.RoundTripper) http.RoundTripper {
	return wire{process: p, read: httpRequest, send: base.RoundTrip}
}

// Server returns a transport that answers by a handler, without sockets. Whatever
// the host, the handler serves it. A handler that panics breaks the connection.
func Server(handler http.Handler) http.RoundTripper { return server{handler} }

type server struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (s server) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	defer func() {
		if v := recover(); v != nil {
			resp, err = nil, fmt.Errorf("%w: the handler panicked: %v", errBroken, v)
		}
	}()
	in := req.Clone(req.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	in.RequestURI = req.URL.RequestURI()
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, in)
	resp = recorder.Result()
	resp.Request = req
	return resp, nil
}

func httpRequest(req *http.Request) (Request, error) {
	return Request{Operation: req.Method, Target: req.URL.Host + req.URL.Path}, nil
}

// dynamoRequest reads what a request to DynamoDB is about, and leaves it as it
// was.
func dynamoRequest(req *http.Request) (Request, error) {
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	r := Request{Operation: operation}
	if req.Body == nil {
		return r, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return r, fmt.Errorf("singletontest: read the request %s: %w", operation, err)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	var in struct {
		TableName     string
		TransactItems []map[string]struct{ TableName string }
		RequestItems  map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, fmt.Errorf("singletontest: read the request %s: %w", operation, err)
	}
	var tables []string
	add := func(table string) {
		if table != "" && !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
	}
	add(in.TableName)
	for _, action := range in.TransactItems {
		for _, of := range action {
			add(of.TableName)
		}
	}
	for table := range in.RequestItems {
		add(table)
	}
	slices.Sort(tables)
	r.Target = strings.Join(tables, "+")
	return r, nil
}
