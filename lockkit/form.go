package lockkit

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// shape is what the words of a write depend on, besides the LockTable's options.
type shape struct {
	verb     Verb
	extended bool // an extension takes part, and the record of the run is its own
	noTTL    bool // the item must not expire
	until    bool // an acquire that says when its process is gone
	over     over
	versions int // of a renewal or release: how many record versions it may meet
}

// over is whom an acquire may take the lock from.
type over int

const (
	overNobody over = iota // it must be free
	overSeen               // from the holder as it was seen
	overGone               // the same, and the holder must itself have said when it is gone
)

// form is a write without its values: all the same for every write of one shape,
// so it is composed once, and the requests share it. Nobody changes one.
type form struct {
	set, remove       string
	update, condition string // update is set and remove together
	names             map[string]string
}

// forms are those that a LockTable has composed. A shape has few variants, so
// they need no bound: the chain bounds the versions.
type forms struct {
	mu sync.Mutex
	of map[shape]*form
}

// form returns the form of a shape.
func (t *LockTable) form(s shape) *form {
	t.forms.mu.Lock()
	defer t.forms.mu.Unlock()
	f, ok := t.forms.of[s]
	if ok {
		return f
	}
	w := &words{names: map[string]string{}}
	switch s.verb {
	case VerbAcquire:
		w.acquire(&t.cfg, s)
	case VerbRenew:
		w.renew(&t.cfg, s)
	case VerbRelease:
		w.release(&t.cfg, s)
	default:
		w.abandon(&t.cfg, s)
	}
	f = w.form()
	if t.forms.of == nil {
		t.forms.of = map[shape]*form{}
	}
	t.forms.of[s] = f
	return f
}

// extend returns the form with what the extension adds to this write, whose
// values go to the others.
func (f *form) extend(ext Extension, w Write, values Item) (*form, error) {
	if ext == nil {
		return f, nil
	}
	add := ext.Add(w)
	if err := add.check(); err != nil {
		return nil, err
	}
	e := &form{set: f.set, remove: f.remove, condition: f.condition, names: maps.Clone(f.names)}
	maps.Copy(e.names, add.Names)
	maps.Copy(values, add.Values)
	for _, s := range add.Set {
		e.set = join(e.set, s)
	}
	for _, s := range add.Remove {
		e.remove = join(e.remove, s)
	}
	if add.Condition != "" {
		e.condition = "(" + f.condition + ") AND (" + add.Condition + ")"
	}
	e.update = update(e.set, e.remove)
	return e, nil
}

// input makes the request.
func (f *form) input(t *LockTable, name string, values Item, returns types.ReturnValue) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:                           &t.table,
		Key:                                 t.key(name),
		UpdateExpression:                    &f.update,
		ConditionExpression:                 &f.condition,
		ExpressionAttributeNames:            f.names,
		ExpressionAttributeValues:           values,
		ReturnValues:                        returns,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// words are a form in the making. Every attribute stands behind an alias: owner,
// at, until and others are reserved words.
type words struct {
	set, remove string
	condition   strings.Builder
	names       map[string]string
}

func (w *words) form() *form {
	return &form{set: w.set, remove: w.remove, update: update(w.set, w.remove), condition: w.condition.String(), names: w.names}
}

func (w *words) name(alias, attribute string) { w.names[alias] = attribute }

// assign sets an attribute to an expression.
func (w *words) assign(alias, attribute, expression string) {
	w.name(alias, attribute)
	w.set = join(w.set, alias+" = "+expression)
}

// drop removes an attribute.
func (w *words) drop(alias, attribute string) {
	w.name(alias, attribute)
	w.remove = join(w.remove, alias)
}

// expire sets the time to live, or takes it off where a lease must have none.
func (w *words) expire(c *config, never bool) {
	switch {
	case c.ttl == "":
	case never:
		w.drop("#lke", c.ttl)
	default:
		w.assign("#lke", c.ttl, ":lke")
	}
}

// expiry is the value of expire.
func (t *LockTable) expiry(values Item, now time.Time, never bool) {
	if t.cfg.ttl != "" && !never {
		values[":lke"] = numberValue(now.Add(t.cfg.retention).Unix())
	}
}

// mine is the condition that the lock is still this lease's: its owner, its
// token, and a record version that it wrote itself.
func (w *words) mine(versions int) {
	w.name("#lko", AttrOwner)
	w.name("#lkf", AttrFence)
	w.name("#lkv", AttrVersion)
	w.condition.WriteString("#lko = :lko AND #lkf = :lkf AND #lkv IN (")
	for i := range versions {
		if i > 0 {
			w.condition.WriteString(", ")
		}
		w.condition.WriteString(versionPlaceholder(i))
	}
	w.condition.WriteString(")")
}

// mineValues adds the values of mine, and returns how many versions they name.
func (l *Lease) mineValues(values Item) int {
	values[":lko"], values[":lkf"] = stringValue(l.owner), numberValue(l.token)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, v := range l.chain.tries {
		values[versionPlaceholder(i)] = stringValue(v.version)
	}
	return len(l.chain.tries)
}

func versionPlaceholder(i int) string {
	const digits = "0123456789"
	return ":lkc" + digits[i/10:i/10+1] + digits[i%10:i%10+1]
}

// vacate removes what describes a holder.
func (w *words) vacate() {
	w.drop("#lko", AttrOwner)
	w.drop("#lkl", AttrLease)
	w.drop("#lkh", AttrHolder)
	w.drop("#lka", AttrAt)
	w.drop("#lku", AttrUntil)
}

func join(list, s string) string {
	if list == "" {
		return s
	}
	return list + ", " + s
}

func update(set, remove string) string {
	switch {
	case set == "":
		return "REMOVE " + remove
	case remove == "":
		return "SET " + set
	default:
		return "SET " + set + " REMOVE " + remove
	}
}
