package lambda

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a payload in bytes.
const (
	MaxPayload      = 6 << 20 // synchronous
	MaxAsyncPayload = 1 << 20
)

// DefaultInitTimeout is Lambda's bound of the init phase.
const DefaultInitTimeout = 10 * time.Second

// Options of a Service; the zero value is ready.
type Options struct {
	// Observer is told everything that happens; nil: nobody. It is called from
	// one goroutine, one event at a time; it may inject faults and events, but
	// must not call Invoke, Idle or Close. While it lags, the functions' log
	// output and so their answers wait.
	Observer func(Event)
	// InitTimeout bounds the time from the start of a process until it asks for
	// its first invocation; 0 means 10 s.
	InitTimeout time.Duration
	// Region is what functions are told; empty means us-east-1.
	Region string
	// Speed divides Lambda's own waits, which are retry delays and the age
	// limit of asynchronous events: with 60 a minute takes a second. 0 means 1.
	Speed float64
}

// Service runs functions. It is safe for concurrent use; make it with [New]
// and end it with Close.
type Service struct {
	options      Options
	events       *eventQueue
	forker       *forker
	closing      chan struct{}
	closeOnce    sync.Once
	queueWake    chan struct{}
	environments sync.WaitGroup // supervisors
	background   sync.WaitGroup // forks, queue

	observing sync.WaitGroup

	mu        sync.Mutex // held for steps between states, never while waiting
	closed    bool
	functions map[string]*function
	queue     []*asyncEvent // waiting, in order of arrival
	pending   int           // invocations and events that are not over
	quiet     chan struct{} // closed while pending is 0
}

// New starts a Service without functions. A negative InitTimeout or Speed
// counts as 0.
func New(options Options) *Service {
	if options.InitTimeout <= 0 {
		options.InitTimeout = DefaultInitTimeout
	}
	if options.Region == "" {
		options.Region = "us-east-1"
	}
	if options.Speed <= 0 {
		options.Speed = 1
	}
	s := &Service{
		options:   options,
		events:    newEventQueue(options.Observer),
		forker:    newForker(),
		closing:   make(chan struct{}),
		queueWake: make(chan struct{}, 1),
		functions: make(map[string]*function),
		quiet:     make(chan struct{}),
	}
	close(s.quiet)
	s.background.Go(s.forker.run)
	s.background.Go(s.runQueue)
	s.observing.Go(s.events.run)
	return s
}

// Create adds a function. Nothing is started before its first invocation. The
// error wraps ErrInvalid, ErrClosed or, where the local Lambda does not run,
// errors.ErrUnsupported. A name can be created once.
func (s *Service) Create(f Function) error {
	if err := supported(); err != nil {
		return fmt.Errorf("lambda: function %q: %w", f.Name, err)
	}
	f = f.withDefaults()
	if err := f.validate(); err != nil {
		return err
	}
	bootstrap, err := filepath.Abs(f.Bootstrap)
	if err != nil {
		return fmt.Errorf("lambda: function %q: bootstrap %q: %w", f.Name, f.Bootstrap, err)
	}
	f.Bootstrap = bootstrap
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("lambda: function %q: %w", f.Name, ErrClosed)
	}
	if _, taken := s.functions[f.Name]; taken {
		return fmt.Errorf("lambda: function %q: %w: it was created already; choose another Name", f.Name, ErrInvalid)
	}
	s.functions[f.Name] = &function{
		Function: f,
		arn:      fmt.Sprintf("arn:aws:lambda:%s:000000000000:function:%s", s.options.Region, f.Name),
	}
	return nil
}

