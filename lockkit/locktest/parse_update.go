package locktest

import "strings"

// parseUpdate reads an update expression: the sections SET, REMOVE, ADD and
// DELETE in any order, each at most once.
//
//	SET    path = value [ (+|-) value ], ...     value = path | :value | function ( value, ... ) | ( value (+|-) value )
//	REMOVE path, ...
//	ADD    path :value, ...
//	DELETE path :value, ...
func parseUpdate(source string) (expr, error) {
	p, err := newParser(source)
	if err != nil {
		return nil, err
	}
	var update updateExpr
	seen := make(map[string]bool, 4)
	for p.peek().kind != tokenEnd {
		verb := strings.ToUpper(p.peek().text)
		one := p.actionParser(verb)
		if p.peek().kind != tokenWord || one == nil {
			return nil, p.syntaxError()
		}
		if seen[verb] {
			return nil, validation("The %q section can only be used once in an update expression;", verb)
		}
		seen[verb] = true
		p.at++
		for {
			a, err := one()
			if err != nil {
				return nil, err
			}
			a.verb = verb
			update.actions = append(update.actions, a)
			if !p.accept(",") {
				break
			}
		}
	}
	return update, nil
}

// actionParser returns the rule for one action of a section, nil if there is no
// such section.
func (p *parser) actionParser(verb string) func() (action, error) {
	switch verb {
	case "SET":
		return p.parseSet
	case "REMOVE":
		return p.parseRemove
	case "ADD", "DELETE":
		return p.parseAddDelete
	default:
		return nil
	}
}

func (p *parser) parseSet() (action, error) {
	target, err := p.parsePath()
	if err != nil {
		return action{}, err
	}
	if err := p.expect("="); err != nil {
		return action{}, err
	}
	v, err := p.parseSum()
	return action{target: target, value: v}, err
}

func (p *parser) parseRemove() (action, error) {
	target, err := p.parsePath()
	return action{target: target}, err
}

func (p *parser) parseAddDelete() (action, error) {
	target, err := p.parsePath()
	if err != nil {
		return action{}, err
	}
	t := p.peek()
	if t.kind != tokenValue {
		return action{}, p.syntaxError()
	}
	p.at++
	return action{target: target, value: valueExpr{name: t.text}}, nil
}

// parseSum reads a value or the sum or difference of two; the service takes no
// longer chains without parentheses.
func (p *parser) parseSum() (expr, error) {
	left, err := p.parseSetValue()
	if err != nil {
		return nil, err
	}
	if !p.peek().is("+") && !p.peek().is("-") {
		return left, nil
	}
	t, err := p.operator()
	if err != nil {
		return nil, err
	}
	right, err := p.parseSetValue()
	return sumExpr{operator: t.text, left: left, right: right}, err
}

func (p *parser) parseSetValue() (expr, error) {
	t := p.peek()
	switch {
	case t.is("("):
		p.at++
		e, err := p.parseSum()
		if err != nil {
			return nil, err
		}
		return e, p.expect(")")
	case t.kind == tokenValue:
		p.at++
		return valueExpr{name: t.text}, nil
	case p.atCall():
		e, err := p.parseCall(p.parseSetValue)
		if call, ok := e.(callExpr); err == nil && ok && !functions[call.function].update {
			return nil, validation("The function is not allowed in an update expression; function: %s", call.function)
		}
		return e, err
	default:
		steps, err := p.parsePath()
		return pathExpr{path: steps}, err
	}
}
