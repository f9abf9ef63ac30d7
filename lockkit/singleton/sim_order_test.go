package singleton_test

import (
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// simControl is what an operator does.
type simControl struct {
	At   time.Duration
	Kind simOrder
	For  time.Duration // of a pause; 0: until it is ended
}

// simOrder is a kind of control.
type simOrder int

const (
	orderPause simOrder = iota
	orderResume
	orderStop      // the holder of that moment
	orderStopStale // a holder before that
)

func (o simOrder) String() string {
	return [...]string{"pause", "resume", "stop", "stop a former holder"}[o]
}

// simOrders are drawn from.
var simOrders = []simOrder{orderPause, orderResume, orderStop, orderStop, orderStopStale}

// order does what an operator does, in one step.
func (w *simWorld) order(c simControl) {
	w.mu.Lock()
	defer w.mu.Unlock()
	item := w.lock()
	if item == nil {
		return
	}
	now, next := time.Now(), maps.Clone(item)
	held := readState(item)
	switch c.Kind {
	case orderPause:
		pause := lockkit.Item{"id": s("p"), "at": n(now.UnixMilli())}
		if c.For > 0 {
			pause["until"] = n(now.Add(c.For).UnixMilli())
		}
		next[lockkit.AttrPaused] = &types.AttributeValueMemberM{Value: pause}
	case orderResume:
		delete(next, lockkit.AttrPaused)
	case orderStop, orderStopStale:
		if held.owner == "" {
			return
		}
		token := held.token
		if c.Kind == orderStopStale {
			token--
		}
		next[lockkit.AttrStop] = &types.AttributeValueMemberM{Value: lockkit.Item{"token": n(token), "by": s("operator")}}
	}
	if err := w.db.Put(table, next); err != nil {
		panic(err)
	}
	w.saw(0, c.Kind.String(), item)
}
