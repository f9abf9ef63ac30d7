package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// requestTime bounds one request, with its body. Three of them fit the
	// function's time several times over.
	requestTime = 5 * time.Second
	// maxDocument bounds what is kept in memory.
	maxDocument = 1 << 20
)

// newClient returns a client for one of the two services. Each run reuses the
// connections of the run before, in a process that was frozen meanwhile.
func newClient() *http.Client {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: requestTime,
	}
	return &http.Client{Transport: transport, Timeout: requestTime}
}

// source is where the document comes from.
type source struct {
	client *http.Client
	url    string
}

// errUnchanged says that the document is the one that is there already.
var errUnchanged = errors.New("the document has not changed")

// pull gets the document, unless it is the one that the caller has.
func (s source) pull(ctx context.Context, have string) (document, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
	if err != nil {
		return document{}, failed("pull", s.url, sourceVariable, err)
	}
	if have != "" {
		r.Header.Set("If-None-Match", have)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return document{}, failed("pull", s.url, sourceVariable, err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotModified && have != "":
		return document{}, errUnchanged
	case resp.StatusCode != http.StatusOK:
		return document{}, failed("pull", s.url, sourceVariable, statusError(resp, "200"))
	case resp.ContentLength > maxDocument:
		return document{}, failed("pull", s.url, sourceVariable, tooLong(strconv.FormatInt(resp.ContentLength, 10)))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return document{}, failed("pull", s.url, sourceVariable, fmt.Errorf("the answer broke off: %w", err))
	}
	if len(body) > maxDocument {
		return document{}, failed("pull", s.url, sourceVariable, tooLong("more"))
	}
	etag := resp.Header.Get("ETag")
	if etag != "" && etag == have { // it does not know If-None-Match
		return document{}, errUnchanged
	}
	return document{body: body, kind: resp.Header.Get("Content-Type"), etag: etag}, nil
}

func tooLong(size string) error {
	return fmt.Errorf("the document has %s bytes, expected at most %d: is it the right one?", size, maxDocument)
}

// failed names what was tried. The URL is shown without its query, in which a key
// may be; net/http's own error has all of it.
func failed(verb, address, variable string, err error) error {
	if sending, ok := errors.AsType[*url.Error](err); ok {
		err = sending.Err
	}
	shown := "the URL"
	if u, parseErr := url.Parse(address); parseErr == nil {
		shown = u.Scheme + "://" + u.Host + u.Path
	}
	return fmt.Errorf("%s %s (%s): %w", verb, shown, variable, err)
}

// statusError quotes the beginning of an answer, which may say what is wrong.
func statusError(resp *http.Response, expected string) error {
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // what there is of it
	return fmt.Errorf("the answer has status %s, expected %s; it says %q", resp.Status, expected, said)
}