// Invoke runs a function and waits for it: until it has answered and its
// environment is at rest or gone. An error of the function is in the Result. The
// error is of the service: ErrUnknownFunction, ErrInvalid (the payload is not
// JSON or above 6 MB), ErrThrottled, ErrClosed, or the cause of ctx, after
// which the invocation goes on, as in Lambda. An empty payload means {}.
func (s *Service) Invoke(ctx context.Context, function string, payload []byte) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("lambda: invoke %q: %w", function, context.Cause(ctx))
	}
	payload, err := checkPayload(payload, MaxPayload)
	if err != nil {
		return Result{}, fmt.Errorf("lambda: invoke %q: %w", function, err)
	}
	inv := newInvocation(newRequestID(), payload)
	if err := s.begin(function, inv); err != nil { //nolint:contextcheck // the environment outlives this call
		return Result{}, fmt.Errorf("lambda: invoke %q: %w", function, err)
	}
	select {
	case <-inv.done:
	case <-ctx.Done():
		return Result{}, fmt.Errorf("lambda: invoke %q, request %s (it goes on): %w", function, inv.id, context.Cause(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if inv.interrupted {
		return Result{}, fmt.Errorf("lambda: invoke %q, request %s: %w", function, inv.id, ErrClosed)
	}
	return inv.result, nil
}

func (s *Service) begin(function string, inv *invocation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn, err := s.lookup(function)
	if err != nil {
		return err
	}
	if err := s.place(fn, inv); err != nil {
		return err
	}
	s.more(1)
	return nil
}

// lookup finds a function while the service is open; s.mu is held.
func (s *Service) lookup(name string) (*function, error) {
	if s.closed {
		return nil, ErrClosed
	}
	fn, known := s.functions[name]
	if !known {
		names := slices.Sorted(maps.Keys(s.functions))
		return nil, fmt.Errorf("%w, expected one of [%s]; Create it first", ErrUnknownFunction, strings.Join(names, ", "))
	}
	return fn, nil
}

func checkPayload(payload []byte, limit int) ([]byte, error) {
	switch {
	case len(payload) == 0:
		return []byte("{}"), nil
	case len(payload) > limit:
		return nil, fmt.Errorf("%w: the payload has %d bytes, expected at most %d", ErrInvalid, len(payload), limit)
	case !json.Valid(payload):
		return nil, fmt.Errorf("%w: the payload %.60q is not JSON; a string needs its quotes", ErrInvalid, payload)
	}
	return slices.Clone(payload), nil
}

// Idle waits until no invocation runs, is queued or waits for a retry, and the
// observer has seen what happened until then. It returns the cause of ctx, or
// ErrClosed.
func (s *Service) Idle(ctx context.Context) error {
	s.mu.Lock()
	quiet := s.quiet
	s.mu.Unlock()
	select {
	case <-quiet:
	case <-ctx.Done():
		s.mu.Lock()
		pending := s.pending
		s.mu.Unlock()
		return fmt.Errorf("lambda: idle, %d invocations or events pending: %w", pending, context.Cause(ctx))
	case <-s.closing:
		return fmt.Errorf("lambda: idle: %w", ErrClosed)
	}
	if err := s.events.flush(ctx); err != nil {
		return fmt.Errorf("lambda: idle, the observer lags: %w", err)
	}
	return nil
}

// more and less count what Idle waits for; s.mu is held.
func (s *Service) more(n int) {
	if s.pending == 0 && n > 0 {
		s.quiet = make(chan struct{})
	}
	s.pending += n
}

func (s *Service) less() {
	if s.pending--; s.pending == 0 {
		close(s.quiet)
	}
}

// Close kills what the Service started, drops what is queued, and returns when
// every process and goroutine has ended and the observer has seen all events.
// Running Invoke calls return ErrClosed. A second call waits for the first. The
// error is always nil.
func (s *Service) Close() error {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closed = true
		close(s.closing)
		for range s.queue {
			s.less()
		}
		s.queue = nil
		for _, fn := range s.functions {
			for _, e := range fn.environments {
				if e.inv != nil && !e.inv.answered {
					e.inv.interrupted = true
				}
				s.kill(e, ReasonClosed)
			}
		}
		s.mu.Unlock()
		s.environments.Wait()
		s.forker.close()
		s.background.Wait()
		s.events.close()
		s.observing.Wait()
	})
	return nil
}
