package singleton

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Keys of a record on the item. They are short because an item above 1 KB costs
// a second write unit for every renewal; they are the wire form and cannot
// change.
const (
	keyOwner     = "owner" // S, the lease it belongs to, as in the item's other maps
	keyTick      = "t"     // N, Unix ms; absent for a run without a tick
	keyStarted   = "s"     // N, Unix ms
	keyEnded     = "e"     // N, Unix ms; absent while it runs, and for a run that died
	keyOutcome   = "o"     // S
	keyError     = "x"     // S, at most maxError bytes
	keyRequestID = "q"     // S
	keyLogStream = "l"     // S
)

// Bounds in DynamoDB's bytes, the attribute's name included. The acquire that
// moves a record of a dead run and adds its own cannot see how long the old one
// is, so each has its own share of the 400 bytes that both may have.
const (
	maxRunning = 150 // of the record of a run that works
	maxEnded   = 250 // of the record of a run that has ended
	maxError   = 120
	maxID      = 36 // a UUID
)

// record is what a run leaves on the lock's item: in the attribute run while it
// holds the lock, in prev once it has ended or died.
type record struct {
	owner     string
	tick      time.Time
	started   time.Time
	ended     time.Time
	outcome   Outcome
	err       string
	requestID string
	logStream string
}

// value encodes the record within its bound. The name of the log stream is what
// yields: the request id finds the log too, and nothing else tells the error.
func (r record) value() types.AttributeValue {
	m := map[string]types.AttributeValue{keyOwner: stringValue(r.owner)}
	putTime := func(key string, t time.Time) {
		if !t.IsZero() {
			m[key] = numberValue(t.UnixMilli())
		}
	}
	putText := func(key, s string) {
		if s != "" {
			m[key] = stringValue(s)
		}
	}
	putTime(keyTick, r.tick)
	putTime(keyStarted, r.started)
	putTime(keyEnded, r.ended)
	putText(keyOutcome, string(r.outcome))
	putText(keyError, cut(r.err, maxError))
	putText(keyRequestID, cut(r.requestID, maxID))
	putText(keyLogStream, strings.ToValidUTF8(r.logStream, ""))
	bound := maxRunning - len("run")
	if !r.ended.IsZero() {
		bound = maxEnded - len("prev")
	}
	if mapSize(m) > bound {
		delete(m, keyLogStream)
	}
	return &types.AttributeValueMemberM{Value: m}
}

// readRecord decodes a record. ok is false for an attribute that is absent or
// is not a record of this package.
func readRecord(v types.AttributeValue) (r record, ok bool) {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return record{}, false
	}
	text := func(key string) string {
		s, _ := m.Value[key].(*types.AttributeValueMemberS)
		if s == nil {
			return ""
		}
		return s.Value
	}
	at := func(key string) time.Time {
		if ms, ok := integer(m.Value[key]); ok {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	r = record{
		owner: text(keyOwner), tick: at(keyTick), started: at(keyStarted), ended: at(keyEnded),
		outcome: Outcome(text(keyOutcome)), err: text(keyError), requestID: text(keyRequestID), logStream: text(keyLogStream),
	}
	return r, r.owner != ""
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
		}
	}
	return size
}

// cut shortens text to n bytes on a rune border, and drops what is not UTF-8,
// which DynamoDB would refuse together with the write.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func stringValue(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func numberValue(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func integer(v types.AttributeValue) (int64, bool) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	return i, err == nil
}
