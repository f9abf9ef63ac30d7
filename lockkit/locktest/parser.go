package locktest

import "strconv"

// Parsing is recursive descent over the tokens of one expression. Errors carry
// no "Invalid ConditionExpression:" in front; whoever knows the parameter's name
// adds it.

const (
	maxExpression = 4096 // bytes; also bounds how deep the descent gets
	maxOperators  = 300
	maxInOperands = 100
	maxPathDepth  = 32
)

type parser struct {
	source    string
	tokens    []token
	at        int
	operators int
}

// newParser checks what holds for every kind of expression.
func newParser(source string) (*parser, error) {
	if len(source) > maxExpression {
		return nil, validation("Expression size has exceeded the maximum allowed size; expression size: %d", len(source))
	}
	p := &parser{source: source, tokens: tokenize(source)}
	if p.peek().kind == tokenEnd {
		return nil, validation("The expression can not be empty;")
	}
	return p, nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is this symbol.
func (p *parser) accept(symbol string) bool {
	if p.peek().is(symbol) {
		p.at++
		return true
	}
	return false
}

func (p *parser) acceptKeyword(word string) bool {
	if p.peek().isKeyword(word) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(symbol string) error {
	if !p.accept(symbol) {
		return p.syntaxError()
	}
	return nil
}

func (p *parser) expectEnd() error {
	if p.peek().kind != tokenEnd {
		return p.syntaxError()
	}
	return nil
}

// syntaxError reports the next token with its neighbours.
func (p *parser) syntaxError() error {
	first, last := max(p.at-1, 0), min(p.at+1, len(p.tokens)-1)
	near := p.source[p.tokens[first].start:p.tokens[last].end]
	return validation("Syntax error; token: %q, near: %q", p.peek().text, near)
}

// operator takes the next token, an operator. The service counts those, but
// neither functions nor parentheses.
func (p *parser) operator() (token, error) {
	p.operators++
	if p.operators > maxOperators {
		return token{}, validation("The expression contains too many operators; operator count: %d", p.operators)
	}
	return p.next(), nil
}

// parsePath reads a.b[1].c with aliases in any place of a name.
func (p *parser) parsePath() (path, error) {
	first, err := p.parseName()
	if err != nil {
		return nil, err
	}
	steps := path{first}
	for {
		switch {
		case p.accept("."):
			s, err := p.parseName()
			if err != nil {
				return nil, err
			}
			steps = append(steps, s)
		case p.accept("["):
			s, err := p.parseIndex()
			if err != nil {
				return nil, err
			}
			steps = append(steps, s)
		default:
			if len(steps) > maxPathDepth {
				return nil, validation("The document path has too many nesting elements; nesting level: %d", len(steps))
			}
			return steps, nil
		}
	}
}

func (p *parser) parseName() (step, error) {
	t := p.peek()
	if t.kind != tokenWord && t.kind != tokenName {
		return step{}, p.syntaxError()
	}
	if t.kind == tokenWord && isReserved(t.text) {
		return step{}, validation("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
	}
	p.at++
	return step{name: t.text}, nil
}

func (p *parser) parseIndex() (step, error) {
	t := p.peek()
	if t.kind != tokenNumber {
		return step{}, p.syntaxError()
	}
	index, err := strconv.Atoi(t.text)
	if err != nil {
		return step{}, validation("List index is not within the allowable range; index: [%s]", t.text)
	}
	p.at++
	return step{index: index, isIndex: true}, p.expect("]")
}

// parseCall reads a function whose name is the next token.
func (p *parser) parseCall(operand func() (expr, error)) (expr, error) {
	name := p.next().text
	if _, known := functions[name]; !known {
		return nil, validation("Invalid function name; function: %s", name)
	}
	p.at++ // the parenthesis, which the caller has seen
	var args []expr
	for {
		arg, err := operand()
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
		if !p.accept(",") {
			break
		}
	}
	call := callExpr{function: name, args: args}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	return call, nil
}

// atCall reports whether a function call starts here.
func (p *parser) atCall() bool {
	return p.peek().kind == tokenWord && p.tokens[p.at+1].is("(")
}

// parseProjection reads a list of paths.
func parseProjection(source string) (expr, error) {
	p, err := newParser(source)
	if err != nil {
		return nil, err
	}
	var paths []path
	for {
		one, err := p.parsePath()
		if err != nil {
			return nil, err
		}
		paths = append(paths, one)
		if !p.accept(",") {
			return projectionExpr{paths: paths}, p.expectEnd()
		}
	}
}
