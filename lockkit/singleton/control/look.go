package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/pause"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// State is what the item of a job's lock says, decoded. It was true when it was
// read; the controls check that it still is.
type State struct {
	Job    string `json:"job"`
	Table  string `json:"table"`
	Exists bool   `json:"exists"` // the job has an item: it has run, or was paused

	Owner   string        `json:"owner,omitempty"`    // id of the holder; "" while the lock is free
	Holder  string        `json:"holder,omitempty"`   // the holder's label
	Token   int64         `json:"token"`              // of the newest acquire, or one above after a Release
	Lease   time.Duration `json:"lease_ns,omitempty"` // the holder's
	Renewed time.Time     `json:"renewed,omitzero"`   // when the holder sent its newest write, by its clock; zero: it does not say

	Run  *Record `json:"run,omitempty"`  // of the run that holds the lock; nil also for a holder that is no run of package singleton
	Prev *Record `json:"prev,omitempty"` // of the run before

	Tick       time.Time `json:"tick,omitzero"`        // last completed
	Pending    time.Time `json:"pending,omitzero"`     // waits for the holder; one that is not after Tick counts for nothing
	Step       int64     `json:"step,omitempty"`       // counts the job's transactions
	Cursor     string    `json:"cursor,omitempty"`     // of a run that was not completed
	CursorTick time.Time `json:"cursor_tick,omitzero"` // the tick it belongs to

	// Rests: no run can begin, because the job is paused, or because its item has
	// a pause that nobody can read, which is a fault too. It was judged by this
	// process's clock, as runs judge by theirs.
	Rests  bool   `json:"rests,omitempty"`
	Paused *Pause `json:"paused,omitempty"` // also one that has ended by itself, and one of which the id can be read and not the end
	Stop   *Stop  `json:"stop,omitempty"`   // counts for the holder with its token only

	// Faults are attributes that runs cannot read or go on from. Each says what it
	// keeps from happening, and what to do about it.
	Faults []string `json:"faults,omitempty"`
}

// Held reports whether the lock has a holder, alive or dead.
func (s State) Held() bool { return s.Owner != "" }

// String says in one line whether the lock is held and the job is paused.
func (s State) String() string {
	var parts []string
	switch {
	case !s.Exists:
		parts = append(parts, "it has no item now")
	case s.Held():
		parts = append(parts, fmt.Sprintf("the lock is now held by %s (owner %s, token %d)", labelled(s.Holder), s.Owner, s.Token))
	default:
		parts = append(parts, fmt.Sprintf("the lock is now free (last token %d)", s.Token))
	}
	switch {
	case s.Rests && s.Paused != nil:
		parts = append(parts, "the job is paused "+s.Paused.String())
	case s.Rests:
		parts = append(parts, "the job does not run, for it has a pause that cannot be read")
	case s.Paused != nil:
		parts = append(parts, "the job is not paused any more, its pause "+s.Paused.String()+" has ended by itself")
	case s.Exists:
		parts = append(parts, "the job is not paused")
	}
	if n := len(s.Faults); n > 0 {
		parts = append(parts, fmt.Sprintf("its item has faults: %d", n))
	}
	return strings.Join(parts, " and ")
}

func labelled(holder string) string {
	if holder == "" {
		return "a holder without a label"
	}
	return fmt.Sprintf("%q", holder)
}

// Record is what a run left on the item.
type Record struct {
	Owner     string    `json:"owner"`
	Tick      time.Time `json:"tick,omitzero"`        // absent for a run without one
	Started   time.Time `json:"started,omitzero"`     // when it acquired the lock, or took a tick on that had waited (Queue)
	Ended     time.Time `json:"ended,omitzero"`       // absent while it runs, and for a run that died
	Outcome   string    `json:"outcome,omitempty"`    // absent likewise; "released": an operator freed its lock
	Err       string    `json:"error,omitempty"`      // cut to 120 bytes
	RequestID string    `json:"request_id,omitempty"` // of the Lambda invocation
	LogStream string    `json:"log_stream,omitempty"`
}

// Stop asks the holder with this token to stop.
type Stop struct {
	Token int64     `json:"token"`
	By    string    `json:"by,omitempty"`  // the operator; "" when a newer run asked
	Tick  time.Time `json:"tick,omitzero"` // of the newer run
}

