package fence

import (
	"errors"
	"fmt"
	"math"
)

// ErrStale says that a write was refused because a higher token has written to
// the resource; see [StaleError].
var ErrStale = errors.New("fence: stale token")

// StaleError is a write that a guard refused: a newer holder has written to the
// resource. It matches [ErrStale]. Whoever gets one has lost the lock, whatever
// its lease says, and should stop; trying again cannot succeed.
type StaleError struct {
	Resource string // what was to be written, in the words of the caller
	Token    int64  // the token that was refused; 0: not known
	Highest  int64  // the highest token that the resource has seen; 0: not known
}

// Error names the resource and both tokens.
func (e *StaleError) Error() string {
	by := "a higher one has"
	if e.Highest != 0 {
		by = fmt.Sprintf("token %d has", e.Highest)
	}
	which := "the token of this write"
	if e.Token != 0 {
		which = fmt.Sprintf("token %d", e.Token)
	}
	return fmt.Sprintf("fence: %s is stale for %q: %s written to it, so a newer holder is at work: stop", which, e.Resource, by)
}

// Is matches [ErrStale].
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// checkToken refuses what no lock gives out, before it becomes a mark. Zero is
// what a variable holds that nobody has set.
func checkToken(resource string, token int64) error {
	if token < 1 {
		return fmt.Errorf("fence: token %d for %q: expected the token of a lease, from 1 to %d", token, resource, int64(math.MaxInt64))
	}
	return nil
}
