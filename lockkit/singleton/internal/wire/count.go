package wire

import (
	"fmt"
	"math"
	"time"

	"github.com/solotick/solotick/lockkit"
)

// DoneTick reads the last completed tick; zero when there is none.
func DoneTick(item lockkit.Item) (time.Time, error) {
	return tick(item, lockkit.AttrTick, "to forget which ticks are done")
}

// PendingTick reads the tick that waits for the holder; zero when there is none.
// It may be one that is done, where whoever completed it did not come to remove
// it: callers compare it with the last completed tick, or with one that is newer.
func PendingTick(item lockkit.Item) (time.Time, error) {
	return tick(item, lockkit.AttrPending, "to forget the tick that waits")
}

func tick(item lockkit.Item, name, removed string) (time.Time, error) {
	v, there := item[name]
	if !there {
		return time.Time{}, nil
	}
	at := moment(v)
	if at.IsZero() {
		return at, fmt.Errorf("attribute %s of the lock's item is %s, expected %s: correct it, or remove it %s", name, Show(v), expectedMoment, removed)
	}
	return at, nil
}

// ReadStep reads the count of a job's transactions; 0 when there is none.
func ReadStep(item lockkit.Item) (int64, error) {
	v, there := item[lockkit.AttrStep]
	if !there {
		return 0, nil
	}
	n, ok := Integer(v)
	if !ok || n < 0 {
		return 0, fmt.Errorf("attribute %s of the lock's item is %s, expected a whole number from 0: remove it while no run works", lockkit.AttrStep, Show(v))
	}
	return n, nil
}

// NextStep is the count that the next transaction of the job would have.
func NextStep(item lockkit.Item) (int64, error) {
	n, err := ReadStep(item)
	if err != nil {
		return 0, err
	}
	if n == math.MaxInt64 {
		return 0, fmt.Errorf("attribute %s of the lock's item is %d, which cannot be raised: remove it while no run works", lockkit.AttrStep, n)
	}
	return n + 1, nil
}
