package locktest

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/cockroachdb/apd/v3"
)

// holds evaluates a bound condition for an item; nil holds for every item. A
// missing item is an empty one.
func holds(e expr, it item) bool {
	switch e := e.(type) {
	case nil:
		return true
	case logicExpr:
		if e.operator == "OR" {
			return holds(e.left, it) || holds(e.right, it)
		}
		return holds(e.left, it) && holds(e.right, it)
	case notExpr:
		return !holds(e.operand, it)
	case compareExpr:
		return compareHolds(e, it)
	case betweenExpr:
		return ordered(it, e.low, e.operand) && ordered(it, e.operand, e.high)
	case inExpr:
		v, ok := operand(e.operand, it)
		if !ok {
			return false
		}
		for _, one := range e.list {
			if w, ok := operand(one, it); ok && v.equal(w) {
				return true
			}
		}
		return false
	case callExpr:
		return callHolds(e, it)
	default:
		return false
	}
}

// compareHolds follows the service where operands are missing or of different
// types: only <> holds then, even between two missing attributes.
func compareHolds(e compareExpr, it item) bool {
	v, ok := operand(e.left, it)
	w, alsoOK := operand(e.right, it)
	both := ok && alsoOK
	switch e.operator {
	case "=":
		return both && v.equal(w)
	case "<>":
		return !both || !v.equal(w)
	}
	order, isOrdered := v.compare(w)
	if !both || !isOrdered {
		return false
	}
	switch e.operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

// ordered reports whether a <= b.
func ordered(it item, a, b expr) bool {
	return compareHolds(compareExpr{operator: "<=", left: a, right: b}, it)
}

func callHolds(e callExpr, it item) bool {
	v, ok := operand(e.args[0], it)
	switch e.function {
	case "attribute_exists":
		return ok
	case "attribute_not_exists":
		return !ok
	}
	w, alsoOK := operand(e.args[1], it)
	if !ok || !alsoOK {
		return false
	}
	switch e.function {
	case "attribute_type":
		return string(v.kind) == w.text
	case "begins_with":
		return v.kind == w.kind && (v.kind == kindString || v.kind == kindBinary) && strings.HasPrefix(v.text, w.text)
	default:
		return v.contains(w)
	}
}

// contains looks for a part of a string or binary, or for an element.
func (v value) contains(w value) bool {
	switch v.kind {
	case kindString, kindBinary:
		return v.kind == w.kind && strings.Contains(v.text, w.text)
	case kindList, kindStringSet, kindNumberSet, kindBinarySet:
		return v.has(w)
	default:
		return false
	}
}

// operand evaluates what a condition compares; false stands for missing.
func operand(e expr, it item) (value, bool) {
	switch e := e.(type) {
	case valueExpr:
		return e.value, true
	case pathExpr:
		return e.path.find(it)
	case callExpr:
		v, ok := operand(e.args[0], it)
		if !ok {
			return value{}, false
		}
		return v.length()
	default:
		return value{}, false
	}
}

// length is what the function size yields: UTF-16 code units of a string, as the
// service counts them, bytes of a binary, elements of the rest; numbers,
// booleans and null have none.
func (v value) length() (value, bool) {
	var n int
	switch v.kind {
	case kindString:
		for _, r := range v.text {
			n += utf16.RuneLen(r)
		}
	case kindBinary:
		n = len(v.text)
	case kindMap:
		n = len(v.fields)
	case kindList, kindStringSet, kindNumberSet, kindBinarySet:
		n = len(v.list)
	default:
		return value{}, false
	}
	return numberValue(number{dec: apd.New(int64(n), 0), text: strconv.Itoa(n)}), true
}
