package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
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

	Paused *Pause `json:"paused,omitempty"` // also one whose Until has passed, which holds nobody back
	Stop   *Stop  `json:"stop,omitempty"`   // counts for the holder with its token only

	// Faults are attributes that no run can read, each with what to do about it.
	// They keep the job from running.
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
	if s.Paused != nil {
		parts = append(parts, "the job is paused "+s.Paused.String())
	} else if s.Exists {
		parts = append(parts, "the job is not paused")
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
	Tick      time.Time `json:"tick,omitzero"` // absent for a run without one
	Started   time.Time `json:"started,omitzero"`
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
	key, err := c.locks.Key(job)
	if err != nil {
		return nil, err
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
		if try == tries || !lockkit.IsTransient(err) && !errors.Is(err, errSlow) || !sleep(ctx, time.Duration(try)*100*time.Millisecond) {
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
	foreign := func(format string, args ...any) (State, error) {
		return State{}, &lockkit.NotALockError{Lock: job, Table: s.Table, Why: fmt.Sprintf(format, args...)}
	}
	if kind := text(item[lockkit.AttrType]); kind != "LOCK" {
		return foreign("attribute %s is not the string \"LOCK\"", lockkit.AttrType)
	}
	var ok bool
	if fence, there := item[lockkit.AttrFence]; there {
		if s.Token, ok = wire.Integer(fence); !ok {
			return foreign("attribute %s is no whole number", lockkit.AttrFence)
		}
	}
	if owner, there := item[lockkit.AttrOwner]; there {
		lease, ok := wire.Integer(item[lockkit.AttrLease])
		if s.Owner = text(owner); s.Owner == "" || !ok || item[lockkit.AttrFence] == nil {
			return foreign("it has an owner, and not the %s and %s of a lock that is held", lockkit.AttrLease, lockkit.AttrFence)
		}
		s.Lease = time.Duration(min(lease, maxLeaseMS)) * time.Millisecond
		s.Holder = text(item[lockkit.AttrHolder])
		if at, ok := item[lockkit.AttrAt].(*types.AttributeValueMemberM); ok && text(at.Value["owner"]) == s.Owner {
			s.Renewed = moment(at.Value["ms"])
		}
	}
	s.Run, s.Prev = records(item, s.Owner)
	d := decoder{item: item}
	s.Tick, s.Pending, s.Step = d.tick(lockkit.AttrTick), d.tick(lockkit.AttrPending), d.step()
	s.Cursor, s.CursorTick = d.cursor()
	s.Paused = d.paused()
	if stop, ok := wire.ReadStop(item[lockkit.AttrStop]); ok {
		s.Stop = new(Stop(stop))
	}
	s.Faults = d.faults
	return s, nil
}

// maxLeaseMS keeps the lease of another client within a time.Duration.
const maxLeaseMS = int64(1<<63-1) / int64(time.Millisecond)

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

// decoder reads what the job remembers and what operators have set, and notes
// what it cannot read.
type decoder struct {
	item   lockkit.Item
	faults []string
}

func (d *decoder) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf(format, args...))
}

// tick reads a tick; zero for none.
func (d *decoder) tick(name string) time.Time {
	v, there := d.item[name]
	if !there {
		return time.Time{}
	}
	at := moment(v)
	if at.IsZero() {
		d.fault("attribute %s is a %T, expected a whole number of Unix milliseconds: correct or remove it", name, v)
	}
	return at
}

func (d *decoder) step() int64 {
	v, there := d.item[lockkit.AttrStep]
	if !there {
		return 0
	}
	step, ok := wire.Integer(v)
	if !ok {
		d.fault("attribute %s is a %T, expected a whole number: remove it while no run works", lockkit.AttrStep, v)
	}
	return step
}

func (d *decoder) cursor() (data string, tick time.Time) {
	c, err := wire.ReadCursor(d.item)
	if err != nil {
		d.fault("%v", err)
	}
	return c.Data, c.Tick
}

// paused returns a pause also where only its id can be read: it is what replaces
// it.
func (d *decoder) paused() *Pause {
	p, err := wire.ReadPause(d.item[lockkit.AttrPaused])
	if err != nil {
		d.fault("%v", err)
	}
	if p.ID == "" {
		return nil
	}
	return new(Pause(p))
}

func moment(v types.AttributeValue) time.Time {
	ms, ok := wire.Integer(v)
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func text(v types.AttributeValue) string {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}
