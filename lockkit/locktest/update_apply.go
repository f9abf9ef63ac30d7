package locktest

import (
	"maps"
	"slices"
)

var (
	errOperandType = validation("An operand in the update expression has an incorrect data type")
	errMissing     = validation("The provided expression refers to an attribute that does not exist in the item")
	errUpdatePath  = validation("The document path provided in the update expression is invalid for update")
)

// edit is one change of an item: a new value at a path, or its removal.
type edit struct {
	target path
	remove bool
	value  value
}

// applyUpdate returns the item that a bound update makes of old. Every operand
// reads old, whatever the other actions do.
func applyUpdate(u updateExpr, old item) (item, error) {
	edits := make([]edit, 0, len(u.actions))
	for _, a := range u.actions {
		e, needed, err := evaluate(a, old)
		if err != nil {
			return nil, err
		}
		if needed {
			edits = append(edits, e)
		}
	}
	// Values first and from low to high index, so that those past the end of a
	// list are appended in order; then removals from high to low, so that none
	// moves the place of the next.
	slices.SortFunc(edits, func(a, b edit) int {
		switch {
		case a.remove && b.remove:
			return b.target.compare(a.target)
		case a.remove:
			return 1
		case b.remove:
			return -1
		default:
			return a.target.compare(b.target)
		}
	})
	updated := old.clone()
	for _, e := range edits {
		if err := e.apply(updated); err != nil {
			return nil, err
		}
	}
	return updated, nil
}

// evaluate turns an action into an edit; not needed: it changes nothing.
func evaluate(a action, old item) (e edit, needed bool, err error) {
	current, exists := a.target.find(old)
	switch a.verb {
	case "SET":
		v, err := updateValue(a.value, old)
		return edit{target: a.target, value: v}, true, err
	case "REMOVE":
		return edit{target: a.target, remove: true}, exists, checkParent(a.target, old)
	case "ADD":
		if !exists {
			v, err := updateValue(a.value, old)
			return edit{target: a.target, value: v}, true, err
		}
		v, err := add(current, a.value)
		return edit{target: a.target, value: v}, true, err
	default:
		if !exists {
			return edit{}, false, checkParent(a.target, old)
		}
		v, err := subtract(current, a.value)
		return edit{target: a.target, value: v, remove: len(v.list) == 0}, true, err
	}
}

// checkParent refuses to remove from what is not there to be removed from.
func checkParent(target path, old item) error {
	if len(target) == 1 {
		return nil
	}
	parent, ok := target[:len(target)-1].find(old)
	if last := target[len(target)-1]; !ok || last.isIndex != (parent.kind == kindList) || !last.isIndex && parent.kind != kindMap {
		return errUpdatePath
	}
	return nil
}

// add is ADD on an attribute that exists.
func add(current value, by expr) (value, error) {
	v, _ := operand(by, nil)
	switch {
	case current.kind != v.kind:
		return value{}, errOperandType
	case v.kind == kindNumber:
		sum, err := current.number.plus(v.number)
		return numberValue(sum), err
	default:
		union := value{kind: v.kind, list: slices.Clone(current.list)}
		for _, e := range v.list {
			if !union.has(e) {
				union.list = append(union.list, e)
			}
		}
		return union, nil
	}
}

// subtract is DELETE on a set that exists; an emptied set goes altogether.
func subtract(current value, by expr) (value, error) {
	v, _ := operand(by, nil)
	if current.kind != v.kind {
		return value{}, errOperandType
	}
	rest := slices.DeleteFunc(slices.Clone(current.list), v.has)
	return value{kind: v.kind, list: rest}, nil
}

// updateValue evaluates the right side of a SET.
func updateValue(e expr, old item) (value, error) {
	switch e := e.(type) {
	case valueExpr:
		return e.value, nil
	case pathExpr:
		v, ok := e.path.find(old)
		if !ok {
			return value{}, errMissing
		}
		return v, nil
	case callExpr:
		if e.function == "if_not_exists" {
			if v, ok := operand(e.args[0], old); ok {
				return v, nil
			}
			return updateValue(e.args[1], old)
		}
		return combine(e.args[0], e.args[1], old, kindList, func(v, w value) (value, error) {
			return value{kind: kindList, list: slices.Concat(v.list, w.list)}, nil
		})
	case sumExpr:
		return combine(e.left, e.right, old, kindNumber, func(v, w value) (value, error) {
			sum := number.plus
			if e.operator == "-" {
				sum = number.minus
			}
			n, err := sum(v.number, w.number)
			return numberValue(n), err
		})
	default:
		return value{}, errOperandType
	}
}

// combine evaluates two operands of one type and joins them.
func combine(left, right expr, old item, wanted kind, join func(v, w value) (value, error)) (value, error) {
	v, err := updateValue(left, old)
	if err != nil {
		return value{}, err
	}
	w, err := updateValue(right, old)
	if err != nil {
		return value{}, err
	}
	if v.kind != wanted || w.kind != wanted {
		return value{}, errOperandType
	}
	return join(v, w)
}

// apply changes it, copying what it shares with other items on the way down.
func (e edit) apply(it item) error {
	name := e.target[0].name
	if len(e.target) == 1 {
		if e.remove {
			delete(it, name)
		} else {
			it[name] = e.value
		}
		return nil
	}
	parent, ok := it[name]
	if !ok {
		return errUpdatePath
	}
	changed, err := e.in(parent, e.target[1:])
	it[name] = changed
	return err
}

// in returns v with the edit made at the rest of its path.
func (e edit) in(v value, rest path) (value, error) {
	s := rest[0]
	child, exists := v.child(s)
	if len(rest) > 1 {
		if !exists {
			return v, errUpdatePath
		}
		changed, err := e.in(child, rest[1:])
		if err != nil {
			return v, err
		}
		return v.withChild(s, changed), nil
	}
	if s.isIndex != (v.kind == kindList) || !s.isIndex && v.kind != kindMap {
		return v, errUpdatePath
	}
	if e.remove {
		return v.withoutChild(s), nil
	}
	return v.withChild(s, e.value), nil
}

// withChild returns v with one child set; an index past the end appends.
func (v value) withChild(s step, child value) value {
	if s.isIndex {
		list := slices.Clone(v.list)
		if s.index < len(list) {
			list[s.index] = child
		} else {
			list = append(list, child)
		}
		return value{kind: kindList, list: list}
	}
	fields := maps.Clone(v.fields)
	fields[s.name] = child
	return value{kind: kindMap, fields: fields}
}

func (v value) withoutChild(s step) value {
	if s.isIndex {
		return value{kind: kindList, list: slices.Delete(slices.Clone(v.list), s.index, s.index+1)}
	}
	fields := maps.Clone(v.fields)
	delete(fields, s.name)
	return value{kind: kindMap, fields: fields}
}
