package lockkit

import (
	"sync"
	"time"
)

// observation is a held lock as this process saw it: which holder, which record
// version, and since when unchanged on this process's monotonic clock. The time
// is taken after the answer that first showed the version, so the holder, which
// counts from before it sent the write, always ends first.
type observation struct {
	owner   string
	version string
	token   int64
	holder  string
	lease   time.Duration
	until   time.Time // when the holder said it is gone; zero: it did not
	since   time.Time
}

// maxMemory bounds how many locks a LockTable remembers. Forgetting one costs a
// caller of TryAcquire a whole lease of watching anew, never safety.
const maxMemory = 16384

// memory is what a LockTable has seen of held locks over all its calls.
type memory struct {
	mu   sync.Mutex
	seen map[string]observation
}

func (m *memory) get(name string) (observation, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.seen[name]
	return o, ok
}

// see notes a held lock, and returns since when this version has been seen.
func (m *memory) see(name string, r record, now time.Time) observation {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.seen[name]; ok && o.owner == r.owner && o.version == r.version {
		return o
	}
	if m.seen == nil {
		m.seen = map[string]observation{}
	}
	if len(m.seen) >= maxMemory {
		for other := range m.seen {
			delete(m.seen, other)
			break
		}
	}
	o := observation{owner: r.owner, version: r.version, token: r.token, holder: r.holder, lease: r.lease, until: r.until, since: now}
	m.seen[name] = o
	return o
}

func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, name)
}
