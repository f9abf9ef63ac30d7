package wire

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Keys of the controls on the item.
const (
	KeyID    = "id"
	KeyBy    = "by"
	KeyAt    = "at"
	KeyWhy   = "why"
	KeyUntil = "until"
	KeyToken = "token"
	KeyTick  = "tick"
)

// Bounds in bytes of what people write into a control. With them and with names
// and labels of up to 64 bytes an item without a cursor stays under 1 KB.
const (
	MaxNote = 128
	MaxBy   = 32
)

// Pause is the attribute paused. The zero value is none. Pauses are comparable.
type Pause struct {
	ID    string // names this pause, for the one who ends it
	By    string
	Why   string
	At    time.Time
	Until time.Time // zero: until somebody ends it
}

// On reports whether the pause holds runs back at this time.
func (p Pause) On(now time.Time) bool {
	return p.ID != "" && (p.Until.IsZero() || now.Before(p.Until))
}

// Value encodes the pause.
func (p Pause) Value() types.AttributeValue {
	m := map[string]types.AttributeValue{KeyID: String(p.ID), KeyAt: Number(p.At.UnixMilli())}
	if p.By != "" {
		m[KeyBy] = String(p.By)
	}
	if p.Why != "" {
		m[KeyWhy] = String(p.Why)
	}
	if !p.Until.IsZero() {
		m[KeyUntil] = Number(p.Until.UnixMilli())
	}
	return &types.AttributeValueMemberM{Value: m}
}

// ReadPause decodes the attribute paused; it is the zero value for one that is
// absent. What cannot be understood is an error and never "not paused": somebody
// wanted the job to rest. The pause returned beside an error has the ID at most.
func ReadPause(v types.AttributeValue) (Pause, error) {
	if v == nil {
		return Pause{}, nil
	}
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return Pause{}, fmt.Errorf("attribute paused of the lock's item is a %T, expected a map with the id of the pause: pause the job anew, or remove the attribute", v)
	}
	p := Pause{ID: text(m.Value[KeyID]), By: text(m.Value[KeyBy]), Why: text(m.Value[KeyWhy]), At: moment(m.Value[KeyAt])}
	if p.ID == "" {
		return Pause{}, fmt.Errorf("attribute paused of the lock's item has no string %q, which names the pause: pause the job anew, or remove the attribute", KeyID)
	}
	if until, there := m.Value[KeyUntil]; there {
		if p.Until = moment(until); p.Until.IsZero() {
			return Pause{ID: p.ID}, fmt.Errorf("attribute paused of the lock's item says %q with a %T, expected a whole number of Unix milliseconds: pause the job anew, or remove the attribute", KeyUntil, until)
		}
	}
	return p, nil
}

// Stop is the attribute stop: it asks one holder to stop, and binds no other.
// Stops are comparable.
type Stop struct {
	Token int64     // of the holder it is addressed to
	By    string    // the operator who asks; "" when a newer run does
	Tick  time.Time // of the newer run that asks; zero when an operator does
}

// Value encodes the stop.
func (s Stop) Value() types.AttributeValue {
	m := map[string]types.AttributeValue{KeyToken: Number(s.Token)}
	if s.By != "" {
		m[KeyBy] = String(s.By)
	}
	if !s.Tick.IsZero() {
		m[KeyTick] = Number(s.Tick.UnixMilli())
	}
	return &types.AttributeValueMemberM{Value: m}
}

// ReadStop decodes the attribute stop. ok is false for one that is absent or
// that is addressed to nobody.
func ReadStop(v types.AttributeValue) (s Stop, ok bool) {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return Stop{}, false
	}
	s = Stop{By: text(m.Value[KeyBy]), Tick: moment(m.Value[KeyTick])}
	s.Token, ok = Integer(m.Value[KeyToken])
	return s, ok
}

// text reads a string; "" for whatever is not one.
func text(v types.AttributeValue) string {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}

// moment reads Unix milliseconds; zero for whatever is not.
func moment(v types.AttributeValue) time.Time {
	ms, ok := Integer(v)
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
