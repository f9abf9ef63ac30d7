package lockkit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

func (c *contender) heldError(r record, alive bool) *HeldError {
	return &HeldError{Lock: c.name, Table: c.t.table, Holder: r.holder, Token: r.token, Lease: r.lease, Alive: alive}
}

// refusal marks an extension's own error on its way out of an acquire.
type refusal struct{ error }

// wrap puts operation, lock and table before an error that does not name them,
// and the caller's own ctx error in the place of whatever its end caused. What
// was in the way until then is told after it.
func (c *contender) wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrHeld) || errors.Is(err, ErrNotALock) {
		return err
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return fmt.Errorf("lockkit: acquire %q in table %q: %w", c.name, c.t.table, r.error)
	}
	seen := ""
	if c.last.owner != "" {
		seen = fmt.Sprintf("; last seen held by %s with token %d, unchanged for %s of its lease of %s",
			labelled(c.last.holder), c.last.token, c.t.clock.now().mono.Sub(c.last.since).Round(time.Millisecond), c.last.lease)
	}
	if ctx.Err() != nil && c.failed != nil {
		return fmt.Errorf("lockkit: acquire %q in table %q: %w%s; the last try: %w", c.name, c.t.table, ctxError(ctx), seen, c.failed)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("lockkit: acquire %q in table %q: %w%s", c.name, c.t.table, ctxError(ctx), seen)
	}
	if noTable(err) {
		return fmt.Errorf("lockkit: acquire %q: table %q does not exist in this account and Region: create it, or correct its name: %w", c.name, c.t.table, err)
	}
	return fmt.Errorf("lockkit: acquire %q in table %q: %w", c.name, c.t.table, err)
}

// note keeps a failure for the error of an acquire that ctx cuts off. A request
// that the end of ctx itself cut off says nothing about what was in the way.
func (c *contender) note(ctx context.Context, err error) {
	if _, _, answered := refused(err); err == nil || answered || ctx.Err() != nil && canceled(err) {
		return
	}
	c.failed = err
}
