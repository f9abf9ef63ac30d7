package lockkit

import (
	"math"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// compose makes the write that takes the lock: if it is free, and from the holder
// given, if any, as it was seen.
func (c *contender) compose(version string, sent moment, from observation) (*dynamodb.UpdateItemInput, error) {
	t := c.t
	s := shape{verb: VerbAcquire, extended: c.ext != nil, noTTL: c.noTTL, until: !c.until.IsZero()}
	owner, ms := stringValue(c.owner), numberValue(base(sent))
	values := Item{
		":lkt": lockType, ":lkm": highest, ":lk1": one,
		":lko": owner,
		":lkv": stringValue(version),
		":lkl": numberValue(c.lease.Milliseconds()),
		":lka": stampValue(owner, ms),
		":lkb": ms,
	}
	if t.cfg.label != "" {
		values[":lkh"] = stringValue(t.cfg.label)
	}
	if s.until {
		values[":lku"] = stampValue(owner, numberValue(c.until.UnixMilli()))
	}
	t.expiry(values, sent.wall, c.noTTL)
	if from.owner != "" {
		values[":lkso"], values[":lksv"] = stringValue(from.owner), stringValue(from.version)
		s.over = overSeen
		if t.clock.now().mono.Before(from.since.Add(from.lease).Add(t.cfg.takeoverDelay)) {
			s.over = overGone // it is not due otherwise
		}
	}
	f, err := t.form(s).extend(c.ext, c.about(sent), values)
	if err != nil {
		return nil, err
	}
	return f.input(t, c.name, values, types.ReturnValueAllOld), nil
}

// Values that are always the same. Nobody changes them.
var (
	lockSort = stringValue(sortKey)
	lockType = stringValue(typeLock)
	highest  = numberValue(math.MaxInt64)
	one      = numberValue(1)
)

func (w *words) acquire(c *config, s shape) {
	w.assign("#lkt", AttrType, ":lkt")
	w.assign("#lko", AttrOwner, ":lko")
	w.assign("#lkv", AttrVersion, ":lkv")
	w.assign("#lkl", AttrLease, ":lkl")
	w.assign("#lka", AttrAt, ":lka")
	w.assign("#lkf", AttrFence, "if_not_exists(#lkf, :lkb) + :lk1")
	if c.label != "" {
		w.assign("#lkh", AttrHolder, ":lkh")
	} else {
		w.drop("#lkh", AttrHolder)
	}
	if s.until {
		w.assign("#lku", AttrUntil, ":lku")
	} else {
		w.drop("#lku", AttrUntil)
	}
	if !s.extended {
		w.drop("#lkr", AttrRun) // it describes a holder who is gone
	}
	w.expire(c, s.noTTL)

	w.name("#lkp", c.partitionKey)
	w.condition.WriteString("attribute_not_exists(#lkp) OR #lkt = :lkt AND (attribute_not_exists(#lkf) OR #lkf < :lkm) AND ")
	switch s.over {
	case overNobody:
		w.condition.WriteString("attribute_not_exists(#lko)")
	case overSeen:
		w.condition.WriteString("(attribute_not_exists(#lko) OR #lko = :lkso AND #lkv = :lksv)")
	case overGone:
		w.condition.WriteString("(attribute_not_exists(#lko) OR #lko = :lkso AND #lkv = :lksv AND #lku.#lko = :lkso)")
	}
}

// base is the number that the first token of a new item is one above. It comes
// from the wall clock, so that tokens do not go back when the item was deleted.
func base(sent moment) int64 { return sent.wall.UnixMilli() }
