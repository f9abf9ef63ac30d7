// Package bus publishes events of package events to an EventBridge bus.
//
// # What it promises
//
//   - An event is sent in calls of at most 10 entries and within EventBridge's
//     size for a call, counted in bytes of UTF-8 (TestGuaranteeCallsStayWithinTheLimits).
//   - Only the entries that failed are sent again, a few times and within a bounded
//     time (TestGuaranteeOnlyFailedEntriesAreSentAgain).
//   - Publish returns nil only if the service gave every event an id
//     (TestGuaranteeNilMeansAccepted).
//
// # What it does not promise
//
// Delivery. EventBridge delivers at least once and in no order. An entry whose
// answer was lost is sent again, so an event may be there twice with two ids.
// Events for a bus that does not exist are accepted and dropped by the service
// where it does not check; where it does tell, the error matches [ErrNoBus].
//
// # Time
//
// A call to Publish takes at most its ctx and [MaxTime], whichever ends first,
// and starts no goroutine. What it could not publish by then is in its error.
package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/solotick/solotick/events"
)

// MaxTime bounds one call to Publish, whatever its ctx allows.
const MaxTime = 5 * time.Second

// ErrNoBus says that the service knows no bus of that name.
var ErrNoBus = errors.New("bus: no event bus of this name exists in this account and Region")

// Client is the part of EventBridge that a Bus uses. *eventbridge.Client
// implements it.
type Client interface {
	PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

// Bus publishes to one event bus. It is safe for concurrent use.
type Bus struct {
	name   string
	client func() Client
}

// New returns a Bus for the event bus with this name or ARN. connect is called
// once, at the first publish, because many runs of a function publish nothing and
// a client costs time at a cold start; it must not return nil. New refuses an empty
// name and a nil connect.
func New(name string, connect func() Client) (*Bus, error) {
	if name == "" {
		return nil, errors.New("bus: the name of the event bus is empty: pass the name or the ARN that the stack gave it")
	}
	if connect == nil {
		return nil, fmt.Errorf("bus: connect is nil for bus %q: pass a function that returns an EventBridge client", name)
	}
	return &Bus{name: name, client: sync.OnceValue(connect)}, nil
}

// Name returns the name or ARN that the Bus was made with.
func (b *Bus) Name() string { return b.name }

// Publish sends the details as events, in order and in as few calls as fit, and
// returns when each has an id or its time is over. It does nothing without
// details. The error is a [PublishError] that says how many were not accepted and
// why; those that were accepted stay published. A detail that cannot be encoded
// is an error before any is sent.
func (b *Bus) Publish(ctx context.Context, details ...events.Detail) error {
	if len(details) == 0 {
		return nil
	}
	entries, err := b.encode(details)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, MaxTime, fmt.Errorf("bus: not accepted within %s", MaxTime))
	defer cancel()
	var missing int
	var faults []error
	for _, call := range calls(entries) {
		left, err := b.deliver(ctx, call)
		missing += left
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return &PublishError{Bus: b.name, Missing: missing, Of: len(details), Err: err}
	}
	return nil
}

// PublishError says that some events were not accepted.
type PublishError struct {
	Bus     string
	Missing int // events without an id
	Of      int // events that were to be published
	Err     error
}

// Error names the bus, the count and the causes.
func (e *PublishError) Error() string {
	return fmt.Sprintf("bus: %d of %d events were not accepted by event bus %q: %v", e.Missing, e.Of, e.Bus, e.Err)
}

// Unwrap returns why.
func (e *PublishError) Unwrap() error { return e.Err }
