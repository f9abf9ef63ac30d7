package control

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// Release frees the lock of a holder that is certainly dead, as seen by Look,
// so that the next run need not wait out its lease. It is for leases that are
// too long to be waited out: a run takes over by itself after one lease.
//
// It raises the token, so that a holder that lives after all fails its held
// checks at once and, where the highest token is kept, from the next holder's
// first write on. The run's record says from then on that it was released, by
// whom and why: up to MaxBy and MaxReason bytes, both required.
//
// It is a [ChangedError] when owner or token are not those that were seen. A
// holder that renews keeps both, so look twice, a third of its lease apart, to
// see whether it lives.
func (c *Controls) Release(ctx context.Context, seen State, by, why string) error {
	if err := checkText("the name of who releases the lock", by, MaxBy); err != nil {
		return err
	}
	if err := checkText("the reason for the release", why, MaxReason); err != nil {
		return err
	}
	switch {
	case !seen.Held():
		return fmt.Errorf("control: release of job %s in table %q: what was seen has no holder: there is nothing to release", named(seen.Job), c.locks.Table())
	case seen.Table != c.locks.Table():
		return fmt.Errorf("control: release of job %s: it was seen in table %q, and these are the controls of table %q", named(seen.Job), seen.Table, c.locks.Table())
	case seen.Token == math.MaxInt64:
		return fmt.Errorf("control: release of job %s in table %q: its token %d cannot be raised: use a new job name, and reset what compares tokens", named(seen.Job), seen.Table, seen.Token)
	}
	left := wire.Record{Owner: seen.Owner}
	if seen.Run != nil {
		left = wire.Record(*seen.Run)
	}
	left.Ended, left.Outcome, left.Err = time.Now().UTC().Truncate(time.Millisecond), wire.Released, by+": "+why
	a, err := c.send(ctx, request{
		job: seen.Job, op: "release",
		// The record version stays: only a holder changes it, and whoever watches
		// must not take this for its sign of life.
		update:    "SET #fence = #fence + :one, #prev = :prev REMOVE #owner, #lease, #holder, #at, #until, #run",
		condition: "#type = :lock AND #owner = :owner AND #fence = :token",
		names: map[string]string{
			"#type": lockkit.AttrType, "#owner": lockkit.AttrOwner, "#fence": lockkit.AttrFence, "#lease": lockkit.AttrLease,
			"#holder": lockkit.AttrHolder, "#at": lockkit.AttrAt, "#until": lockkit.AttrUntil, "#run": lockkit.AttrRun, "#prev": lockkit.AttrPrev,
		},
		values: lockkit.Item{
			":lock": wire.String("LOCK"), ":owner": wire.String(seen.Owner), ":token": wire.Number(seen.Token),
			":one": wire.Number(1), ":prev": left.Value(),
		},
	})
	switch {
	case err != nil || !a.refused:
		return err
	case a.lost && released(a.now, left):
		return nil
	default:
		return &ChangedError{Op: "release", Want: fmt.Sprintf("the holder with owner %s and token %d", seen.Owner, seen.Token), Now: a.now}
	}
}

// released reports whether the item shows the record that this release left,
// under whoever holds the lock now.
func released(s State, left wire.Record) bool {
	return s.Prev != nil && s.Prev.Owner == left.Owner && s.Prev.Outcome == wire.Released && s.Prev.Ended.Equal(left.Ended)
}
