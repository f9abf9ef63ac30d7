package fence

import (
	"context"
	"fmt"
	"sync"
)

// MemoryStore is a [Store] for tests and demonstrations: it forgets its marks
// with the process, so that a restart lets stale writes in, and a second process
// knows nothing of them. It never drops a mark, so its memory grows with the
// number of resources. The zero value is ready; do not copy it after use. It is
// safe for concurrent use.
type MemoryStore struct {
	mu    sync.Mutex
	marks map[string]*memoryMark
}

type memoryMark struct {
	turn    chan struct{} // holds one value while an effect runs
	highest int64         // guarded by the store's mu
}

// Do implements [Store]. Effects that wait for the one before take their turns
// in no fixed order; a stale one is refused without waiting.
func (s *MemoryStore) Do(ctx context.Context, resource string, token int64, effect func(context.Context) error) error {
	if err := checkToken(resource, token); err != nil {
		return err
	}
	m := s.mark(resource)
	if err := s.compare(m, resource, token, false); err != nil {
		return err
	}
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // also where select had the choice
		return fmt.Errorf("fence: waiting for the write before on %q: %w", resource, context.Cause(ctx))
	}
	if err := s.compare(m, resource, token, true); err != nil { // again: others had their turns meanwhile
		return err
	}
	return effect(ctx)
}

// Highest returns the highest token that the resource has seen, 0 if none.
func (s *MemoryStore) Highest(resource string) int64 {
	m := s.mark(resource)
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.highest
}

func (s *MemoryStore) mark(resource string) *memoryMark {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.marks[resource]
	if m == nil {
		if s.marks == nil {
			s.marks = map[string]*memoryMark{}
		}
		m = &memoryMark{turn: make(chan struct{}, 1)}
		s.marks[resource] = m
	}
	return m
}

func (s *MemoryStore) compare(m *memoryMark, resource string, token int64, raise bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token < m.highest {
		return &StaleError{Resource: resource, Token: token, Highest: m.highest}
	}
	if raise {
		m.highest = token
	}
	return nil
}
