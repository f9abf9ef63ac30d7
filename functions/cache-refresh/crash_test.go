package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/lockkit/fence"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/singletontest"
)

// shop is the outside of a world: a source that has a new document every second,
// and the target.
type shop struct {
	target http.Handler
	shelf  *shelf
}

// edition is the document at a time, a number that grows.
func edition(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// TestCrashPoints disturbs the refresh at each request it makes, those to the
// source and the target too: whatever happens there, the target has a document
// that is not older than the completed tick, and never one that is older than
// what it had.
func TestCrashPoints(t *testing.T) {
	var s shop
	open := func(*singletontest.World) {
		s.shelf = &shelf{}
		s.target = fence.Handler(&fence.MemoryStore{}, s.shelf)
	}
	report := singletontest.CrashEverywhere(t, functions.CacheRefresh, s.refresher, s.fresh, singletontest.Setup(open))
	t.Log(report)
	if len(report.Requests) != 5 {
		t.Errorf("%v, want acquire, a question to the target, the pull, the put, release", report.Requests)
	}
}

// refresher is the job as main wires it, with the process's transport.
func (s *shop) refresher(p *singletontest.Process) singleton.Work {
	client := func(h http.HandlerFunc) *http.Client {
		c := newClient()
		c.Transport = p.Transport(singletontest.Server(h))
		return c
	}
	r := &refresher{
		source: source{
			client: client(func(w http.ResponseWriter, r *http.Request) { version(edition(time.Now())).ServeHTTP(w, r) }),
			url:    "http://source.example/document",
		},
		target: newFenced(client(func(w http.ResponseWriter, r *http.Request) { s.target.ServeHTTP(w, r) }), "http://target.example/document"),
		logger: slog.New(slog.DiscardHandler),
	}
	return r.work
}

// fresh is the check.
func (s *shop) fresh(w *singletontest.World) error {
	s.shelf.mu.Lock()
	defer s.shelf.mu.Unlock()
	puts := s.shelf.puts
	if !slices.IsSorted(puts) {
		return fmt.Errorf("an old document replaced a newer one: %v", puts)
	}
	if due := edition(w.Completed(functions.CacheRefresh.Name)); len(puts) == 0 || puts[len(puts)-1] < due {
		return fmt.Errorf("the target got %v, and the completed tick was due at %s", puts, due)
	}
	return nil
}
