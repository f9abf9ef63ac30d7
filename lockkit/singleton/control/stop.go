package control

import (
	"context"
	"fmt"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// Stop asks the run with this fencing token to stop, in the name of by. The run's
// next renewal brings it along, a third of its lease later at most; then the
// context of its work ends, and it ends as stopped, without an error and without
// completing its tick. A run that has sent its Commit is not stopped any more.
//
// It is a [ChangedError] when the lock has another holder or none, and another
// error for a holder that is no run of package singleton, which would not notice.
// Asking a run again changes nothing but the name.
func (c *Controls) Stop(ctx context.Context, job string, token int64, by string) error {
	if err := checkText("the name of who stops the run", by, MaxBy); err != nil {
		return err
	}
	a, err := c.send(ctx, request{
		job: job, op: "stop",
		update:    "SET #stop = :stop",
		condition: "#type = :lock AND #fence = :token AND #run.#owner = #owner",
		names: map[string]string{
			"#type": lockkit.AttrType, "#fence": lockkit.AttrFence, "#run": lockkit.AttrRun, "#owner": lockkit.AttrOwner, "#stop": lockkit.AttrStop,
		},
		values: lockkit.Item{
			":lock": wire.String("LOCK"), ":token": wire.Number(token), ":stop": wire.Stop{Token: token, By: by}.Value(),
		},
	})
	switch {
	case err != nil || !a.refused:
		return err
	case a.lost && stopped(a.now, token):
		return nil // an earlier send had been applied, and the run has stopped since
	case a.now.Held() && a.now.Token == token:
		return fmt.Errorf("control: stop of job %s in table %q: %s is no run of the job but another client of the lock, which does not know of stops: end its process, and then release the lock if it did not", named(job), c.locks.Table(), labelled(a.now.Holder))
	default:
		return &ChangedError{Op: "stop", Want: fmt.Sprintf("the holder with token %d", token), Now: a.now}
	}
}

// stopped reports whether the run with this token was the last one, and stopped.
func stopped(s State, token int64) bool {
	return !s.Held() && s.Token == token && s.Prev != nil && s.Prev.Outcome == "stopped"
}
