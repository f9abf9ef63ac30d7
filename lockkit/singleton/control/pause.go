package control

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// Pause keeps a job from running.
type Pause struct {
	ID    string    `json:"id"`             // names it; Controls.Pause and Replace make it
	By    string    `json:"by"`             // who: up to MaxBy bytes
	Why   string    `json:"why"`            // up to MaxNote bytes
	At    time.Time `json:"at"`             // when; Controls.Pause and Replace set it
	Until time.Time `json:"until,omitzero"` // zero: until somebody resumes the job
}

// Pause pauses a job: from now on no run of it begins, also none that a person
// invokes. A run that works already goes on. A job that has never run gets an
// item, which keeps its first run's token above everything. By and Why are
// required; Until must lie ahead. It returns the pause as it is on the item, with
// its id.
//
// A job that is paused already is a [PausedError] and stays as it is, unless its
// pause has ended by itself. An attribute that holds every run back because it is
// no pause at all, or one without an id, is overwritten.
func (c *Controls) Pause(ctx context.Context, job string, p Pause) (Pause, error) {
	return c.pause(ctx, job, p, "")
}

// Replace puts another pause in the place of the one with this id, to change its
// reason or its end. Whatever else is there is a [ChangedError].
func (c *Controls) Replace(ctx context.Context, job, id string, p Pause) (Pause, error) {
	if id == "" {
		return Pause{}, fmt.Errorf("control: replace a pause of job %s: the id is empty: take it from Look", named(job))
	}
	return c.pause(ctx, job, p, id)
}

func (c *Controls) pause(ctx context.Context, job string, p Pause, replaces string) (Pause, error) {
	now := time.Now()
	p, err := p.ready(now)
	if err != nil {
		return Pause{}, err
	}
	key, err := c.key(job)
	if err != nil {
		return Pause{}, c.fail(request{job: job, op: "pause"}, err)
	}
	r := request{
		job: job, op: "pause",
		// Whoever creates the item must leave tokens a place to go on from, and
		// must not raise the token of a lock that is held.
		update: "SET #type = :lock, #fence = if_not_exists(#fence, :base), #paused = :pause",
		names:  map[string]string{"#type": lockkit.AttrType, "#fence": lockkit.AttrFence, "#paused": lockkit.AttrPaused, "#id": wire.KeyID},
		values: lockkit.Item{":lock": wire.String("LOCK"), ":base": wire.Number(now.UnixMilli()), ":pause": wire.Pause(p).Value()},
	}
	// The expiry of the item would end the pause, and forget the job's ticks.
	if ttl := c.locks.TTLAttribute(); ttl != "" {
		r.update += " REMOVE #ttl"
		r.names["#ttl"] = ttl
	}
	if replaces != "" {
		r.op = "replacing the pause"
		r.condition = "#type = :lock AND #paused.#id = :old"
		r.values[":old"] = wire.String(replaces)
	} else {
		for name := range key {
			r.names["#key"] = name // either: an item has both, or there is none
		}
		r.condition = "attribute_not_exists(#key) OR #type = :lock AND (attribute_not_exists(#paused) OR NOT attribute_type(#paused.#id, :string) OR #paused.#id = :empty OR #paused.#until <= :now)"
		r.names["#until"] = wire.KeyUntil
		r.values[":string"], r.values[":empty"] = wire.String("S"), wire.String("")
		r.values[":now"] = wire.Number(now.UnixMilli())
	}
	a, err := c.send(ctx, r)
	switch {
	case err != nil:
		return Pause{}, err
	case !a.refused:
		return p, nil
	case a.now.Paused != nil && a.now.Paused.ID == p.ID:
		return p, nil // an earlier send had been applied
	case replaces != "" || a.now.Paused == nil:
		return Pause{}, &ChangedError{Op: r.op, Want: "the pause with id " + replaces, Now: a.now}
	default:
		return Pause{}, &PausedError{Job: job, Table: c.locks.Table(), Pause: *a.now.Paused}
	}
}

// ready checks a pause and gives it its id and its time.
func (p Pause) ready(now time.Time) (Pause, error) {
	if err := checkText("the name of who pauses", p.By, MaxBy); err != nil {
		return Pause{}, err
	}
	if err := checkText("the reason for the pause", p.Why, MaxNote); err != nil {
		return Pause{}, err
	}
	if !p.Until.IsZero() && !p.Until.After(now) {
		return Pause{}, fmt.Errorf("control: the pause would end at %s, and it is %s: choose a later end, or none", p.Until.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	p.ID, p.At = rand.Text()[:idLength], now.UTC().Truncate(time.Millisecond)
	if !p.Until.IsZero() {
		p.Until = p.Until.UTC().Truncate(time.Millisecond)
	}
	return p, nil
}

// idLength keeps 80 random bits, which is enough to tell the pauses of one job
// apart; the bytes count on the item.
const idLength = 16

// Resume ends the pause with this id. Runs begin with the next tick; what was due
// during the pause is covered by it. It is a [ChangedError] when the job has another
// pause, or none. A pause that has ended by itself is still on the item, until it is
// resumed or the next pause takes its place: to resume it is no error, and changes
// nothing for the runs.
func (c *Controls) Resume(ctx context.Context, job, id string) error {
	if id == "" {
		return fmt.Errorf("control: resume of job %s: the id of the pause is empty: take it from Look", named(job))
	}
	a, err := c.send(ctx, request{
		job: job, op: "resume",
		update:    "REMOVE #paused",
		condition: "#type = :lock AND #paused.#id = :id",
		names:     map[string]string{"#type": lockkit.AttrType, "#paused": lockkit.AttrPaused, "#id": wire.KeyID},
		values:    lockkit.Item{":lock": wire.String("LOCK"), ":id": wire.String(id)},
	})
	switch {
	case err != nil || !a.refused:
		return err
	case a.lost && a.now.Exists && a.now.Paused == nil:
		return nil // an earlier send had been applied
	default:
		return &ChangedError{Op: "resume", Want: "the pause with id " + id, Now: a.now}
	}
}
