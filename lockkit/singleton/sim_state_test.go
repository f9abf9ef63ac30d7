package singleton_test

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// lockState is the lock's item as far as the invariants look at it.
type lockState struct {
	exists             bool
	owner, version     string
	token, step        int64
	lease              time.Duration
	tick               time.Time
	pending            time.Time
	cursor             string
	paused             bool
	until              time.Time // of the pause; zero: without an end
	stop               int64     // the token that a stop is addressed to
	runOwner           string
	runTick            time.Time
	prevOwner, prevHow string
}

func readState(item lockkit.Item) lockState {
	at := func(v types.AttributeValue) time.Time {
		if ms := numberIn(v); ms != 0 {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	l := lockState{
		exists: item != nil, owner: textIn(item[lockkit.AttrOwner]), version: textIn(item[lockkit.AttrVersion]),
		token: numberIn(item[lockkit.AttrFence]), step: numberIn(item[lockkit.AttrStep]),
		lease: time.Duration(numberIn(item[lockkit.AttrLease])) * time.Millisecond,
		tick:  at(item[lockkit.AttrTick]), pending: at(item[lockkit.AttrPending]),
	}
	in := func(attribute, key string) types.AttributeValue {
		m, ok := item[attribute].(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		return m.Value[key]
	}
	l.cursor = textIn(in(lockkit.AttrCursor, "data"))
	l.paused, l.until = item[lockkit.AttrPaused] != nil, at(in(lockkit.AttrPaused, "until"))
	l.stop = numberIn(in(lockkit.AttrStop, "token"))
	l.runTick = at(in(lockkit.AttrRun, "t"))
	l.runOwner, l.prevOwner, l.prevHow = textIn(in(lockkit.AttrRun, "owner")), textIn(in(lockkit.AttrPrev, "owner")), textIn(in(lockkit.AttrPrev, "o"))
	return l
}

func textIn(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func numberIn(v types.AttributeValue) int64 {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err == nil {
			return i
		}
	}
	return 0
}

func (l lockState) pausedAt(now time.Time) bool {
	return l.paused && (l.until.IsZero() || now.Before(l.until))
}

func (l lockState) String() string {
	who := "free"
	if l.owner != "" {
		who = fmt.Sprintf("held by %.4s for %s", l.owner, hour(l.runTick))
	}
	s := fmt.Sprintf("%s, token %d, version %.4s, tick %s, step %d", who, l.token, l.version, hour(l.tick), l.step)
	if l.cursor != "" {
		s += fmt.Sprintf(", cursor %q", l.cursor)
	}
	if l.paused {
		s += ", paused until " + hour(l.until)
	}
	if l.stop != 0 {
		s += fmt.Sprintf(", stop for %d", l.stop)
	}
	if !l.pending.IsZero() {
		s += ", pending " + hour(l.pending)
	}
	if l.prevHow != "" {
		s += ", before: " + l.prevHow
	}
	return s
}
