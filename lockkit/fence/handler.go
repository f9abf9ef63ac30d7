package fence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
)

// DefaultMaxBody is how many bytes of a request's body [Handler] takes unless
// [MaxBody] says otherwise: 1 MiB.
const DefaultMaxBody = 1 << 20

// Handler lets requests through to next that carry the highest token of their
// resource in [Header], or a higher one, and answers the others:
//
//	400  the header is missing, there twice, or not a token; the text says what was expected
//	412  the token is stale; the highest is in the text and in [Header]
//	413  the body is longer than [MaxBody]
//	503  the store failed, or the request ended while it waited for the one before
//
// After a 503 the write may have happened; the same token may send it again.
//
// next runs as the store's effect, so the store keeps its promise only for what
// next has done when it returns. The body is read to its end before that, so
// that a writer paused in the middle of a request holds nobody up and a request
// that is cut off has no effect. The answer is kept until the store has
// succeeded: an answer below 400 counts as success, any other as a failure, which
// is sent to the client after a store with transactions has rolled back. So
// next can neither stream nor hijack the connection.
//
// Put it around what writes; every request that reaches it needs a token. The
// resource is the request's decoded path unless [ResourceBy] says otherwise, and
// it is taken as it comes: /x, /x/ and //x are three resources with a mark each. If
// next takes them for one, give them one name with ResourceBy. All writers of a resource must take their tokens from one lock: the tokens of two
// locks cannot be compared. store and next must not be nil. The handler is safe
// for concurrent use if they are.
func Handler(store Store, next http.Handler, opts ...HandlerOption) http.Handler {
	h := &handler{
		store: store, next: next,
		resource: func(r *http.Request) string { return r.URL.Path },
		maxBody:  DefaultMaxBody,
		logger:   slog.New(slog.DiscardHandler),
	}
	for _, opt := range opts {
		opt(h)
	}
	return h
}

// HandlerOption changes what [Handler] does.
type HandlerOption func(*handler)

// ResourceBy says which resource a request writes to. Requests that change the
// same thing must get the same name, or one could pass the other unseen. It is
// called once per request, on the request's goroutine, and must not be nil.
func ResourceBy(name func(*http.Request) string) HandlerOption {
	return func(h *handler) { h.resource = name }
}

// MaxBody sets how many bytes of a body are taken; below 1, none. Every request
// under way can hold that much memory.
func MaxBody(bytes int64) HandlerOption {
	return func(h *handler) { h.maxBody = max(bytes, 0) }
}

// WithLogger logs failures of the store, which clients see as a bare 503. Without
// it, or with nil, they are silent.
func WithLogger(logger *slog.Logger) HandlerOption {
	return func(h *handler) {
		if logger != nil {
			h.logger = logger
		}
	}
}

type handler struct {
	store    Store
	next     http.Handler
	resource func(*http.Request) string
	maxBody  int64
	logger   *slog.Logger
}

// errRefused tells the store that next answered with an error.
var errRefused = errors.New("the handler answered with an error")

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, err := parseToken(r.Header.Values(Header))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.maxBody))
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		http.Error(w, fmt.Sprintf("the body is longer than the %d bytes that are taken here", tooLong.Limit), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "the body could not be read to its end, so nothing was written: "+err.Error(), http.StatusBadRequest)
		return
	}
	resource := h.resource(r)
	var a *answer
	err = h.store.Do(r.Context(), resource, token, func(ctx context.Context) error {
		a = &answer{header: http.Header{}}
		whole := r.WithContext(ctx)
		whole.Body = io.NopCloser(bytes.NewReader(body))
		whole.ContentLength = int64(len(body))
		whole.TransferEncoding = nil
		h.next.ServeHTTP(a, whole)
		if a.status >= http.StatusBadRequest {
			return errRefused
		}
		return nil
	})
	stale, isStale := errors.AsType[*StaleError](err)
	switch {
	case err == nil || errors.Is(err, errRefused):
		a.send(w)
	case isStale:
		if stale.Highest != 0 {
			w.Header().Set(Header, strconv.FormatInt(stale.Highest, 10))
		}
		http.Error(w, stale.Error(), http.StatusPreconditionFailed)
	default:
		h.logger.LogAttrs(r.Context(), slog.LevelError, "store failed", slog.String("resource", resource), slog.Int64("token", token), slog.Any("error", err))
		http.Error(w, "the write may or may not have happened; send it again with the same token", http.StatusServiceUnavailable)
	}
}

// answer keeps what a handler says until the store has succeeded.
type answer struct {
	header http.Header
	status int // 0: nothing written yet
	body   bytes.Buffer
	sent   http.Header // the header as it was when the status was set
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter. Informational answers are dropped.
func (a *answer) WriteHeader(status int) {
	if a.status != 0 || status < http.StatusOK {
		return
	}
	a.status = status
	a.sent = a.header.Clone()
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *answer) send(w http.ResponseWriter) {
	a.WriteHeader(http.StatusOK) // a handler that wrote nothing
	maps.Copy(w.Header(), a.sent)
	w.WriteHeader(a.status)
	_, _ = a.body.WriteTo(w) // the client has gone; the effect stands
}
