package locktest

import (
	"maps"
	"slices"
	"strings"
)

// binder fills the aliases and values of one request into its expressions and
// keeps count of those that no expression used.
type binder struct {
	parsed     *parseCache
	names      map[string]string
	values     map[string]value
	usedNames  map[string]bool
	usedValues map[string]bool
}

// placeholders are the request parameters that expressions refer to.
type placeholders struct {
	ExpressionAttributeNames  map[string]string `json:",omitzero"`
	ExpressionAttributeValues wireItem          `json:",omitzero"`
}

// dropIdle forgets the placeholders of an action that has no expression: in
// transactions, and only there, the service does not mind them.
func (p *placeholders) dropIdle(expression *string) {
	if expression == nil {
		*p = placeholders{}
	}
}

// newBinder checks the placeholders of a request. hasExpression says whether
// the request has any expression that may use them.
func newBinder(parsed *parseCache, p placeholders, hasExpression bool) (*binder, error) {
	b := &binder{parsed: parsed}
	if p.ExpressionAttributeNames != nil {
		if err := checkPlaceholders("ExpressionAttributeNames", '#', p.ExpressionAttributeNames, hasExpression); err != nil {
			return nil, err
		}
		b.names, b.usedNames = p.ExpressionAttributeNames, make(map[string]bool, len(p.ExpressionAttributeNames))
	}
	if p.ExpressionAttributeValues != nil {
		if err := checkPlaceholders("ExpressionAttributeValues", ':', p.ExpressionAttributeValues, hasExpression); err != nil {
			return nil, err
		}
		b.values, b.usedValues = make(map[string]value, len(p.ExpressionAttributeValues)), make(map[string]bool, len(p.ExpressionAttributeValues))
		for name, wv := range p.ExpressionAttributeValues {
			v, err := wv.decode(1)
			if err != nil {
				return nil, validation("ExpressionAttributeValues contains invalid value: %s for key %s", messageOf(err), name)
			}
			b.values[name] = v
		}
	}
	return b, nil
}

func checkPlaceholders[V any](parameter string, lead byte, m map[string]V, hasExpression bool) error {
	if !hasExpression {
		return validation("%s can only be specified when using expressions", parameter)
	}
	if len(m) == 0 {
		return validation("%s must not be empty", parameter)
	}
	for name := range m {
		if len(name) < 2 || name[0] != lead || scanWhile(name, 1, isNamePart) != len(name) {
			return validation("%s contains invalid key: Syntax error; key: %q", parameter, name)
		}
	}
	return nil
}

// unused reports names or values that no bound expression referred to.
func (b *binder) unused() error {
	if keys := missing(b.values, b.usedValues); keys != "" {
		return validation("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", keys)
	}
	if keys := missing(b.names, b.usedNames); keys != "" {
		return validation("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", keys)
	}
	return nil
}

func missing[V any](all map[string]V, used map[string]bool) string {
	if len(used) == len(all) {
		return ""
	}
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(k string) bool { return used[k] })
	return strings.Join(keys, ", ")
}

// parameter is the request parameter that holds an expression.
type parameter string

const (
	conditionParameter  parameter = "ConditionExpression"
	filterParameter     parameter = "FilterExpression"
	keyParameter        parameter = "KeyConditionExpression"
	updateParameter     parameter = "UpdateExpression"
	projectionParameter parameter = "ProjectionExpression"
)

// condition binds an optional condition; nil stands for none.
func (b *binder) condition(p parameter, source *string) (expr, error) {
	return b.expression(p, source)
}

// update binds an optional update expression.
func (b *binder) update(source *string) (updateExpr, error) {
	e, err := b.expression(updateParameter, source)
	if err != nil || e == nil {
		return updateExpr{}, err
	}
	u, _ := e.(updateExpr)
	return u, nil
}

// projection binds an optional projection; nil paths stand for the whole item.
func (b *binder) projection(source *string) ([]path, error) {
	e, err := b.expression(projectionParameter, source)
	if err != nil || e == nil {
		return nil, err
	}
	p, _ := e.(projectionExpr)
	return p.paths, nil
}

// expression parses, binds and checks one expression and names the parameter in
// whatever is wrong with it.
func (b *binder) expression(p parameter, source *string) (expr, error) {
	if source == nil {
		return nil, nil //nolint:nilnil // no expression is a valid answer, told apart by every caller
	}
	e, err := b.parsed.parse(p, *source)
	if err == nil {
		e, err = b.bind(e)
	}
	if err != nil {
		return nil, validation("Invalid %s: %s", p, messageOf(err))
	}
	return e, nil
}

