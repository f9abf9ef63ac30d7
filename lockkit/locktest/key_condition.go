package locktest

import "slices"

// checkCondition checks that a bound condition is one that a query may use for
// this key (the partition attribute = :value, and possibly one range of the sort
// attribute) and returns the partition it selects.
func (k keySchema) checkCondition(e expr) (partition value, err error) {
	parts, err := conjuncts(e)
	if err != nil {
		return value{}, err
	}
	seen := make(map[string]bool, 2)
	for _, part := range parts {
		name, operator, values, err := keyPart(part)
		if err != nil {
			return value{}, err
		}
		if seen[name] {
			return value{}, validation("KeyConditionExpressions must only contain one condition per key")
		}
		seen[name] = true
		attribute := k.partition
		switch {
		case name == k.partition.name:
			if operator != "=" {
				return value{}, validation("Query key condition not supported")
			}
			partition = values[0]
		case k.hasSort() && name == k.sort.name:
			attribute = k.sort
		default:
			missing := k.partition.name
			if seen[missing] && k.hasSort() {
				missing = k.sort.name
			}
			return value{}, validation("Query condition missed key schema element: %s", missing)
		}
		if err := checkKeyValues(attribute, operator, values); err != nil {
			return value{}, err
		}
	}
	if !seen[k.partition.name] {
		return value{}, validation("Query condition missed key schema element: %s", k.partition.name)
	}
	return partition, nil
}

// conjuncts splits a condition at its ANDs.
func conjuncts(e expr) ([]expr, error) {
	switch e := e.(type) {
	case logicExpr:
		if e.operator != "AND" {
			return nil, validation("Invalid operator used in KeyConditionExpression: OR")
		}
		left, err := conjuncts(e.left)
		if err != nil {
			return nil, err
		}
		right, err := conjuncts(e.right)
		return append(left, right...), err
	case notExpr:
		return nil, validation("Invalid operator used in KeyConditionExpression: NOT")
	case inExpr:
		return nil, validation("Invalid operator used in KeyConditionExpression: IN")
	default:
		return []expr{e}, nil
	}
}

// keyPart takes one comparison of a key attribute apart.
func keyPart(e expr) (name, operator string, values []value, err error) {
	var operands []expr
	switch e := e.(type) {
	case compareExpr:
		operator, operands = e.operator, []expr{e.left, e.right}
		if _, reversed := e.left.(valueExpr); reversed {
			operands = []expr{e.right, e.left}
		}
		if operator == "<>" {
			return "", "", nil, validation("Invalid operator used in KeyConditionExpression: <>")
		}
	case betweenExpr:
		operator, operands = "BETWEEN", []expr{e.operand, e.low, e.high}
	case callExpr:
		if e.function != "begins_with" {
			return "", "", nil, validation("Invalid operator used in KeyConditionExpression: %s", e.function)
		}
		operator, operands = e.function, e.args
	}
	p, ok := operands[0].(pathExpr)
	if !ok {
		return "", "", nil, validation("Invalid condition in KeyConditionExpression: Multiple attribute values used in one condition")
	}
	if len(p.path) > 1 {
		return "", "", nil, validation("KeyConditionExpressions cannot have conditions on nested attributes")
	}
	for _, o := range operands[1:] {
		v, ok := o.(valueExpr)
		if !ok {
			return "", "", nil, validation("Invalid condition in KeyConditionExpression: %s operator must have the key attribute and a value", operator)
		}
		values = append(values, v.value)
	}
	return p.path[0].name, operator, values, nil
}

func checkKeyValues(a keyAttribute, operator string, values []value) error {
	if slices.ContainsFunc(values, func(v value) bool { return v.kind != a.kind }) || operator == "begins_with" && a.kind == kindNumber {
		return invalidParameter("Condition parameter type does not match schema type")
	}
	for _, v := range values {
		if v.kind != kindNumber && v.text == "" && operator == "=" {
			return validation("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", a.name)
		}
	}
	return nil
}
