package lockkit

import (
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// body is one conditional UpdateItem in the making. Every attribute stands
// behind an alias: owner, at, until and others are reserved words.
type body struct {
	set, remove, condition strings.Builder
	names                  map[string]string
	values                 Item
}

func newBody() *body {
	return &body{names: make(map[string]string, 12), values: make(Item, 12)}
}

func (b *body) name(alias, attribute string) { b.names[alias] = attribute }

// assign adds "alias = placeholder" for an attribute and its value.
func (b *body) assign(alias, attribute, placeholder string, v types.AttributeValue) {
	b.name(alias, attribute)
	b.values[placeholder] = v
	b.setTo(alias, placeholder)
}

func (b *body) setTo(alias, expression string) {
	b.separate(&b.set)
	b.set.WriteString(alias)
	b.set.WriteString(" = ")
	b.set.WriteString(expression)
}

func (b *body) drop(alias, attribute string) {
	b.name(alias, attribute)
	b.separate(&b.remove)
	b.remove.WriteString(alias)
}

func (*body) separate(s *strings.Builder) {
	if s.Len() > 0 {
		s.WriteString(", ")
	}
}

// expire sets the time to live, or takes it off where a lease must have none.
func (b *body) expire(t *LockTable, now time.Time, never bool) {
	switch {
	case t.cfg.ttl == "":
	case never:
		b.drop("#lke", t.cfg.ttl)
	default:
		b.assign("#lke", t.cfg.ttl, ":lke", numberValue(now.Add(t.cfg.retention).Unix()))
	}
}

// mine is the condition that the lock is still this lease's: its owner, its
// token, and a record version that it wrote itself.
func (b *body) mine(owner string, token int64, versions []try) {
	b.name("#lko", AttrOwner)
	b.name("#lkf", AttrFence)
	b.name("#lkv", AttrVersion)
	b.values[":lko"] = stringValue(owner)
	b.values[":lkf"] = numberValue(token)
	b.condition.WriteString("#lko = :lko AND #lkf = :lkf AND #lkv IN (")
	for i, v := range versions {
		placeholder := versionPlaceholder(i)
		b.values[placeholder] = stringValue(v.version)
		if i > 0 {
			b.condition.WriteString(", ")
		}
		b.condition.WriteString(placeholder)
	}
	b.condition.WriteString(")")
}

func versionPlaceholder(i int) string {
	const digits = "0123456789"
	return ":lkc" + digits[i/10:i/10+1] + digits[i%10:i%10+1]
}

// extend asks the extension and joins what it adds.
func (b *body) extend(ext Extension, w Write) error {
	if ext == nil {
		return nil
	}
	add := ext.Add(w)
	if err := add.check(); err != nil {
		return err
	}
	maps.Copy(b.names, add.Names)
	maps.Copy(b.values, add.Values)
	for _, s := range add.Set {
		b.separate(&b.set)
		b.set.WriteString(s)
	}
	for _, s := range add.Remove {
		b.separate(&b.remove)
		b.remove.WriteString(s)
	}
	if add.Condition != "" {
		own := b.condition.String()
		b.condition.Reset()
		b.condition.WriteString("(" + own + ") AND (" + add.Condition + ")")
	}
	return nil
}

func (b *body) input(t *LockTable, name string, returns types.ReturnValue) *dynamodb.UpdateItemInput {
	update := ""
	if b.set.Len() > 0 {
		update = "SET " + b.set.String()
	}
	if b.remove.Len() > 0 {
		if update != "" {
			update += " "
		}
		update += "REMOVE " + b.remove.String()
	}
	return &dynamodb.UpdateItemInput{
		TableName:                           aws.String(t.table),
		Key:                                 t.key(name),
		UpdateExpression:                    aws.String(update),
		ConditionExpression:                 aws.String(b.condition.String()),
		ExpressionAttributeNames:            b.names,
		ExpressionAttributeValues:           b.values,
		ReturnValues:                        returns,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}
