package locktest_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// everyType is an item with an attribute of every type.
func everyType() attrs {
	return attrs{
		"pk": str("k"), "s": str("hello"), "n": num("10"), "b": bin("bytes"), "yes": truth(true), "nil": null(),
		"m":  doc(attrs{"x": num("1"), "deep": list(doc(attrs{"y": str("found")}))}),
		"l":  list(num("1"), str("two"), list(num("3"))),
		"ss": strs("a", "b"), "ns": nums("1", "2.50"), "big": num("9007199254740993"),
		"owner": str("me"), "a.b": str("dotted"), "é": str("aé😀b"),
	}
}

var conditionValues = attrs{
	":hello": str("hello"), ":he": str("he"), ":z": str("z"), ":ten": num("10"), ":tenth": num("1e1"), ":five": num("5"),
	":one": num("1"), ":three": num("3"), ":yes": truth(true), ":null": null(), ":bytes": bin("bytes"), ":by": bin("by"),
	":ss": strs("b", "a"), ":ns": nums("2.5", "1.0"), ":a": str("a"), ":S": str("S"), ":NS": str("NS"),
	":near": num("9007199254740992"), ":m": doc(attrs{"y": str("found")}), ":found": str("found"), ":me": str("me"), ":two": num("2"),
	":l": list(num("3.0")),
}

func TestConditions(t *testing.T) {
	tests := []struct {
		condition string
		holds     bool
	}{
		{"s = :hello", true},
		{"s <> :hello", false},
		{"s = :ten", false},  // different types are not equal
		{"s <> :ten", true},  // and so are unequal
		{"s < :ten", false},  // but in no order
		{"s >= :ten", false}, // either way
		{"gone = :ten", false},
		{"gone <> :ten", true},
		{"gone < :ten", false},
		{"gone = other_one", false},
		{"gone <> other_one", true},
		{"n = :tenth", true}, // by value, not by text
		{":ten = n", true},
		{"n > :five AND n >= :ten AND n < :tenth", false},
		{"n > :five", true},
		{"big = :near", false}, // a float64 could not tell
		{"big > :near", true},
		{"b = :bytes", true},
		{"yes = :yes", true},
		{"nil = :null", true},
		{"ss = :ss", true},
		{"ns = :ns", true},
		{"l[2] = :l", true},
		{"m.deep[0] = :m", true},
		{"m.deep[0].y = :found", true},
		{"m.deep[1].y = :found", false},
		{"l.x = :found", false},
		{"#ab = :z", false},
		{"n BETWEEN :five AND :ten", true},
		{"n BETWEEN m.x AND :five", false},
		{"n BETWEEN gone AND :ten", false},
		{"NOT n BETWEEN :five AND :ten", false},
		{"n IN (:five, :ten)", true},
		{"n IN (:five, s)", false},
		{"s in (:z, :hello)", true},
		{"attribute_exists(s)", true},
		{"attribute_exists(m.x)", true},
		{"attribute_exists(l[3])", false},
		{"attribute_not_exists(l[3])", true},
		{"attribute_not_exists(gone)", true},
		{"attribute_type(s, :S)", true},
		{"attribute_type(ns, :NS)", true},
		{"attribute_type(s, :NS)", false},
		{"attribute_type(gone, :NS)", false},
		{"begins_with(s, :he)", true},
		{"begins_with(b, :by)", true},
		{"begins_with(b, :he)", false},
		{"begins_with(n, :he)", false},
		{"contains(s, :he)", true},
		{"contains(b, :by)", true},
		{"contains(ss, :a)", true},
		{"contains(ns, :two)", false},
		{"contains(ns, :one)", true},
		{"contains(l, :one)", true},
		{"contains(l, :l)", true},
		{"contains(l, :ten)", false},
		{"contains(n, :one)", false},
		{"contains(m, :found)", false},
		{"size(s) = :five", true},
		{"size(b) = :five", true},
		{"size(#e) = :five", true}, // UTF-16 code units, neither bytes nor letters
		{"size(l) = :three", true},
		{"size(m) = :two", true},
		{"size(ss) > :one", true},
		{"size(n) = :two", false},
		{"size(s) < n", true},
		{"size(gone) = :five", false},
		{"attribute_exists(gone) OR attribute_exists(s) AND attribute_exists(n)", true},
		{"attribute_exists(s) OR attribute_exists(n) AND attribute_exists(gone)", true}, // AND binds closer
		{"(attribute_exists(s) OR attribute_exists(n)) AND attribute_exists(gone)", false},
		{"NOT attribute_exists(gone) AND attribute_exists(s)", true}, // NOT binds closest
		{"NOT (attribute_exists(gone) OR attribute_exists(s))", false},
		{"NOT NOT s = :hello", true},
		{"not s = :hello or not s = :z", true},
		{"(s) = (:hello)", true},
		{"#o = :me", true},
		{"s = :hello" + strings.Repeat(" and (s = :hello", 149) + strings.Repeat(")", 149), true}, // 299 operators
	}
	db, client := newTable(t)
	for _, test := range tests {
		t.Run(test.condition, func(t *testing.T) {
			plant(t, db, everyType())
			names, values := used(test.condition)
			_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: text(table), Key: attrs{"pk": str("k")}, ConditionExpression: text(test.condition),
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			})
			switch code, message := codeAndMessage(t, err); {
			case test.holds && code != "":
				t.Errorf("got %s: %s, want it to hold", code, message)
			case !test.holds && code != "ConditionalCheckFailedException":
				t.Errorf("got %q: %s, want ConditionalCheckFailedException", code, message)
			}
			if exists := db.Item(table, attrs{"pk": str("k")}) != nil; exists == test.holds {
				t.Errorf("item exists = %t after a delete whose condition holds = %t", exists, test.holds)
			}
		})
	}
}

