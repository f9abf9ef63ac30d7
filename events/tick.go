package events

import (
	"fmt"
	"time"
)

// Kind says who asked for a run.
type Kind string

// The kinds of input that [Decode] accepts.
const (
	KindSchedule Kind = "schedule" // EventBridge Scheduler, with ScheduleInput
	KindRule     Kind = "rule"     // an EventBridge rule with a schedule expression
	KindManual   Kind = "manual"   // somebody's invoke
)

// MaxAhead is how far a tick may lie in the future. A little is allowed because
// the clocks of two machines differ. A tick that lies far ahead would, once it
// is completed, make every real tick until then look done.
const MaxAhead = 5 * time.Minute

// ScheduleInput is the input to configure on the target of an EventBridge
// Scheduler schedule. Scheduler replaces the keywords in angle brackets at each
// delivery; a JSON encoder that writes "<" as an escape hides them from it.
const ScheduleInput = `{"tick":"<aws.scheduler.scheduled-time>","execution_id":"<aws.scheduler.execution-id>","attempt":"<aws.scheduler.attempt-number>"}`

// maxID bounds the id of a delivery: it is shown in logs, never interpreted.
const maxID = 256

// Tick is one due time of a job, as it was delivered. The zero value is a
// manual run that belongs to no due time.
type Tick struct {
	// Time is when the job was due, in UTC and whole milliseconds. It is zero
	// for a manual run without a tick, which neither reads nor changes what the
	// job remembers of its ticks.
	Time time.Time
	// Source is who asked; "" counts as KindManual.
	Source Kind
	// ID names the delivery: Scheduler's execution id, or the id of a rule's
	// event. It is "" for a manual run. Two deliveries of one tick may differ in
	// it, so it does not tell ticks apart.
	ID string
	// Attempt counts Scheduler's own deliveries, from 1. It is 0 where nobody
	// counts: rules and manual runs. Lambda's retries of an asynchronous invoke
	// send the same event again, so they repeat it.
	Attempt int
	// Force runs a tick although it, or a newer one, is done. Manual only.
	Force bool
}

// Manual reports whether somebody asked for the run by hand.
func (t Tick) Manual() bool { return t.Source == KindManual || t.Source == "" }

// Check returns an [InputError] for a tick that no job may run: one of an
// unknown kind, without the time its kind must have, before 1970, finer than a
// millisecond, or more than [MaxAhead] after now. Decode has checked what it
// returns; it is for ticks that a program makes itself.
func (t Tick) Check(now time.Time) error {
	switch t.Source {
	case KindSchedule, KindRule:
		if t.Time.IsZero() {
			return &InputError{Got: fmt.Sprintf("a tick of kind %q without a time", t.Source), Want: "the time the job was due", Fix: "set its Time"}
		}
		if t.Force {
			return &InputError{Got: fmt.Sprintf("a forced tick of kind %q", t.Source), Want: "force on manual runs only", Fix: "invoke the job by hand to force a tick"}
		}
	case KindManual, "":
		if t.Time.IsZero() && t.Force {
			return &InputError{Got: "force without a tick", Want: "the tick to run again", Fix: `add it, such as {"tick": "2026-12-01T02:00:00Z", "force": true}; without force, {} runs the job outside its ticks`}
		}
	default:
		return &InputError{Got: fmt.Sprintf("a tick of kind %s", quote(string(t.Source))), Want: fmt.Sprintf("%q, %q or %q", KindSchedule, KindRule, KindManual), Fix: "set its Source"}
	}
	if t.Time.IsZero() {
		return nil
	}
	return checkTime("the tick", t.Time, now)
}

func checkTime(what string, at, now time.Time) error {
	shown := at.UTC().Format(time.RFC3339Nano)
	if ms := at.UnixMilli(); ms <= 0 {
		return &InputError{
			Got:  fmt.Sprintf("%s is %s", what, shown),
			Want: "a time after 1970-01-01T00:00:00Z",
			Fix:  "put the time the job was due; a console's sample event must be edited first",
		}
	}
	if at.Nanosecond()%int(time.Millisecond) != 0 {
		return &InputError{
			Got:  fmt.Sprintf("%s is %s", what, shown),
			Want: "whole milliseconds, the unit ticks are stored in",
			Fix:  "cut it to milliseconds",
		}
	}
	if at.Sub(now) > MaxAhead {
		return &InputError{
			Got:  fmt.Sprintf("%s is %s and now is %s", what, shown, now.UTC().Format(time.RFC3339)),
			Want: fmt.Sprintf("a time at most %s after now, because completing a later one would make every tick before it look done", MaxAhead),
			Fix:  "put the time the job was due, and check the time zone and this machine's clock",
		}
	}
	return nil
}
