package control_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/control"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// Whatever lies on an item, Look says of it what runs make of it: whether one can
// begin, whether one whose policy is queue can, and whether a Commit is possible.
func TestLookAndRunsReadTheSame(t *testing.T) {
	paused := func(of lockkit.Item) lockkit.Item { return lockkit.Item{"paused": m(of)} }
	held := func(lease string) lockkit.Item {
		return lockkit.Item{"owner": s("o"), "rvn": s("v"), "leaseMs": n(lease)}
	}
	const past, ahead = "946684799999", "9466848000000" // the bubble begins at 946684800000
	for name, c := range map[string]struct {
		item   lockkit.Item
		skip   string // outcome of a run whose policy is skip-when-alive; "": completed
		queue  string // of one whose policy is queue, where that differs
		says   string // State.String
		faults string // in the only fault; "": none
		err    string // of Look
	}{
		"nothing":                      {says: "the job is not paused"},
		"pause":                        {item: paused(lockkit.Item{"id": s("p")}), skip: "paused", says: `the job is paused by ""`},
		"pause is over":                {item: paused(lockkit.Item{"id": s("p"), "until": n(past)}), says: "not paused any more"},
		"pause is not over":            {item: paused(lockkit.Item{"id": s("p"), "until": n(ahead)}), skip: "paused", says: "the job is paused"},
		"end with a fraction is over":  {item: paused(lockkit.Item{"id": s("p"), "until": n(past + ".5")}), says: "not paused any more"},
		"end with a fraction is ahead": {item: paused(lockkit.Item{"id": s("p"), "until": n(ahead + ".5")}), skip: "paused", says: "the job is paused"},
		"end is huge":                  {item: paused(lockkit.Item{"id": s("p"), "until": n("1e99")}), skip: "paused", says: "until 9999-12-31"},
		"end is no number":             {item: paused(lockkit.Item{"id": s("p"), "until": s("x")}), skip: "blocked", says: "the job is paused", faults: "is a string, expected a number of Unix milliseconds"},
		"pause is over without an id":  {item: paused(lockkit.Item{"until": n(past)}), says: "the job is not paused"},
		"pause without an id":          {item: paused(lockkit.Item{}), skip: "blocked", says: "cannot be read", faults: "until then no run begins"},
		"pause is no map":              {item: lockkit.Item{"paused": s("x")}, skip: "blocked", says: "cannot be read", faults: "paused of the lock's item is a string"},
		"pending":                      {item: lockkit.Item{"pending": s("x")}, queue: "failed", says: "faults: 1", faults: "runs of other policies do not read it"},
		"pending with a fraction":      {item: lockkit.Item{"pending": n("1.5")}, queue: "failed", faults: "is the number 1.5, expected"},
		"pending beyond the calendar":  {item: lockkit.Item{"pending": n("9223372036854775807")}, queue: "failed", faults: "is the number 9223372036854775807, expected"},
		"tick":                         {item: lockkit.Item{"tick": m(nil)}, skip: "blocked", faults: "no run of a tick works, unless it is forced"},
		"tick with a fraction":         {item: lockkit.Item{"tick": n("1.5")}, skip: "failed", faults: "is the number 1.5, expected"},
		"step negative":                {item: lockkit.Item{"step": n("-5")}, skip: "failed", faults: "is the number -5, expected a whole number from 0"},
		"step is full":                 {item: lockkit.Item{"step": n("9223372036854775807")}, skip: "failed", faults: "cannot be raised"},
		"step is no number":            {item: lockkit.Item{"step": s("x")}, skip: "failed", faults: "every Checkpoint and Commit fails"},
		"cursor":                       {item: lockkit.Item{"cursor": s("x")}, skip: "failed", faults: "no run of a tick works"},
		"token is full":                {item: lockkit.Item{"fence": n("9223372036854775807")}, skip: "blocked", faults: "cannot be raised"},
		"stop of another holder":       {item: lockkit.Item{"stop": m(lockkit.Item{"token": n("4")})}},
		"stop is no map":               {item: lockkit.Item{"stop": s("x")}, faults: "is a string, expected a map"},
		"stop without a number":        {item: lockkit.Item{"stop": m(lockkit.Item{"token": s("6")})}, faults: "the run that it was meant for goes on"},
		"records":                      {item: lockkit.Item{"run": s("x"), "prev": n("1")}},
		"lease":                        {item: held("5000"), says: "held by"},
		"lease 0":                      {item: held("0"), skip: "blocked", err: "leaseMs is the number 0, expected a positive"},
		"lease negative":               {item: held("-1"), skip: "blocked", err: "leaseMs is the number -1"},
		"owner without a version":      {item: lockkit.Item{"owner": s("o"), "leaseMs": n("5000")}, skip: "blocked", err: "rvn"},
		"owner empty":                  {item: lockkit.Item{"owner": s("")}, skip: "blocked", err: "attribute owner"},
	} {
		if c.skip == "" {
			c.skip = "completed"
		}
		if c.queue == "" {
			c.queue = c.skip
		}
		for policy, want := range map[job.Policy]string{job.SkipWhenAlive: c.skip, job.Queue: c.queue} {
			t.Run(name+"/"+string(policy), func(t *testing.T) {
				inWorld(t, func(w *world) {
					item := lockkit.Item{"_type": s("LOCK"), "fence": n("5")}
					maps.Copy(item, c.item)
					w.put(item)
					state, err := w.ctl.Look(w.Context(), report.Name)
					if c.err != "" {
						if err == nil || !strings.Contains(err.Error(), c.err) {
							t.Errorf("Look: %v, want an error about %q", err, c.err)
						}
					} else if err != nil || !strings.Contains(state.String(), c.says) || state.Rests != (want == "paused" || strings.Contains(strings.Join(state.Faults, ""), "attribute paused")) {
						t.Errorf("Look: %s, rests %v, %v, want %q", state, state.Rests, err, c.says)
					}
					if c.faults == "" && len(state.Faults) > 0 || c.faults != "" && (len(state.Faults) != 1 || !strings.Contains(state.Faults[0], c.faults)) {
						t.Errorf("faults %q, want one about %q", state.Faults, c.faults)
					}
					if strings.Contains(strings.Join(state.Faults, ""), "types.") {
						t.Errorf("a fault names a type of Go: %q", state.Faults)
					}
					res, err := w.commits(policy)
					if string(res.Outcome) != want {
						t.Errorf("a run ended as %s, want %s: %v", res.Outcome, want, err)
					}
					if err != nil && strings.Contains(err.Error(), "types.") {
						t.Errorf("the run's error names a type of Go: %v", err)
					}
				})
			})
		}
	}
}

