package lockkit

import (
	"math"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// compose makes the write that takes the lock: if it is free, and from the holder
// given, if any, as it was seen.
func (c *contender) compose(version string, sent moment, over observation) (*dynamodb.UpdateItemInput, error) {
	t, b := c.t, newBody()
	b.assign("#lkt", AttrType, ":lkt", stringValue(typeLock))
	b.assign("#lko", AttrOwner, ":lko", stringValue(c.owner))
	b.assign("#lkv", AttrVersion, ":lkv", stringValue(version))
	b.assign("#lkl", AttrLease, ":lkl", numberValue(c.lease.Milliseconds()))
	b.assign("#lka", AttrAt, ":lka", stampValue(c.owner, sent.wall))
	b.name("#lkf", AttrFence)
	b.values[":lkb"], b.values[":lk1"] = numberValue(base(sent)), numberValue(1)
	b.setTo("#lkf", "if_not_exists(#lkf, :lkb) + :lk1")
	if t.cfg.label != "" {
		b.assign("#lkh", AttrHolder, ":lkh", stringValue(t.cfg.label))
	} else {
		b.drop("#lkh", AttrHolder)
	}
	if c.until.IsZero() {
		b.drop("#lku", AttrUntil)
	} else {
		b.assign("#lku", AttrUntil, ":lku", stampValue(c.owner, c.until))
	}
	if c.ext == nil {
		b.drop("#lkr", AttrRun) // it describes a holder who is gone
	}
	b.expire(t, sent.wall, c.noTTL)

	b.name("#lkp", t.cfg.partitionKey)
	b.values[":lkm"] = numberValue(math.MaxInt64)
	b.condition.WriteString("attribute_not_exists(#lkp) OR #lkt = :lkt AND (attribute_not_exists(#lkf) OR #lkf < :lkm) AND ")
	if over.owner == "" {
		b.condition.WriteString("attribute_not_exists(#lko)")
	} else {
		b.values[":lkso"], b.values[":lksv"] = stringValue(over.owner), stringValue(over.version)
		b.condition.WriteString("(attribute_not_exists(#lko) OR #lko = :lkso AND #lkv = :lksv")
		if c.t.clock.now().mono.Before(over.since.Add(over.lease).Add(t.cfg.takeoverDelay)) {
			// Due only because the holder is certainly gone: it must have said so itself.
			b.name("#lku", AttrUntil)
			b.condition.WriteString(" AND #lku.#lko = :lkso")
		}
		b.condition.WriteString(")")
	}
	if err := b.extend(c.ext, c.about(sent)); err != nil {
		return nil, err
	}
	return b.input(t, c.name, types.ReturnValueAllOld), nil
}

// base is the number that the first token of a new item is one above. It comes
// from the wall clock, so that tokens do not go back when the item was deleted.
func base(sent moment) int64 { return sent.wall.UnixMilli() }