func messageOf(err error) string {
	if e, ok := err.(*serviceError); ok { //nolint:errorlint // never wrapped inside this package
		return e.message
	}
	return err.Error()
}

// bind returns a copy of e with the placeholders replaced.
func (b *binder) bind(e expr) (expr, error) {
	switch e := e.(type) {
	case pathExpr:
		p, err := b.path(e.path)
		return pathExpr{path: p}, err
	case valueExpr:
		v, ok := b.values[e.name]
		if !ok {
			return nil, validation("An expression attribute value used in expression is not defined; attribute value: %s", e.name)
		}
		b.usedValues[e.name] = true
		return valueExpr{name: e.name, value: v}, nil
	case updateExpr:
		return b.bindUpdate(e)
	case projectionExpr:
		paths, err := b.paths(e.paths)
		if err != nil {
			return nil, err
		}
		return projectionExpr{paths: paths}, checkApart(paths)
	default:
		return b.bindNode(e)
	}
}

// bindNode handles the nodes that have nothing of their own but other nodes.
func (b *binder) bindNode(e expr) (expr, error) {
	switch e := e.(type) {
	case callExpr:
		args, err := b.all(e.args...)
		if err != nil {
			return nil, err
		}
		bound := callExpr{function: e.function, args: args}
		return bound, checkCall(bound)
	case compareExpr:
		in, err := b.all(e.left, e.right)
		if err != nil {
			return nil, err
		}
		return compareExpr{operator: e.operator, left: in[0], right: in[1]}, checkComparison(e.operator, in[0], in[1])
	case betweenExpr:
		in, err := b.all(e.operand, e.low, e.high)
		if err != nil {
			return nil, err
		}
		return betweenExpr{operand: in[0], low: in[1], high: in[2]}, checkBetween(in[0], in[1], in[2])
	case inExpr:
		in, err := b.all(append([]expr{e.operand}, e.list...)...)
		if err != nil {
			return nil, err
		}
		return inExpr{operand: in[0], list: in[1:]}, checkDistinct("IN", in[0], in[1:]...)
	case logicExpr:
		in, err := b.all(e.left, e.right)
		if err != nil {
			return nil, err
		}
		return logicExpr{operator: e.operator, left: in[0], right: in[1]}, nil
	case notExpr:
		operand, err := b.bind(e.operand)
		return notExpr{operand: operand}, err
	case sumExpr:
		in, err := b.all(e.left, e.right)
		if err != nil {
			return nil, err
		}
		return sumExpr{operator: e.operator, left: in[0], right: in[1]}, checkKinds(e.operator, in, kindNumber)
	default:
		return e, nil
	}
}

func (b *binder) all(es ...expr) ([]expr, error) {
	bound := make([]expr, len(es))
	for i, e := range es {
		var err error
		if bound[i], err = b.bind(e); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

func (b *binder) bindUpdate(u updateExpr) (expr, error) {
	actions := make([]action, len(u.actions))
	targets := make([]path, len(u.actions))
	for i, a := range u.actions {
		target, err := b.path(a.target)
		if err != nil {
			return nil, err
		}
		actions[i], targets[i] = action{verb: a.verb, target: target}, target
		if a.value == nil {
			continue
		}
		if actions[i].value, err = b.bind(a.value); err != nil {
			return nil, err
		}
		if err := checkAction(actions[i]); err != nil {
			return nil, err
		}
	}
	return updateExpr{actions: actions}, checkApart(targets)
}

// path replaces the aliases in a path.
func (b *binder) path(p path) (path, error) {
	bound := slices.Clone(p)
	for i, s := range p {
		if s.isIndex || s.name[0] != '#' {
			continue
		}
		name, ok := b.names[s.name]
		if !ok {
			return nil, validation("An expression attribute name used in the document path is not defined; attribute name: %s", s.name)
		}
		b.usedNames[s.name] = true
		bound[i].name = name
	}
	return bound, nil
}

func (b *binder) paths(ps []path) ([]path, error) {
	bound := make([]path, len(ps))
	for i, p := range ps {
		var err error
		if bound[i], err = b.path(p); err != nil {
			return nil, err
		}
	}
	return bound, nil
}
