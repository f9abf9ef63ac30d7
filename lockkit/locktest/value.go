package locktest

import (
	"maps"
	"slices"
	"strings"
)

// kind is the type of an attribute value, written as in the service's JSON.
type kind string

const (
	kindString    kind = "S"
	kindNumber    kind = "N"
	kindBinary    kind = "B"
	kindBool      kind = "BOOL"
	kindNull      kind = "NULL"
	kindMap       kind = "M"
	kindList      kind = "L"
	kindStringSet kind = "SS"
	kindNumberSet kind = "NS"
	kindBinarySet kind = "BS"
)

// value is one attribute value. Values are never changed once built: an update
// builds new ones and shares the rest, so an old image costs nothing to keep
// and an answer can be encoded without the lock.
type value struct {
	kind   kind
	text   string           // S, B (its raw bytes)
	number number           // N
	truth  bool             // BOOL
	fields map[string]value // M
	list   []value          // L, and the elements of SS, NS, BS
}

// item is one stored item: attribute name to value.
type item map[string]value

func stringValue(s string) value { return value{kind: kindString, text: s} }

func numberValue(n number) value { return value{kind: kindNumber, number: n} }

// isSet reports whether v is a string, number or binary set.
func (v value) isSet() bool {
	return v.kind == kindStringSet || v.kind == kindNumberSet || v.kind == kindBinarySet
}

// equal compares as the service's = does: by type, numbers by value, sets
// without regard to order.
func (v value) equal(w value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case kindString, kindBinary:
		return v.text == w.text
	case kindNumber:
		return v.number.compare(w.number) == 0
	case kindBool:
		return v.truth == w.truth
	case kindNull:
		return true
	case kindMap:
		return item(v.fields).equal(w.fields)
	case kindList:
		return slices.EqualFunc(v.list, w.list, value.equal)
	default:
		return len(v.list) == len(w.list) && !slices.ContainsFunc(v.list, func(e value) bool { return !w.has(e) })
	}
}

func (it item) equal(other item) bool {
	if len(it) != len(other) {
		return false
	}
	for name, v := range it {
		if w, ok := other[name]; !ok || !v.equal(w) {
			return false
		}
	}
	return true
}

// has reports whether a set or list contains an element equal to e.
func (v value) has(e value) bool {
	return slices.ContainsFunc(v.list, e.equal)
}

// compare orders two values of one of the ordered types (S, N, B); ok is false
// for any other pair, which no comparison holds for.
func (v value) compare(w value) (order int, ok bool) {
	if v.kind != w.kind {
		return 0, false
	}
	switch v.kind {
	case kindString, kindBinary: // the service orders strings by their UTF-8 bytes
		return strings.Compare(v.text, w.text), true
	case kindNumber:
		return v.number.compare(w.number), true
	default:
		return 0, false
	}
}

// size is the stored size in bytes by the service's published rules.
func (v value) size() int {
	switch v.kind {
	case kindString, kindBinary:
		return len(v.text)
	case kindNumber:
		return v.number.size()
	case kindBool, kindNull:
		return 1
	case kindMap:
		n := 3
		for name, f := range v.fields {
			n += 1 + len(name) + f.size()
		}
		return n
	case kindList:
		n := 3
		for _, e := range v.list {
			n += 1 + e.size()
		}
		return n
	default:
		n := 0
		for _, e := range v.list {
			n += e.size()
		}
		return n
	}
}

// size is what the item counts for limits and capacity: names and values.
func (it item) size() int {
	n := 0
	for name, v := range it {
		n += len(name) + v.size()
	}
	return n
}

// clone returns a copy that shares the values, ready to have some replaced.
func (it item) clone() item {
	c := make(item, len(it)+1)
	maps.Copy(c, it)
	return c
}
