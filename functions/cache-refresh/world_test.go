package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/fence"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

// world is a table with locks, a source, a target that checks tokens, and a
// refresher between them.
type world struct {
	t      *testing.T
	db     *locktest.DB
	locks  *lockkit.LockTable
	r      *refresher
	source http.Handler
	shelf  *shelf
	log    *bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := locktest.New()
	if err := locktest.CreateTable(t.Context(), db.Client(), "locks", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	locks, err := lockkit.New(db.Client(), "locks")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: db, locks: locks, shelf: &shelf{}, log: &bytes.Buffer{}}
	w.source = version("v1")
	guard := fence.Handler(&fence.MemoryStore{}, w.shelf)
	w.r = w.refresher(func(h http.ResponseWriter, r *http.Request) { w.source.ServeHTTP(h, r) }, guard.ServeHTTP)
	return w
}

func (w *world) refresher(from, to http.HandlerFunc) *refresher {
	client := func(h http.Handler) *http.Client { return &http.Client{Transport: within{h}, Timeout: requestTime} }
	return &refresher{
		source: source{client: client(from), url: "http://source.example/document?key=hunter2"},
		target: newFenced(client(to), "http://target.example/document?key=hunter2"),
		logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

func (w *world) run() (singleton.Result, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), functions.CacheRefresh.Timeout)
	defer cancel()
	tick := events.Tick{Source: events.KindSchedule, Time: time.Now(), ID: "id", Attempt: 1}
	return singleton.Do(ctx, w.locks, functions.CacheRefresh, tick, w.r.work, singleton.WithLogger(w.r.logger))
}

func (w *world) wantLog(part string) {
	w.t.Helper()
	if !strings.Contains(w.log.String(), part) {
		w.t.Errorf("%q is not in the log:\n%s", part, w.log)
	}
}

// version is a source whose document and ETag are a word.
func version(word string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+word+`"`)
		w.Header().Set("Content-Type", "text/plain")
		if r.Header.Get("If-None-Match") == `"`+word+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, word)
	}
}

// shelf keeps what was put, in order.
type shelf struct {
	mu   sync.Mutex
	puts []string
	etag string
	kind string
	// answer is the status of every put; 0: 204.
	answer int
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Method == http.MethodHead && s.etag == "":
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodHead:
		w.Header().Set("ETag", s.etag)
	case s.answer != 0:
		w.Header().Set("Location", "/elsewhere")
		http.Error(w, "not today", s.answer)
	default:
		body, _ := io.ReadAll(r.Body)
		s.puts, s.etag, s.kind = append(s.puts, string(body)), r.Header.Get("ETag"), r.Header.Get("Content-Type")
		w.WriteHeader(http.StatusNoContent)
	}
}

// within serves requests in the process, so that time can be virtual. Like a
// network it gives up with the request's context and tells the other side nothing.
type within struct{ handler http.Handler }

func (n within) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(orNothing(r.Body))
	if err != nil {
		return nil, err
	}
	there := httptest.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, r.URL.String(), bytes.NewReader(body))
	there.Header = r.Header
	answer := make(chan *http.Response, 1)
	go func() {
		recorder := httptest.NewRecorder()
		n.handler.ServeHTTP(recorder, there)
		resp := recorder.Result()
		resp.Request = r
		answer <- resp
	}()
	select {
	case resp := <-answer:
		return resp, nil
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

func orNothing(body io.Reader) io.Reader {
	if body == nil {
		return http.NoBody
	}
	return body
}
