package lockkit

import (
	"context"
	"fmt"
	"time"
)

// State is what a lock item says. The zero value is a lock without an item.
// States are comparable with ==.
type State struct {
	Exists  bool          // there is an item
	Held    bool          // it has an owner; a dead holder's lock is held until it is taken over
	Holder  string        // label of the holder, "" without one
	Lease   time.Duration // the holder's lease duration; 0 while free
	Token   int64         // the fencing token of the newest acquire
	Version string        // record version; it changes with every acquire and renewal
}

// State reads the lock with one strongly consistent read. What it says is old
// when it arrives, so it is for people and tests: to decide whether a write may
// happen, send [Lease.ConditionCheck] with that write.
//
// The read is tried up to four times, and each try ends after five seconds: without
// a deadline in ctx, State can take 21 seconds on a network that swallows requests.
func (t *LockTable) State(ctx context.Context, name string) (State, error) {
	if err := checkName(name); err != nil {
		return State{}, err
	}
	item, err := t.read(ctx, name, readBound, nil)
	if err != nil {
		return State{}, fmt.Errorf("lockkit: state of %q in table %q: %w", name, t.table, err)
	}
	r, err := decode(item)
	if err != nil {
		return State{}, &NotALockError{Lock: name, Table: t.table, Why: err.Error()}
	}
	return State{Exists: r.exists, Held: r.held(), Holder: r.holder, Lease: r.lease, Token: r.token, Version: r.version}, nil
}
