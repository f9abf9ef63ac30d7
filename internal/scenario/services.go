package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/lockkit/fence"
)

// services are the two that cache-refresh works between, on loopback: a source
// with a document, and a target that takes it from whoever has the newest token.
type services struct {
	source, target string // URLs
	line           *timeline
	servers        []*http.Server
	serving        sync.WaitGroup

	mu      sync.Mutex
	version int
	has     string // the target's document
	puts    []put
	doors   map[string]chan struct{} // by document; closed when it may come in
}

// put is a document that was brought to the target.
type put struct {
	At       time.Time `json:"at"`
	Token    int64     `json:"token"`
	Document string    `json:"document"`
	Refused  bool      `json:"refused,omitempty"` // with status 412
}

// openServices starts both. careless makes the target one that pays no attention
// to tokens.
func openServices(ctx context.Context, careless bool, line *timeline) (*services, error) {
	s := &services{line: line, doors: map[string]chan struct{}{}}
	var target http.Handler = http.HandlerFunc(s.keep)
	if !careless {
		target = fence.Handler(&fence.MemoryStore{}, target)
	}
	for url, handler := range map[*string]http.Handler{&s.source: http.HandlerFunc(s.serve), &s.target: s.door(target)} {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return s, fmt.Errorf("cannot listen on a free port of 127.0.0.1 for the source and the target of %s: %w", functions.CacheRefresh.Name, err)
		}
		*url = "http://" + listener.Addr().String() + "/document"
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		s.servers = append(s.servers, server)
		s.serving.Go(func() { _ = server.Serve(listener) }) // ends by close
	}
	return s, nil
}

// publish makes a version the source's document.
func (s *services) publish(version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

func (s *services) published() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return document(s.version)
}

// received returns what was brought to the target so far.
func (s *services) received() []put {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.puts)
}

// keepOut keeps a document waiting at the target's door until the function that
// it returns is called, which may be called again.
func (s *services) keepOut(document string) (letIn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := make(chan struct{})
	s.doors[document] = closed
	return sync.OnceFunc(func() { close(closed) })
}

// serve is the source.
func (s *services) serve(w http.ResponseWriter, r *http.Request) {
	name := s.published()
	w.Header().Set("ETag", name)
	if r.Header.Get("If-None-Match") == name {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = io.WriteString(w, name)
}

// door notes what the target refuses, and keeps waiting what is to wait.
func (s *services) door(target http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		closed := s.doors[r.Header.Get("ETag")]
		s.mu.Unlock()
		if closed != nil && r.Method == http.MethodPut {
			<-closed
		}
		answer := &answerTap{ResponseWriter: w, status: http.StatusOK}
		target.ServeHTTP(answer, r)
		if r.Method == http.MethodPut && answer.status == http.StatusPreconditionFailed {
			s.took(r, true)
		}
	})
}

// keep is the target behind its guard: it keeps the last document.
func (s *services) keep(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		s.took(r, false)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", s.has)
}

// took notes a put and says so.
func (s *services) took(r *http.Request, refused bool) {
	token, _ := strconv.ParseInt(r.Header.Get(fence.Header), 10, 64) // the guard has read it; 0 is nobody's
	p := put{At: time.Now(), Token: token, Document: r.Header.Get("ETag"), Refused: refused}
	s.mu.Lock()
	s.puts = append(s.puts, p)
	if !refused {
		s.has = p.Document
	}
	s.mu.Unlock()
	verb := map[bool]string{false: "took", true: "REFUSED (412)"}[refused]
	s.line.note(functions.CacheRefresh.Name, "the target %s document %s of token %d", verb, p.Document, token)
}

// close ends both, and what still waits at the door.
func (s *services) close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	s.serving.Wait()
	return errors.Join(errs...)
}
