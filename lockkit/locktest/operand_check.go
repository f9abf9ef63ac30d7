package locktest

import (
	"reflect"
	"slices"
)

// The checks in this file need the values of a request but no item: the service
// refuses these expressions before it looks at the table.

// kindOf returns the type of an operand that is a :value or a size.
func kindOf(e expr) (kind, bool) {
	switch e := e.(type) {
	case valueExpr:
		return e.value.kind, true
	case callExpr:
		return kindNumber, e.function == "size"
	default:
		return "", false
	}
}

// checkKinds refuses operands that are known to be of none of the wanted types.
func checkKinds(operator string, operands []expr, wanted ...kind) error {
	for _, e := range operands {
		if k, known := kindOf(e); known && !slices.Contains(wanted, k) {
			return validation("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", operator, k)
		}
	}
	return nil
}

// checkDistinct refuses a comparison of a path with itself.
func checkDistinct(operator string, first expr, rest ...expr) error {
	p, ok := first.(pathExpr)
	if !ok {
		return nil
	}
	for _, e := range rest {
		if q, ok := e.(pathExpr); ok && reflect.DeepEqual(p, q) {
			return validation("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s", operator, p.path)
		}
	}
	return nil
}

func checkComparison(operator string, left, right expr) error {
	if operator != "=" && operator != "<>" {
		if err := checkKinds(operator, []expr{left, right}, kindString, kindNumber, kindBinary); err != nil {
			return err
		}
	}
	return checkDistinct(operator, left, right)
}

func checkBetween(operand, low, high expr) error {
	if err := checkKinds("BETWEEN", []expr{operand, low, high}, kindString, kindNumber, kindBinary); err != nil {
		return err
	}
	if err := checkDistinct("BETWEEN", operand, low, high); err != nil {
		return err
	}
	l, isValue := low.(valueExpr)
	h, alsoValue := high.(valueExpr)
	if !isValue || !alsoValue {
		return nil
	}
	order, isOrdered := l.value.compare(h.value)
	if !isOrdered {
		return validation("The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s", l.value.describe(), h.value.describe())
	}
	if order > 0 {
		return validation("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s", l.value.describe(), h.value.describe())
	}
	return nil
}

// checkCall refuses a wrong number or type of arguments, and a value where a
// document path has to be.
func checkCall(e callExpr) error {
	f := functions[e.function]
	if len(e.args) != f.args {
		return validation("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", e.function, len(e.args))
	}
	if _, isPath := e.args[0].(pathExpr); f.needsPath && !isPath {
		return validation("Operator or function requires a document path; operator or function: %s", e.function)
	}
	switch e.function {
	case "begins_with":
		if err := checkDistinct(e.function, e.args[0], e.args[1]); err != nil {
			return err
		}
		return checkKinds(e.function, e.args, kindString, kindBinary)
	case "contains":
		if err := checkDistinct(e.function, e.args[0], e.args[1]); err != nil {
			return err
		}
		return checkKinds(e.function, e.args[:1], kindString, kindBinary, kindStringSet, kindNumberSet, kindBinarySet, kindList)
	case "size":
		return checkKinds(e.function, e.args, kindString, kindBinary, kindStringSet, kindNumberSet, kindBinarySet, kindList, kindMap)
	case "attribute_type":
		return checkTypeName(e.args[1])
	case "list_append":
		for _, arg := range e.args {
			if inner, ok := arg.(callExpr); ok && inner.function == "list_append" {
				return validation("The function is not allowed to be used this way in an expression; function: list_append")
			}
		}
		return checkKinds(e.function, e.args, kindList)
	default:
		return nil
	}
}

// checkTypeName checks the second argument of attribute_type.
func checkTypeName(arg expr) error {
	if err := checkKinds("attribute_type", []expr{arg}, kindString); err != nil {
		return err
	}
	v, ok := arg.(valueExpr)
	if !ok {
		return validation("Incorrect operand type for operator or function; operator or function: attribute_type, operand type: document path")
	}
	switch kind(v.value.text) {
	case kindString, kindNumber, kindBinary, kindBool, kindNull, kindMap, kindList, kindStringSet, kindNumberSet, kindBinarySet:
		return nil
	default:
		return validation("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", v.value.text)
	}
}

// longNames are the types as two messages about ADD and DELETE spell them.
var longNames = map[kind]string{
	kindString: "STRING", kindNumber: "NUMBER", kindBinary: "BINARY", kindBool: "BOOLEAN", kindNull: "NULL",
	kindMap: "MAP", kindList: "LIST",
}

// checkAction checks the operand types of ADD and DELETE.
func checkAction(a action) error {
	v, ok := a.value.(valueExpr)
	if !ok {
		return nil
	}
	adds := a.verb == "ADD" && (v.value.kind == kindNumber || v.value.isSet())
	deletes := a.verb == "DELETE" && v.value.isSet()
	if a.verb == "SET" || adds || deletes {
		return nil
	}
	return validation("Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND", a.verb, longNames[v.value.kind], a.verb)
}
