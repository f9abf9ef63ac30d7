package wire

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// Keys of a cursor on the item.
const (
	keyCursorTick = "tick" // N, Unix ms
	keyCursorData = "data" // S
)

// Cursor is where an interval that was begun is to be continued. The zero value
// is none.
type Cursor struct {
	Tick time.Time // of the run that left it
	Data string
}

// Value encodes the cursor.
func (c Cursor) Value() types.AttributeValue {
	return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		keyCursorTick: Number(c.Tick.UnixMilli()), keyCursorData: String(c.Data),
	}}
}

// ReadCursor reads the item's cursor. One that cannot be read is an error:
// beginning anew would write its pages again.
func ReadCursor(item lockkit.Item) (Cursor, error) {
	v, there := item[lockkit.AttrCursor]
	if !there {
		return Cursor{}, nil
	}
	if m, ok := v.(*types.AttributeValueMemberM); ok {
		tick := moment(m.Value[keyCursorTick])
		data, hasData := m.Value[keyCursorData].(*types.AttributeValueMemberS)
		if !tick.IsZero() && hasData {
			return Cursor{Tick: tick, Data: data.Value}, nil
		}
	}
	return Cursor{}, fmt.Errorf("attribute %s of the lock's item is no cursor, expected a map of the number %s, in Unix milliseconds, and the string %s: correct it, or remove it to begin the tick anew", lockkit.AttrCursor, keyCursorTick, keyCursorData)
}
