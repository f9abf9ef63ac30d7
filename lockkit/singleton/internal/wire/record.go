package wire

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Keys of a record on the item. They are short because an item above 1 KB costs
// a second write unit for every renewal; they are the wire form and cannot
// change.
const (
	KeyOwner     = "owner" // S, the lease it belongs to, as in the item's other maps
	KeyRunTick   = "t"     // N, Unix ms; absent for a run without a tick
	keyStarted   = "s"     // N, Unix ms
	keyEnded     = "e"     // N, Unix ms; absent while it runs, and for a run that died
	keyQueues    = "w"     // BOOL, true; absent for a run that runs no tick but its own
	KeyOutcome   = "o"     // S
	keyError     = "x"     // S, at most maxError bytes
	keyRequestID = "q"     // S
	keyLogStream = "l"     // S
)

// Bounds in DynamoDB's bytes, the attribute's name included. The acquire that
// moves a record of a dead run and adds its own cannot see how long the old one
// is, so each has its own share of the 400 bytes that both may have.
const (
	maxRunning = 153 // of the record of a run that works
	maxEnded   = 247 // of the record of a run that has ended
	maxError   = 120
	maxID      = 36 // a UUID
)

// Released is the outcome in the record of a run whose lock an operator freed.
const Released = "released"

// Record is what a run leaves on the lock's item: in the attribute run while it
// holds the lock, in prev once it has ended or died. Records are comparable.
type Record struct {
	Owner     string    // the lease it belongs to; it counts for no other
	Tick      time.Time // zero for a run without one
	Started   time.Time // when it acquired the lock, or took a tick that waited on, by its clock
	Ended     time.Time // zero while it runs, and for a run that died
	Outcome   string    // "" while it runs, and for a run that died
	Err       string    // cut to 120 bytes
	RequestID string
	LogStream string // "" also where it had no room
}

// Value encodes the record within its bound. The name of the log stream is what
// yields: the request id finds the log too, and nothing else tells the error.
func (r Record) Value() types.AttributeValue { return r.value(false) }

// Queueing encodes the record of a run at work that runs a tick which waits on the
// item before it releases.
func (r Record) Queueing() types.AttributeValue { return r.value(true) }

// IsQueueing reports whether a record was encoded by Queueing.
func IsQueueing(v types.AttributeValue) bool {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return false
	}
	mark, ok := m.Value[keyQueues].(*types.AttributeValueMemberBOOL)
	return ok && mark.Value
}

func (r Record) value(queues bool) types.AttributeValue {
	m := map[string]types.AttributeValue{KeyOwner: String(r.Owner)}
	putTime := func(key string, t time.Time) {
		if !t.IsZero() {
			m[key] = Number(t.UnixMilli())
		}
	}
	putText := func(key, s string) {
		if s != "" {
			m[key] = String(s)
		}
	}
	putTime(KeyRunTick, r.Tick)
	putTime(keyStarted, r.Started)
	putTime(keyEnded, r.Ended)
	if queues {
		m[keyQueues] = &types.AttributeValueMemberBOOL{Value: true}
	}
	putText(KeyOutcome, r.Outcome)
	putText(keyError, Cut(r.Err, maxError))
	putText(keyRequestID, Cut(r.RequestID, maxID))
	putText(keyLogStream, strings.ToValidUTF8(r.LogStream, ""))
	bound := maxRunning - len("run")
	if !r.Ended.IsZero() {
		bound = maxEnded - len("prev")
	}
	if mapSize(m) > bound {
		delete(m, keyLogStream)
	}
	return &types.AttributeValueMemberM{Value: m}
}

// ReadRecord decodes a record. ok is false for an attribute that is absent or
// is not a record of this package.
func ReadRecord(v types.AttributeValue) (r Record, ok bool) {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return Record{}, false
	}
	r = Record{
		Owner: text(m.Value[KeyOwner]), Tick: moment(m.Value[KeyRunTick]), Started: moment(m.Value[keyStarted]), Ended: moment(m.Value[keyEnded]),
		Outcome: text(m.Value[KeyOutcome]), Err: text(m.Value[keyError]), RequestID: text(m.Value[keyRequestID]), LogStream: text(m.Value[keyLogStream]),
	}
	return r, r.Owner != ""
}

// mapSize counts as DynamoDB does: 3 bytes for the map, 1 for each entry, the
// names, and a number as half its digits and one.
func mapSize(m map[string]types.AttributeValue) int {
	size := 3
	for key, v := range m {
		size += 1 + len(key)
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			size += len(v.Value)
		case *types.AttributeValueMemberN:
			size += (len(v.Value)+1)/2 + 1
		case *types.AttributeValueMemberBOOL:
			size++
		}
	}
	return size
}
