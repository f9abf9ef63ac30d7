package locktest

// parseCondition reads a condition, filter or key condition:
//
//	or      = and { OR and }
//	and     = not { AND not }
//	not     = NOT not | test
//	test    = operand [ comparator operand | BETWEEN operand AND operand | IN ( operand, ... ) ]
//	operand = ( or ) | function ( operand, ... ) | path | :value
//
// A parenthesis may hold a condition or an operand, so both are read by the
// same rules and told apart afterwards.
func parseCondition(source string) (expr, error) {
	p, err := newParser(source)
	if err != nil {
		return nil, err
	}
	e, err := p.parseOr()
	if err != nil {
		return nil, err
	}
	if err := p.expectEnd(); err != nil {
		return nil, err
	}
	return e, p.wantCondition(e)
}

// wantCondition refuses an operand that stands where a condition must.
func (p *parser) wantCondition(e expr) error {
	if isCondition(e) {
		return nil
	}
	if call, ok := e.(callExpr); ok {
		return notAllowedHere(call.function)
	}
	return p.syntaxError()
}

// wantOperand refuses a condition that stands where a value must.
func (p *parser) wantOperand(e expr) error {
	if call, ok := e.(callExpr); ok && !functions[call.function].operand {
		return notAllowedHere(call.function)
	}
	if isCondition(e) {
		return p.syntaxError()
	}
	return nil
}

func notAllowedHere(function string) error {
	if functions[function].update {
		return validation("The function is not allowed in a condition expression; function: %s", function)
	}
	return validation("The function is not allowed to be used this way in an expression; function: %s", function)
}

func (p *parser) parseOr() (expr, error) { return p.parseChain("OR", p.parseAnd) }

func (p *parser) parseAnd() (expr, error) { return p.parseChain("AND", p.parseNot) }

// parseChain reads one or more parts joined by a keyword, left to right.
func (p *parser) parseChain(keyword string, part func() (expr, error)) (expr, error) {
	left, err := part()
	if err != nil {
		return nil, err
	}
	for p.peek().isKeyword(keyword) {
		if err := p.wantCondition(left); err != nil {
			return nil, err
		}
		if _, err := p.operator(); err != nil {
			return nil, err
		}
		right, err := part()
		if err != nil {
			return nil, err
		}
		if err := p.wantCondition(right); err != nil {
			return nil, err
		}
		left = logicExpr{operator: keyword, left: left, right: right}
	}
	return left, nil
}

func (p *parser) parseNot() (expr, error) {
	if !p.peek().isKeyword("NOT") {
		return p.parseTest()
	}
	if _, err := p.operator(); err != nil {
		return nil, err
	}
	e, err := p.parseNot()
	if err != nil {
		return nil, err
	}
	return notExpr{operand: e}, p.wantCondition(e)
}

func (p *parser) parseTest() (expr, error) {
	left, err := p.parseOperand()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	switch {
	case isComparator(t):
		return p.parseComparison(left)
	case t.isKeyword("BETWEEN"):
		return p.parseBetween(left)
	case t.isKeyword("IN"):
		return p.parseIn(left)
	default:
		return left, nil
	}
}

func isComparator(t token) bool {
	if t.kind != tokenSymbol {
		return false
	}
	switch t.text {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	default:
		return false
	}
}

func (p *parser) parseComparison(left expr) (expr, error) {
	if err := p.wantOperand(left); err != nil {
		return nil, err
	}
	operator, err := p.operator()
	if err != nil {
		return nil, err
	}
	right, err := p.parseOperand()
	if err != nil {
		return nil, err
	}
	return compareExpr{operator: operator.text, left: left, right: right}, p.wantOperand(right)
}

func (p *parser) parseBetween(operand expr) (expr, error) {
	if err := p.wantOperand(operand); err != nil {
		return nil, err
	}
	if _, err := p.operator(); err != nil {
		return nil, err
	}
	low, err := p.parseOperand()
	if err != nil {
		return nil, err
	}
	if err := p.wantOperand(low); err != nil {
		return nil, err
	}
	if !p.acceptKeyword("AND") {
		return nil, p.syntaxError()
	}
	high, err := p.parseOperand()
	if err != nil {
		return nil, err
	}
	return betweenExpr{operand: operand, low: low, high: high}, p.wantOperand(high)
}

func (p *parser) parseIn(operand expr) (expr, error) {
	if err := p.wantOperand(operand); err != nil {
		return nil, err
	}
	if _, err := p.operator(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var list []expr
	for {
		e, err := p.parseOperand()
		if err != nil {
			return nil, err
		}
		if err := p.wantOperand(e); err != nil {
			return nil, err
		}
		list = append(list, e)
		if !p.accept(",") {
			break
		}
	}
	if len(list) > maxInOperands {
		return nil, validation("Too many operands for operator: IN, number of operands: %d", len(list))
	}
	return inExpr{operand: operand, list: list}, p.expect(")")
}

func (p *parser) parseOperand() (expr, error) {
	t := p.peek()
	switch {
	case t.is("("):
		return p.parseParentheses()
	case t.kind == tokenValue:
		p.at++
		return valueExpr{name: t.text}, nil
	case p.atCall():
		return p.parseCall(p.parseArgument)
	default:
		steps, err := p.parsePath()
		return pathExpr{path: steps}, err
	}
}

// parseArgument reads an operand inside a function's parentheses.
func (p *parser) parseArgument() (expr, error) {
	e, err := p.parseOperand()
	if err != nil {
		return nil, err
	}
	return e, p.wantOperand(e)
}

func (p *parser) parseParentheses() (expr, error) {
	p.at++
	doubled := p.peek().is("(")
	start := p.at
	e, err := p.parseOr()
	if err != nil {
		return nil, err
	}
	// ((a = :b)): what stood inside was one parenthesis and nothing else.
	if doubled && p.closesAt(start) == p.at-1 && p.peek().is(")") {
		return nil, validation("The expression has redundant parentheses;")
	}
	return e, p.expect(")")
}

// closesAt returns where the parenthesis that opens at i closes.
func (p *parser) closesAt(i int) int {
	depth := 0
	for ; i < len(p.tokens); i++ {
		switch {
		case p.tokens[i].is("("):
			depth++
		case p.tokens[i].is(")"):
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return i
}
