package lockkit

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Errors to branch on with errors.Is. The values behind them carry the facts.
var (
	// ErrHeld says that another holder has the lock; see [HeldError].
	ErrHeld = errors.New("lockkit: lock is held")
	// ErrNotALock says that the item at the lock's key is something else; see
	// [NotALockError].
	ErrNotALock = errors.New("lockkit: not a lock")
	// ErrLeaseLost says that a lease ended before it was released; see
	// [EndedError].
	ErrLeaseLost = errors.New("lockkit: lease lost")
	// ErrReleased says that a lease ended because its holder released it.
	ErrReleased = errors.New("lockkit: lease released")
)

// HeldError is what TryAcquire returns for a held lock, and Acquire when it was
// told to give up on a live holder. It matches [ErrHeld].
type HeldError struct {
	Lock   string        // name of the lock
	Table  string        // name of the table
	Holder string        // label of the holder, "" if it gave none
	Token  int64         // the holder's fencing token
	Lease  time.Duration // the holder's lease duration, as it stands on the item
	// Alive: the record version changed between two answers of one Acquire, or
	// the holder was on schedule by the rule of [GiveUpOnSchedule].
	Alive bool
}

// Error names the lock, the table and the holder.
func (e *HeldError) Error() string {
	state := ""
	if e.Alive {
		state = ", which is alive"
	}
	return fmt.Sprintf("lockkit: lock %q in table %q is held by %s%s (token %d, lease %s)", e.Lock, e.Table, labelled(e.Holder), state, e.Token, e.Lease)
}

// labelled names a holder in a sentence.
func labelled(holder string) string {
	if holder == "" {
		return "a holder without a label"
	}
	return strconv.Quote(holder)
}

// Is matches [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// NotALockError says that the item at the key of a lock is not a lock that
// lockkit understands. It is never overwritten. It matches [ErrNotALock].
type NotALockError struct {
	Lock  string // name of the lock
	Table string // name of the table
	Why   string // what was found and what was expected
}

// Error names the lock, the table and what is wrong with the item.
func (e *NotALockError) Error() string {
	return fmt.Sprintf("lockkit: the item at the key of lock %q in table %q is not a lock: %s; choose another lock name, or move that item away", e.Lock, e.Table, e.Why)
}

// Is matches [ErrNotALock].
func (e *NotALockError) Is(target error) bool { return target == ErrNotALock }

// Reason says why a lease ended.
type Reason string

// The reasons a lease ends for.
const (
	ReasonTakenOver     Reason = "taken_over"      // a renewal found another owner, or none
	ReasonDeleted       Reason = "deleted"         // a renewal found no item
	ReasonExpired       Reason = "expired"         // no renewal succeeded in time
	ReasonTableNotFound Reason = "table_not_found" // the table is gone
	ReasonReleased      Reason = "released"        // the holder released it
)

// EndedError is why a lease ended: what Err returns, and the cause of every
// context made by [Lease.Context]. It matches [ErrReleased] for a released
// lease and [ErrLeaseLost] for every other.
type EndedError struct {
	Lock   string // name of the lock
	Table  string // name of the table
	Token  int64  // the fencing token of the lease that ended
	Reason Reason
	Detail string // what was seen, for people
	Err    error  // the last failed renewal, if that is what ended it
}

// Error names the lock, the reason and the last failure.
func (e *EndedError) Error() string {
	s := fmt.Sprintf("lockkit: lease on %q in table %q (token %d) has ended: %s", e.Lock, e.Table, e.Token, e.Reason)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Is matches [ErrReleased] or [ErrLeaseLost].
func (e *EndedError) Is(target error) bool {
	if e.Reason == ReasonReleased {
		return target == ErrReleased
	}
	return target == ErrLeaseLost
}

// Unwrap returns the last failed renewal.
func (e *EndedError) Unwrap() error { return e.Err }
