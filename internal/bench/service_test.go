//go:build bench

package bench

import (
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
	"github.com/solotick/solotick/lockkit/locktest"
)

// service runs bootstraps as real processes behind the Runtime API, against the
// in-memory endpoint over loopback.
type service struct {
	*lambda.Service
	t *testing.T

	mu      sync.Mutex
	started map[string]time.Time // by environment
	inits   map[string]time.Duration
}

func newService(t *testing.T) (*service, map[string]string) {
	t.Helper()
	db := locktest.New()
	for _, table := range []string{lockTable, "orders", "reports"} {
		if err := locktest.CreateTable(t.Context(), db.Client(), table, "pk", "sk"); err != nil {
			t.Fatal(err)
		}
	}
	endpoint := httptest.NewServer(forgetful{db})
	s := &service{t: t, started: map[string]time.Time{}, inits: map[string]time.Duration{}}
	s.Service = lambda.New(lambda.Options{Observer: s.observe})
	t.Cleanup(func() {
		s.Close()
		endpoint.Close()
	})
	return s, map[string]string{
		"SOLOTICK_LOCK_TABLE": lockTable, "SOLOTICK_ORDERS_TABLE": "orders", "SOLOTICK_REPORTS_TABLE": "reports",
		"SOLOTICK_CACHE_SOURCE": endpoint.URL + "/source", "SOLOTICK_CACHE_TARGET": endpoint.URL + "/target",
		"DYNAMODB_ENDPOINT": endpoint.URL,
	}
}

// observe notes how long an init took: from before the fork to the first request
// for an invocation.
func (s *service) observe(e lambda.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case lambda.EventStarting:
		s.started[e.Environment] = e.Time
	case lambda.EventInitDone:
		s.inits[e.Environment] = e.Time.Sub(s.started[e.Environment])
	default:
	}
}

// create adds a function. Two names may share a bootstrap: then one of them is
// the other's control.
func (s *service) create(name, bootstrap string, env map[string]string) {
	s.t.Helper()
	if err := s.Create(lambda.Function{Name: name, Bootstrap: bootstrap, Env: env}); err != nil {
		s.t.Fatal(err)
	}
}

// init starts a new process of a function, and ends it again. The event is one
// that a job refuses before it sends anything.
func (s *service) init(name string) time.Duration {
	s.t.Helper()
	res, err := s.Invoke(s.t.Context(), name, []byte(`"only to see the process start"`))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.Kill(res.Environment); err != nil {
		s.t.Fatalf("%s: %v, after the answer %s", name, err, res.Payload)
	}
	if err := s.Idle(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	took, done := s.inits[res.Environment]
	if !done {
		s.t.Fatalf("%s did not finish its init: %s", name, res.Payload)
	}
	return took
}

// invoke is how long a warm process takes from the hand-over to its answer.
func (s *service) invoke(name string) time.Duration {
	s.t.Helper()
	res, err := s.Invoke(s.t.Context(), name, []byte(`{}`))
	if err != nil || res.FunctionError != "" {
		s.t.Fatalf("%s: %v, %s", name, err, res.Payload)
	}
	return res.Duration
}

// samples calls measure for all names in turn, in one direction and back, and
// returns the durations by name: what the machine does meanwhile meets them alike.
func samples(rounds int, names []string, measure func(name string) time.Duration) map[string][]float64 {
	all := map[string][]float64{}
	for i := range rounds {
		for j := range names {
			k := (i + j) % len(names)
			if i%2 == 1 {
				k = len(names) - 1 - k
			}
			all[names[k]] = append(all[names[k]], float64(measure(names[k])))
		}
	}
	return all
}
