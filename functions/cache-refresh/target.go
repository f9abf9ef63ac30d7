package main

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/solotick/solotick/lockkit/fence"
)

// settleTime is what a put under way may still take when the run's context ends.
// Cutting it off would leave open whether it arrived, and whether it may is for
// the target to say, by the token. It must fit the job's reserve.
const settleTime = time.Second

// fenced is a target that checks the token of every request, as
// [fence.Handler] does. It keeps the ETag that comes with a document.
type fenced struct {
	client *http.Client
	url    string
}

// newFenced changes the client: of a redirected put net/http would make a get, and
// take its success for the put's.
func newFenced(client *http.Client, url string) fenced {
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return fenced{client: client, url: url}
}

// etag implements target.
func (f fenced) etag(ctx context.Context, token int64) (string, error) {
	const verb = "ask for the ETag of"
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, f.url, http.NoBody)
	if err != nil {
		return "", failed(verb, f.url, targetVariable, err)
	}
	resp, err := f.send(r, token)
	if err != nil {
		return "", failed(verb, f.url, targetVariable, err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.Header.Get("ETag"), nil
	case http.StatusNotFound:
		return "", nil // nobody has put one yet
	default:
		return "", failed(verb, f.url, targetVariable, statusError(resp, "200 or 404"))
	}
}

// put implements target.
func (f fenced) put(ctx context.Context, d document, token int64) error {
	ctx, cancel := outlive(ctx, settleTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, f.url, bytes.NewReader(d.body))
	if err != nil {
		return failed("put", f.url, targetVariable, err)
	}
	for name, value := range map[string]string{"Content-Type": d.kind, "ETag": d.etag} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	// To put a document twice does no harm. This tells net/http, which sends the
	// request again when the kept connection turns out to be closed; it does not
	// send the header.
	r.Header["Idempotency-Key"] = nil
	resp, err := f.send(r, token)
	if err != nil {
		return failed("put", f.url, targetVariable, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return failed("put", f.url, targetVariable, statusError(resp, "2xx"))
	}
	return nil
}

// send shows the token and finds out whether it was refused.
func (f fenced) send(r *http.Request, token int64) (*http.Response, error) {
	fence.SetToken(r, token)
	resp, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	if err := fence.CheckResponse(resp, r.URL.Path); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// outlive returns a context that ends d after ctx.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(d, func() { cancel(context.Cause(ctx)) })
	})
	return longer, func() {
		stop()
		cancel(context.Canceled)
	}
}
