package lockkit

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is a lock item as DynamoDB returned it. Whoever is handed one must not
// change it: lockkit and the extension look at the same map.
type Item = map[string]types.AttributeValue

// Names of the attributes of a lock item. They are the wire form, shared with
// clients of other languages and with items that already exist, so they can
// never change. The first group is common to every client; the others are ours,
// and a client that does not know them leaves them where they are.
const (
	AttrType    = "_type"   // S, always "LOCK"
	AttrOwner   = "owner"   // S, a new id for every acquire; absent while free
	AttrVersion = "rvn"     // S, a new id on every acquire and renewal
	AttrFence   = "fence"   // N, the fencing token
	AttrLease   = "leaseMs" // N, the lease in milliseconds; absent while free
	AttrHolder  = "holder"  // S, optional label; absent while free

	AttrAt    = "at"    // M {owner S, ms N}, when the holder sent its newest write
	AttrUntil = "until" // M {owner S, ms N}, when the holder is certainly gone

	AttrRun     = "run"     // M, record of the run that holds the lock
	AttrPrev    = "prev"    // M, record of the run before
	AttrTick    = "tick"    // N, Unix ms, the last completed tick
	AttrPending = "pending" // N, Unix ms, a tick that waits for the holder
	AttrStep    = "step"    // N, counts the transactions of a job
	AttrCursor  = "cursor"  // M {tick N, data S}, where a long job goes on
	AttrStop    = "stop"    // M {token N, tick N}, asks one holder to stop
	AttrPaused  = "paused"  // M {id, by, at, why, until}, refuses every run
)

const (
	typeLock   = "LOCK"
	keyPrefix  = "LOCK#"
	sortKey    = "LOCK"
	maxKeySize = 2048
)

// reserved lists every attribute a lock item may have besides its keys.
func reserved() []string {
	return []string{
		AttrType, AttrOwner, AttrVersion, AttrFence, AttrLease, AttrHolder, AttrAt, AttrUntil,
		AttrRun, AttrPrev, AttrTick, AttrPending, AttrStep, AttrCursor, AttrStop, AttrPaused,
	}
}

// record is what a lock item says, decoded. The zero value is a lock without
// an item.
type record struct {
	exists  bool
	owner   string // "" while the lock is free
	version string
	holder  string
	token   int64
	lease   time.Duration
	at      time.Time // when the newest write was sent; zero: unknown
	until   time.Time // when the holder is certainly gone; zero: unknown
}

func (r record) held() bool { return r.owner != "" }

// decode reads an item. It fails on whatever is not a lock, and on a lock of
// which it cannot tell how long it is held: guessing there would take over a
// live holder or wait for a dead one for ever.
func decode(item Item) (record, error) {
	if len(item) == 0 {
		return record{}, nil
	}
	kind, ok := str(item[AttrType])
	if !ok || kind != typeLock {
		found := show(item[AttrType])
		if kind != "" {
			found = fmt.Sprintf("another string (%d bytes)", len(kind))
		}
		return record{}, fmt.Errorf("attribute %s is %s, expected the string %q", AttrType, found, typeLock)
	}
	r := record{exists: true}
	if v, there := item[AttrFence]; there {
		token, err := integer(v)
		if err != nil || token < 0 {
			return record{}, fmt.Errorf("attribute %s is %s, expected a whole number from 0 to %d", AttrFence, show(v), int64(math.MaxInt64))
		}
		r.token = token
	}
	r.version, _ = str(item[AttrVersion])
	v, there := item[AttrOwner]
	if !there {
		return r, nil
	}
	if r.owner, ok = str(v); !ok || r.owner == "" {
		return record{}, fmt.Errorf("attribute %s is %s, expected a string that is not empty", AttrOwner, show(v))
	}
	if r.version == "" {
		return record{}, fmt.Errorf("it has an owner, and %s is %s, expected a string that is not empty", AttrVersion, show(item[AttrVersion]))
	}
	if _, there := item[AttrFence]; !there {
		return record{}, fmt.Errorf("it has an owner and no %s", AttrFence)
	}
	// Other clients may hold for longer than we allow ourselves; what cannot be
	// a duration at all is refused.
	ms, err := integer(item[AttrLease])
	if err != nil || ms <= 0 || ms > int64(math.MaxInt64/time.Millisecond) {
		return record{}, fmt.Errorf("it has an owner, and %s is %s, expected a positive whole number of milliseconds", AttrLease, show(item[AttrLease]))
	}
	r.lease = time.Duration(ms) * time.Millisecond
	r.holder, _ = str(item[AttrHolder])
	r.at = stamp(item[AttrAt], r.owner)
	r.until = stamp(item[AttrUntil], r.owner)
	return r, nil
}

// stamp reads {owner, ms} and returns zero unless it was written by this owner:
// a client that does not know the attribute leaves another holder's in place.
func stamp(v types.AttributeValue, owner string) time.Time {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return time.Time{}
	}
	if by, ok := str(m.Value["owner"]); !ok || by != owner {
		return time.Time{}
	}
	ms, err := integer(m.Value["ms"])
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func stampValue(owner, ms types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: Item{"owner": owner, "ms": ms}}
}

func stringValue(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func numberValue(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func str(v types.AttributeValue) (string, bool) {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return "", false
	}
	return s.Value, true
}

// integer reads a number without a float on the way: tokens are exact up to
// the largest int64.
func integer(v types.AttributeValue) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("%s is not a number", show(v))
	}
	return strconv.ParseInt(n.Value, 10, 64)
}
