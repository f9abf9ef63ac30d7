//go:build bench

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	operators "github.com/solotick/solotick/lockkit/singleton/control"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// TestTick counts at the endpoint what a scheduled run costs in all when its job
// writes nothing; TestTickOnAReleasedLockCostsTwoRequestsAndADuplicateOrAPausedOneOne in package
// singleton holds that too.
func TestTick(t *testing.T) {
	usual(t, func(w *world) {
		locks := w.locks(&process{})
		due := time.Now().UTC()
		first := w.run(locks, due, singleton.Completed) // leaves a released lock behind
		time.Sleep(time.Minute)
		due = due.Add(time.Minute)
		second := w.run(locks, due, singleton.Completed)
		again := w.run(locks, due, singleton.Duplicate)
		if _, err := operators.New(locks).Pause(w.t.Context(), lockName, operators.Pause{By: "bench", Why: "to count"}); err != nil {
			t.Fatal(err)
		}
		paused := w.run(locks, due.Add(time.Second), singleton.Paused)
		report(t, row{
			13, "requests of a tick in all: run / duplicate / paused", "2 / 1 / 1",
			fmt.Sprintf("%d / %d / %d", second, again, paused), check(second == 2 && again == 1 && paused == 1),
		})
		report(t, row{13, "  the first tick of all, which makes the lock's item", "", fmt.Sprint(first), control})
	})
}

// run runs a job that does nothing for the tick that was due then, and returns
// how many requests reached the endpoint.
func (w *world) run(locks *lockkit.LockTable, due time.Time, want singleton.Outcome) int {
	w.t.Helper()
	tick := events.Tick{Time: due, Source: events.KindSchedule, ID: "e1", Attempt: 1}
	w.db.ResetRequests()
	res, err := singleton.Do(w.t.Context(), locks, job.Spec{Name: lockName, Lease: lockLease, Timeout: 5 * time.Minute}, tick,
		func(context.Context, *singleton.Run) error { return nil })
	if err != nil || res.Outcome != want {
		w.t.Fatalf("tick %s: %q, %v, want %q", due, res.Outcome, err, want)
	}
	return len(w.db.Requests())
}
