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

// Resting reads the attribute paused and says whether it keeps runs from
// beginning at this time, exactly as the condition of their acquires does: one that
// is absent does not, nor does one whose end has come, whatever else it says.
// Anything else does. What of that cannot be understood is an error and never "not
// paused": somebody wanted the job to rest. The pause beside an error has what could
// be read.
func Resting(v types.AttributeValue, now time.Time) (p Pause, on bool, err error) {
	if v == nil {
		return Pause{}, false, nil
	}
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return Pause{}, true, fmt.Errorf("attribute paused of the lock's item is %s, expected a map with the id of the pause: %s", Show(v), pauseAnew)
	}
	p = Pause{ID: text(m.Value[KeyID]), By: text(m.Value[KeyBy]), Why: text(m.Value[KeyWhy]), At: moment(m.Value[KeyAt])}
	until, ends := m.Value[KeyUntil]
	if ends {
		p.Until, ok = end(until)
	}
	switch {
	case ends && ok && !now.Before(p.Until):
		return p, false, nil
	case p.ID == "":
		return p, true, fmt.Errorf("%q in the attribute paused of the lock's item is %s, expected a string that names the pause: %s", KeyID, Show(m.Value[KeyID]), pauseAnew)
	case !ok:
		return p, true, fmt.Errorf("%q in the attribute paused of the lock's item is %s, expected a number of Unix milliseconds: replace the pause, or remove the attribute", KeyUntil, Show(until))
	default:
		return p, true, nil
	}
}

const pauseAnew = "pause the job anew, or remove the attribute"

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

// ReadStop decodes the attribute stop; it is the zero value, which is addressed to
// nobody, for one that is absent. One that cannot be read is an error: somebody
// wanted a run to stop, and none does.
func ReadStop(v types.AttributeValue) (Stop, error) {
	if v == nil {
		return Stop{}, nil
	}
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return Stop{}, fmt.Errorf("attribute stop of the lock's item is %s, expected a map with the holder's token: %s", Show(v), stopAnew)
	}
	s := Stop{By: text(m.Value[KeyBy]), Tick: moment(m.Value[KeyTick])}
	if s.Token, ok = Integer(m.Value[KeyToken]); !ok {
		return Stop{}, fmt.Errorf("%q in the attribute stop of the lock's item is %s, expected the holder's token: %s", KeyToken, Show(m.Value[KeyToken]), stopAnew)
	}
	return s, nil
}

const stopAnew = "ask the run anew to stop, or remove the attribute"

// text reads a string; "" for whatever is not one.
func text(v types.AttributeValue) string {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}
