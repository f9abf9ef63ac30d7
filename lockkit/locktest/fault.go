package locktest

import (
	"net/http"
	"sync"
	"time"
)

// FaultKind says what an injected [Fault] does to a request.
type FaultKind int

const (
	// FaultNone does nothing: the request goes on. In a [Request] it says that no
	// fault struck; in a [Fault] it is a counter, or a spy through Match.
	FaultNone FaultKind = iota
	// FaultFailBefore answers 500 InternalServerError; nothing is applied.
	FaultFailBefore
	// FaultDropAnswer applies the request, waits Wait, and then loses the
	// connection instead of answering.
	FaultDropAnswer
	// FaultDelay waits Wait before anything else. If the context ends first,
	// nothing is applied.
	FaultDelay
	// FaultDelayAnswer applies the request, waits Wait and then answers. If the
	// context ends first, a write stays applied.
	FaultDelayAnswer
	// FaultLate loses the connection at once and applies the request Wait later,
	// as a packet does that was under way while its sender gave up. It is applied
	// whatever becomes of the sender and its context.
	FaultLate
	// FaultBlackHole never answers and applies nothing: the request hangs until
	// its context ends.
	FaultBlackHole
	// FaultThrottle answers ProvisionedThroughputExceededException, or Code.
	FaultThrottle
	// FaultConflict answers as if a transaction were under way on the item:
	// TransactionConflictException, and for transactions
	// TransactionCanceledException with the reason TransactionConflict for the
	// first action.
	FaultConflict
	// FaultError answers Code and Message with Status.
	FaultError
)

// String returns the name of the kind, for messages of tests.
func (k FaultKind) String() string {
	names := [...]string{"None", "FailBefore", "DropAnswer", "Delay", "DelayAnswer", "Late", "BlackHole", "Throttle", "Conflict", "Error"}
	if k < 0 || int(k) >= len(names) {
		return "Unknown"
	}
	return names[k]
}

// Fault is a disturbance of requests that match it. The zero value matches the
// next request and does nothing to it.
type Fault struct {
	// Operation is the API call to hit, such as "UpdateItem"; "" hits any.
	Operation string
	// Table is the table to hit, as in [Request]; "" hits any.
	Table string
	// Match narrows further; nil hits all. It is called once for each request
	// that fits Operation and Table, one at a time, and must not call the DB.
	Match func(FaultRequest) bool
	// Skip is how many matching requests pass before the first is hit.
	Skip int
	// Count is how many are hit; 0 means 1, a negative number all.
	Count int
	// Kind is what happens to them.
	Kind FaultKind
	// Wait is the duration of kinds that wait; it passes in virtual time in a
	// synctest bubble.
	Wait time.Duration
	// Code, Message and Status are the answer of FaultError: by default
	// InternalServerError with 500, or 400 where Code is given. Code, Message
	// and Status also replace those of FaultFailBefore and FaultThrottle.
	Code, Message string
	Status        int
}

// FaultRequest is a request as [Fault.Match] sees it.
type FaultRequest struct {
	Operation string
	Table     string
	// Body is the JSON of the request. It must not be changed.
	Body []byte
}

// faultList holds the faults in the order of their injection.
type faultList struct {
	mu     sync.Mutex
	active []*activeFault
}

type activeFault struct {
	Fault
	skip, left int // left < 0: no end
}

// Inject adds a fault and returns what removes it again; removing twice does
// nothing. Of several faults that match a request the first injected strikes,
// and only that one counts it as hit; one that skips it passes it on.
func (db *DB) Inject(f Fault) (remove func()) {
	a := &activeFault{Fault: f, skip: f.Skip, left: f.Count}
	if f.Count == 0 {
		a.left = 1
	}
	l := &db.faults
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active = append(l.active, a)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drop(a)
	}
}

func (l *faultList) drop(a *activeFault) {
	for i, other := range l.active {
		if other == a {
			l.active = append(l.active[:i:i], l.active[i+1:]...)
			return
		}
	}
}

// strike returns the fault for a request, the zero Fault if there is none.
func (l *faultList) strike(r FaultRequest) Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.active {
		if !a.matches(r) {
			continue
		}
		if a.skip > 0 {
			a.skip--
			continue
		}
		if a.left > 0 {
			if a.left--; a.left == 0 {
				l.drop(a)
			}
		}
		return a.Fault
	}
	return Fault{}
}

func (f Fault) matches(r FaultRequest) bool {
	return (f.Operation == "" || f.Operation == r.Operation) &&
		(f.Table == "" || f.Table == r.Table) &&
		(f.Match == nil || f.Match(r))
}

// answer is the error answer of the kinds that have one, else nil. The call is
// nil when the request could not be read.
func (f Fault) answer(c call) *serviceError {
	var e *serviceError
	switch f.Kind {
	case FaultFailBefore:
		e = newError(codeInternal, "Internal server error")
		e.status = http.StatusInternalServerError
	case FaultThrottle:
		e = newError(codeThroughput, "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.")
	case FaultConflict:
		if t, ok := c.(actionCall); ok {
			reasons := noReasons(max(t.actions(), 1))
			reasons[0] = cancellationReason{Code: "TransactionConflict", Message: "Transaction is ongoing for the item"}
			return canceled(reasons)
		}
		return newError(codeConflict, "Transaction is ongoing for the item")
	case FaultError:
		e = newError(codeInternal, "Internal server error")
		if f.Code == "" {
			e.status = http.StatusInternalServerError
		}
	default:
		return nil
	}
	if f.Code != "" {
		e.code = f.Code
	}
	if f.Message != "" {
		e.message = f.Message
	}
	if f.Status != 0 {
		e.status = f.Status
	}
	return e
}
