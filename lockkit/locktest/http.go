package locktest

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	// maxBody bounds a request; the service takes no more than 16 MB either.
	maxBody      = 16 << 20
	targetPrefix = "DynamoDB_20120810."
)

// Do answers one request without any socket, which makes the DB an
// aws.HTTPClient. It takes no notice of host, path or signature. It returns an
// error where an injected fault loses the connection, or when the request's
// context ends while a fault makes it wait.
func (db *DB) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	a, err := db.handle(req)
	if err != nil {
		return nil, err
	}
	header := make(http.Header, 5)
	a.fill(header)
	return &http.Response{
		Status:        strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		StatusCode:    a.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(a.body)),
		ContentLength: int64(len(a.body)),
		Request:       req,
	}, nil
}

// ServeHTTP answers one request, which makes the DB an http.Handler. Where an
// injected fault loses the connection it closes the client's.
func (db *DB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := db.handle(r)
	if err != nil {
		hangUp(w)
		return
	}
	a.fill(w.Header())
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client is gone: nobody to tell
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's own way to break off where there is nothing to hijack (HTTP/2)
	}
	_ = conn.Close() // it is meant to break
}

// handle reads a request and serves it.
func (db *DB) handle(r *http.Request) (answer, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }() // nothing of it is needed after this
	}
	body, err := readBody(r)
	if err != nil {
		return answer{}, fmt.Errorf("locktest: read request: %w", err)
	}
	if len(body) > maxBody {
		e := newError(codeSerialization, "Request is larger than 16 MB")
		e.status = http.StatusRequestEntityTooLarge
		return failed(e), nil
	}
	operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)
	if !ok || r.Method != http.MethodPost {
		return failed(newError(codeUnknown, "")), nil
	}
	return db.serve(r.Context(), operation, body)
}

// readBody reads at most one byte more than is allowed.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(min(r.ContentLength, maxBody)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	return body.Bytes(), err
}

// fill writes the headers of an answer. The SDK checks the checksum.
func (a answer) fill(h http.Header) {
	h.Set("Content-Type", "application/x-amz-json-1.0")
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	h.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(a.body)), 10))
	h.Set("X-Amzn-Requestid", requestID())
}

// requestID makes an id as random as the service's; rand.Text never fails.
func requestID() string { return rand.Text() + rand.Text() }