var conditionNames = map[string]string{"#o": "owner", "#ab": "a.b", "#e": "é"}

// used picks the placeholders that occur in an expression, as unused ones are
// an error.
func used(expression string) (names map[string]string, values attrs) {
	words := map[string]bool{}
	for i := range len(expression) {
		if expression[i] != ':' && expression[i] != '#' {
			continue
		}
		j := i + 1
		for j < len(expression) && (expression[j] >= 'a' && expression[j] <= 'z' || expression[j] >= 'A' && expression[j] <= 'Z') {
			j++
		}
		words[expression[i:j]] = true
	}
	for word := range words {
		if name, ok := conditionNames[word]; ok {
			if names == nil {
				names = map[string]string{}
			}
			names[word] = name
		}
		if v, ok := conditionValues[word]; ok {
			if values == nil {
				values = attrs{}
			}
			values[word] = v
		}
	}
	return names, values
}

func TestConditionErrors(t *testing.T) {
	tests := []struct {
		condition string
		names     map[string]string
		values    attrs
		message   string
	}{
		{"owner = :a", nil, attrs{":a": str("x")}, "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: owner"},
		{"a.Status = :a", nil, attrs{":a": str("x")}, "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: Status"},
		{"a = = :a", nil, attrs{":a": str("x")}, `Invalid ConditionExpression: Syntax error; token: "=", near: "= = :a"`},
		{"a =", nil, nil, `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="`},
		{"a", nil, nil, `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "a"`},
		{"_a = b", nil, nil, `Invalid ConditionExpression: Syntax error; token: "_", near: "_a"`},
		{"a = b)", nil, nil, `Invalid ConditionExpression: Syntax error; token: ")", near: "b)"`},
		{"(a = b", nil, nil, `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "b"`},
		{"a = b €", nil, nil, `Invalid ConditionExpression: Syntax error; token: "€", near: "b €"`},
		{"a IN ()", nil, nil, `Invalid ConditionExpression: Syntax error; token: ")", near: "()"`},
		{"", nil, nil, "Invalid ConditionExpression: The expression can not be empty;"},
		{"((a = b))", nil, nil, "Invalid ConditionExpression: The expression has redundant parentheses;"},
		{"foo(a)", nil, nil, "Invalid ConditionExpression: Invalid function name; function: foo"},
		{"size(a)", nil, nil, "Invalid ConditionExpression: The function is not allowed to be used this way in an expression; function: size"},
		{"attribute_exists(a) = b", nil, nil, "Invalid ConditionExpression: The function is not allowed to be used this way in an expression; function: attribute_exists"},
		{"if_not_exists(a, b) = c", nil, nil, "Invalid ConditionExpression: The function is not allowed in a condition expression; function: if_not_exists"},
		{"size(a, b) = c", nil, nil, "Invalid ConditionExpression: Incorrect number of operands for operator or function; operator or function: size, number of operands: 2"},
		{"attribute_exists(:a)", nil, attrs{":a": str("x")}, "Invalid ConditionExpression: Operator or function requires a document path; operator or function: attribute_exists"},
		{"begins_with(a, :a)", nil, attrs{":a": num("1")}, "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
		{"a < :a", nil, attrs{":a": truth(true)}, "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
		{"attribute_type(a, :a)", nil, attrs{":a": str("X")}, "Invalid ConditionExpression: Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
		{"a BETWEEN :a AND :b", nil, attrs{":a": num("2"), ":b": num("1")}, "Invalid ConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
		{"a BETWEEN :a AND :b", nil, attrs{":a": num("2"), ":b": str("1")}, "Invalid ConditionExpression: The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {S:1}"},
		{"a.b[0] = a.b[0]", nil, nil, "Invalid ConditionExpression: The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a, b, [0]]"},
		{"a = #b", map[string]string{"#b": "a"}, nil, "Invalid ConditionExpression: The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]"},
		{"contains(a, a)", nil, nil, "Invalid ConditionExpression: The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a]"},
		{"a BETWEEN size(b) OR c", nil, nil, `Invalid ConditionExpression: Syntax error; token: "OR", near: ") OR c"`},
		{"a = (b = c)", nil, nil, `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: ")"`},
		{"a AND b = c", nil, nil, `Invalid ConditionExpression: Syntax error; token: "AND", near: "a AND b"`},
		{"NOT a", nil, nil, `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "a"`},
		{"a IN (b, c = d)", nil, nil, `Invalid ConditionExpression: Syntax error; token: "=", near: "c = d"`},
		{"a IN (" + strings.Repeat("b, ", 100) + "c)", nil, nil, "Invalid ConditionExpression: Too many operands for operator: IN, number of operands: 101"},
		{strings.Repeat("(", 4096), nil, nil, `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`},
		{strings.Repeat("(", 2046) + "a<b" + strings.Repeat(")", 2046), nil, nil, "Invalid ConditionExpression: The expression has redundant parentheses;"},
		{strings.Repeat("size(", 680) + "b" + strings.Repeat(")", 680) + " = a", nil, nil, "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: size, operand type: N"},
		{strings.Repeat("NOT ", 1000) + "a = b", nil, nil, "Invalid ConditionExpression: The expression contains too many operators; operator count: 301"},
		{"a<b" + strings.Repeat(" or (a<b", 150) + strings.Repeat(")", 150), nil, nil, "Invalid ConditionExpression: The expression contains too many operators; operator count: 301"},
		{"a = b" + strings.Repeat(" ", 4096), nil, nil, "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4101"},
		{"a" + strings.Repeat(".a", 32) + " = b", nil, nil, "Invalid ConditionExpression: The document path has too many nesting elements; nesting level: 33"},
		{"attribute_type(a, b)", nil, nil, "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: attribute_type, operand type: document path"},
		{"#x = b", nil, nil, "Invalid ConditionExpression: An expression attribute name used in the document path is not defined; attribute name: #x"},
		{"a = :x", nil, nil, "Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :x"},
		{"a = b", nil, attrs{":x": str("x"), ":y": str("y")}, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x, :y}"},
		{"a = b", map[string]string{"#x": "x"}, nil, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"},
		{"a = b", map[string]string{"x": "x"}, nil, `ExpressionAttributeNames contains invalid key: Syntax error; key: "x"`},
		{"a = b", nil, attrs{"x": str("x")}, `ExpressionAttributeValues contains invalid key: Syntax error; key: "x"`},
		{"a = b", map[string]string{}, nil, "ExpressionAttributeNames must not be empty"},
		{"a = :x", nil, attrs{":x": num("1x")}, "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: 1x for key :x"},
		{"a = :x", nil, attrs{":x": strs()}, "ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An string set  may not be empty for key :x"},
		{"a[99999999999999999999] = b", nil, nil, "Invalid ConditionExpression: List index is not within the allowable range; index: [99999999999999999999]"},
	}
	_, client := newTable(t)
	for _, test := range tests {
		t.Run(test.condition, func(t *testing.T) {
			in := &dynamodb.PutItemInput{
				TableName: text(table), Item: attrs{"pk": str("k")}, ConditionExpression: &test.condition,
				ExpressionAttributeNames: test.names, ExpressionAttributeValues: test.values,
			}
			_, err := client.PutItem(t.Context(), in)
			wantError(t, err, "ValidationException", test.message)
		})
	}
}

func TestPlaceholdersNeedAnExpression(t *testing.T) {
	_, client := newTable(t)
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: text(table), Item: attrs{"pk": str("k")}, ExpressionAttributeNames: map[string]string{"#a": "a"},
	})
	wantError(t, err, "ValidationException", "ExpressionAttributeNames can only be specified when using expressions")
}
