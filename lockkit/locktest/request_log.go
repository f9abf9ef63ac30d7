package locktest

import (
	"sync"
	"time"
)

// maxRequests is how many requests the log keeps; the oldest go first.
const maxRequests = 100_000

// Request is one request as the endpoint saw it. What an SDK call retries is
// one Request per attempt.
type Request struct {
	// Seq counts the requests since New or ResetRequests, from 1.
	Seq int
	// At is when the request arrived, by package time: virtual in a bubble.
	At time.Time
	// Operation is the name of the API call, such as "UpdateItem".
	Operation string
	// Table is the table it names; of several (transactions, batches) the first
	// in the request's order, or in that of names where the request has none.
	Table string
	// Error is the code of the service's error answer, such as
	// "ConditionalCheckFailedException"; "" when it succeeded, or has not been
	// answered (yet).
	Error string
	// Applied says, for writes, whether the request took effect. A delete of
	// what is not there takes effect; a transaction that only repeats an earlier
	// one with the same token does not.
	Applied bool
	// Fault is the kind of the injected fault that struck it, or FaultNone.
	Fault FaultKind
}

// requestLog keeps the newest requests. Entries change until their request is
// answered, so they are guarded by the log's lock too.
type requestLog struct {
	mu      sync.Mutex
	seq     int
	entries []*Request // a ring once it is full
	oldest  int
}

// add logs the arrival of a request and gives it its number.
func (l *requestLog) add(r Request) *Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	r.Seq = l.seq
	if len(l.entries) < maxRequests {
		l.entries = append(l.entries, &r)
		return &r
	}
	l.entries[l.oldest] = &r
	l.oldest = (l.oldest + 1) % maxRequests
	return &r
}

// settle notes what became of a request.
func (l *requestLog) settle(r *Request, code string, applied bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Error, r.Applied = code, applied
}

// Requests returns the requests since [New] or [DB.ResetRequests], oldest first,
// at most the last 100,000. The caller owns the result.
func (db *DB) Requests() []Request {
	l := &db.log
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Request, 0, len(l.entries))
	for i := range l.entries {
		all = append(all, *l.entries[(l.oldest+i)%len(l.entries)])
	}
	return all
}

// ResetRequests empties the log, and numbers start from 1 again. A request that
// is under way does not come back into the log.
func (db *DB) ResetRequests() {
	l := &db.log
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq, l.entries, l.oldest = 0, nil, 0
}