// Look reads what the item of a job's lock says, with one strongly consistent
// read. A job without an item is no error: it has never run. An item that is no
// lock is a [lockkit.NotALockError].
func (c *Controls) Look(ctx context.Context, job string) (State, error) {
	item, err := c.read(ctx, job)
	if err != nil {
		return State{}, c.fail(request{job: job, op: "look at the item"}, err)
	}
	return c.decode(job, item)
}

func (c *Controls) read(ctx context.Context, job string) (lockkit.Item, error) {
	key, err := c.key(job)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, notSent(ctx)
	}
	in := &dynamodb.GetItemInput{TableName: aws.String(c.locks.Table()), Key: key, ConsistentRead: aws.Bool(true)}
	var out *dynamodb.GetItemOutput
	for try := 1; ; try++ {
		err := once(ctx, func(ctx context.Context) error {
			out, err = c.locks.Client().GetItem(ctx, in, noRetries)
			return err
		})
		if err == nil {
			return out.Item, nil
		}
		if try == tries || !lockkit.IsTransient(err) && !errors.Is(err, errSlow) || !pause.For(ctx, time.Duration(try)*100*time.Millisecond) {
			return nil, err
		}
	}
}

// decode reads an item; what is not a lock is an error, as it is to lockkit.
func (c *Controls) decode(job string, item lockkit.Item) (State, error) {
	s := State{Job: job, Table: c.locks.Table(), Exists: len(item) > 0}
	if !s.Exists {
		return s, nil
	}
	lock, err := c.locks.Read(job, item)
	if err != nil {
		return State{}, err
	}
	s.Owner, s.Holder, s.Token, s.Lease = lock.Owner, lock.Holder, lock.Token, lock.Lease
	if !lock.Sent.IsZero() {
		s.Renewed = lock.Sent.UTC()
	}
	s.Run, s.Prev = records(item, s.Owner)
	remembered(&s, item)
	controlled(&s, item, time.Now())
	return s, nil
}

// records tells the holder's record from that of an earlier run, which a client
// that does not know the attribute leaves in place.
func records(item lockkit.Item, owner string) (run, prev *Record) {
	if r, ok := wire.ReadRecord(item[lockkit.AttrPrev]); ok {
		prev = new(Record(r))
	}
	r, ok := wire.ReadRecord(item[lockkit.AttrRun])
	switch {
	case !ok:
	case owner != "" && r.Owner == owner:
		run = new(Record(r))
	default:
		prev = new(Record(r)) // it is newer, and the next acquire moves it there
	}
	return run, prev
}

// remembered reads what the job has stored for its next run.
func remembered(s *State, item lockkit.Item) {
	var err error
	if s.Token == math.MaxInt64 {
		fault(s, "no run begins", fmt.Errorf("attribute %s of the lock's item is %d, which cannot be raised: use a new job name, and reset what compares tokens", lockkit.AttrFence, s.Token))
	}
	if s.Tick, err = wire.DoneTick(item); err != nil {
		fault(s, "no run of a tick works, unless it is forced", err)
	}
	if s.Pending, err = wire.PendingTick(item); err != nil {
		fault(s, "no run of a tick works if the job's policy is queue, unless it is forced; runs of other policies do not read it", err)
	}
	if s.Step, err = wire.ReadStep(item); err == nil {
		_, err = wire.NextStep(item)
	}
	if err != nil {
		fault(s, "every Checkpoint and Commit fails", err)
	}
	c, err := wire.ReadCursor(item)
	if err != nil {
		fault(s, "no run of a tick works", err)
	}
	s.Cursor, s.CursorTick = c.Data, c.Tick
}

// controlled reads what operators have set.
func controlled(s *State, item lockkit.Item, now time.Time) {
	p, rests, err := wire.Resting(item[lockkit.AttrPaused], now)
	if err != nil {
		fault(s, "no run begins", err)
	}
	s.Rests = rests
	if p.ID != "" { // it is what replaces or ends the pause
		s.Paused = new(Pause(p))
	}
	stop, err := wire.ReadStop(item[lockkit.AttrStop])
	switch {
	case err != nil:
		fault(s, "the run that it was meant for goes on", err)
	case stop != (wire.Stop{}):
		s.Stop = new(Stop(stop))
	}
}

// fault notes what cannot be read, and what that has for a consequence.
func fault(s *State, so string, err error) {
	s.Faults = append(s.Faults, fmt.Sprintf("%v; until then %s", err, so))
}