// commits delivers a tick to a work that commits.
func (w *world) commits(policy job.Policy) (singleton.Result, error) {
	w.Helper()
	spec := report
	spec.Policy = policy
	ctx, cancel := context.WithTimeout(w.Context(), spec.Timeout)
	defer cancel()
	tick := events.Tick{Time: time.Now().UTC(), Source: events.KindSchedule, Attempt: 1}
	return singleton.Do(ctx, w.locks(), spec, tick, func(ctx context.Context, run *singleton.Run) error { return run.Commit(ctx) })
}

// What Look says of a pause that ends by itself: it is shown, and holds nobody back.
func TestPauseThatHasEndedCanBeResumed(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.pause(control.Pause{By: "jane", Why: "an hour", Until: time.Now().Add(time.Hour)})
		if now := w.look(); !now.Rests || !strings.Contains(now.String(), "the job is paused") {
			t.Errorf("%+v", now)
		}
		time.Sleep(time.Hour)
		if now := w.look(); now.Rests || *now.Paused != p || !strings.Contains(now.String(), "has ended by itself") {
			t.Errorf("%s", now)
		}
		if err := w.ctl.Resume(w.Context(), report.Name, p.ID); err != nil {
			t.Error(err)
		}
		if now := w.look(); now.Paused != nil {
			t.Errorf("%s", now)
		}
	})
}

// An id that is there and empty names nothing.
func TestPauseWithAnEmptyIDIsOverwritten(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put(lockkit.Item{"_type": s("LOCK"), "fence": n("7"), "paused": &types.AttributeValueMemberM{Value: lockkit.Item{"id": s("")}}})
		p := w.pause(rest)
		if now := w.look(); *now.Paused != p {
			t.Errorf("%+v", now)
		}
	})
}
