package singleton

import (
	"errors"
	"fmt"
	"sync"

	"github.com/solotick/solotick/lockkit"
)

// did is what a run's transactions have come to.
type did struct {
	turn chan struct{} // held by the call that is under way, across its requests

	mu        sync.Mutex
	asked     bool         // Commit was called: returning nil completes nothing any more
	spent     bool         // a Commit was sent
	committed bool         // it was applied
	err       error        // of the Commit that was not applied, as far as is known
	open      *transaction // was sent and has no definite answer
	openErr   error        // its error; nil while it is under way
	failed    error        // of the last checkpoint, if it is known not to have been applied
	missing   error        // of a checkpoint that turned out not to have been applied, after its answer was lost
	yielded   bool
}

// ask notes that Commit was called.
func (d *did) ask() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = true
}

// refused notes why Commit did not succeed.
func (d *did) refused(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil && !errors.Is(err, errSecondCommit) {
		d.err = err
	}
}

// stored notes what a checkpoint came to. One without an answer is open.
func (d *did) stored(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !errors.Is(err, lockkit.ErrUnknownOutcome) {
		d.failed = err
	}
}

// begin admits a call, or says why it comes too late.
func (d *did) begin(tx *transaction, e *extension) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.spent && tx.commit:
		return errSecondCommit
	case d.spent:
		return errAfterCommit
	case d.yielded:
		return errAfterYield
	case d.open != nil:
		return errOpen
	}
	if err := e.begin(tx); err != nil {
		return err
	}
	d.open, d.openErr = tx, nil
	return nil
}

// end notes what a call came to.
func (d *did) end(tx *transaction, e *extension, err error) {
	sent := e.finish()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spent = d.spent || tx.commit && sent
	if sent && errors.Is(err, lockkit.ErrUnknownOutcome) {
		d.openErr = err
		return
	}
	d.open = nil
	d.committed = d.committed || tx.commit && err == nil
}

// settle decides what became of the open transaction from the step that the item
// was seen with under this lease. final says that no copy of what was sent can be
// applied any more; a call that is still under way may send another.
func (d *did) settle(step int64, final bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.open == nil:
	case step >= d.open.step:
		if d.open.commit {
			d.committed, d.err = true, nil
		}
		d.open, d.openErr = nil, nil
	case final && d.openErr != nil:
		if !d.open.commit {
			d.missing = d.openErr
		}
		d.open = nil
	}
}

// isCommitted reports whether the tick was completed by a Commit.
func (d *did) isCommitted() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.committed
}

// incomplete returns why the tick is not completed although the work returned
// nil in time, and the outcome of that; nil when nothing is in the way.
func (d *did) incomplete() (Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.yielded:
		return OutOfTime, errYielded
	case d.missing != nil:
		return OutOfTime, fmt.Errorf("a checkpoint was not applied: %w", d.missing)
	case d.failed != nil && !d.asked:
		return Failed, fmt.Errorf("the work returned nil, but its last Checkpoint had failed: %w", d.failed)
	case d.asked:
		return Failed, fmt.Errorf("the work returned nil, but its Commit had failed: %w", d.err)
	default:
		return "", nil
	}
}

// unknown returns what is known of a transaction without a definite answer; nil
// when there is none.
func (d *did) unknown() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.open == nil:
		return nil
	case d.openErr == nil:
		return fmt.Errorf("the work left a %s under way: %w", d.open.name(), lockkit.ErrUnknownOutcome)
	default:
		return d.openErr
	}
}
