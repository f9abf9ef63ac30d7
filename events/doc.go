// Package events holds the types of what comes into a scheduled job and what
// goes out of it, with the standard library only, so that a producer or a
// consumer in another repository can import it without the rest.
//
// # What comes in
//
// A [Tick] is one due time of a job. [Decode] reads it from one of three inputs:
//
//   - what EventBridge Scheduler sends when its target's input is
//     [ScheduleInput]: {"tick": "2026-12-01T02:00:00Z", "execution_id": "d32c5kddcf5bb8c3", "attempt": "1"}
//   - what an EventBridge rule with a schedule expression sends: the envelope
//     with source "aws.events", detail-type "Scheduled Event", time and id
//   - a manual invoke: {}, {"tick": "2026-12-01T02:00:00Z"} or
//     {"tick": "2026-12-01T02:00:00Z", "force": true}
//
// testdata/ has a sample of each.
//
// # What is refused
//
// Everything else is an [InputError] that says what came, what was expected and
// what to do. Decode guesses nothing, because a job remembers the newest tick
// it has completed and refuses older ones: a time read wrongly (milliseconds
// taken for seconds, "now" in the place of a keyword that was not filled in)
// would make every later, correct tick look done.
//
// # What goes out
//
// A run publishes what it did: [RunStarted], [RunEnded], [LockTakenOver] and
// [Gap]; an operator's command publishes [ControlChanged]. [EncodeDetail] makes
// the detail of an event, bus/ publishes it, and [DecodeOutbound] reads the
// envelope that a consumer's rule delivers. schema/ describes the details to
// consumers in other languages, and testdata/outbound/ has one whole envelope of
// each.
//
// # What the bus is, and what it is not
//
// The bus is a convenience for coordination between services: what is published
// here, the observer and anybody's rule may consume. It is no queue and no log.
// EventBridge delivers an event at least once and in no order, so a consumer
// dedupes by the envelope's id and looks at the times. A consumer that is down
// relies on the retries of its own rule; nothing is replayed. A run that cannot
// publish goes on without: what is true of a job is on its lock's item, and an
// event that was lost costs its line in the history.
package events
