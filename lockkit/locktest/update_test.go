package locktest_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestUpdates(t *testing.T) {
	pk := func(more attrs) attrs {
		it := attrs{"pk": str("k")}
		maps.Copy(it, more)
		return it
	}
	tests := []struct {
		update string
		old    attrs // without the key; nil: no item
		values attrs
		want   attrs // without the key; nil: no item
	}{
		{"SET a = :v", nil, attrs{":v": num("1")}, attrs{"a": num("1")}},
		{"set a = :v, b = a", attrs{"a": num("1")}, attrs{":v": num("2")}, attrs{"a": num("2"), "b": num("1")}}, // reads the old item
		{"SET a = b, b = a", attrs{"a": num("1"), "b": num("2")}, nil, attrs{"a": num("2"), "b": num("1")}},
		{"SET a = a + :v", attrs{"a": num("9007199254740992")}, attrs{":v": num("1")}, attrs{"a": num("9007199254740993")}},
		{"SET a = :v - a", attrs{"a": num("0.1")}, attrs{":v": num("0.3")}, attrs{"a": num("0.2")}},
		{"SET a = (a + :v)", attrs{"a": num("1")}, attrs{":v": num("1")}, attrs{"a": num("2")}},
		{"SET a = if_not_exists(a, :v) + :v", nil, attrs{":v": num("5")}, attrs{"a": num("10")}},
		{"SET a = if_not_exists(a, :v) + :v", attrs{"a": num("1")}, attrs{":v": num("5")}, attrs{"a": num("6")}},
		{"SET a = if_not_exists(b, if_not_exists(c, :v))", attrs{"c": str("c")}, attrs{":v": num("5")}, attrs{"a": str("c"), "c": str("c")}},
		{"SET a = list_append(a, :v)", attrs{"a": list(num("1"))}, attrs{":v": list(num("2"))}, attrs{"a": list(num("1"), num("2"))}},
		{"SET a = list_append(if_not_exists(a, :e), :v)", nil, attrs{":e": list(), ":v": list(num("2"))}, attrs{"a": list(num("2"))}},
		{"SET a[7] = :x, a[3] = :y, a[0] = :z", attrs{"a": list(num("1"), num("2"))}, attrs{":x": str("x"), ":y": str("y"), ":z": str("z")}, attrs{"a": list(str("z"), num("2"), str("y"), str("x"))}},
		{"SET m.x = :v, m.y = m.x", attrs{"m": doc(attrs{"x": num("1")})}, attrs{":v": num("2")}, attrs{"m": doc(attrs{"x": num("2"), "y": num("1")})}},
		{"SET m.l[0].z = :v", attrs{"m": doc(attrs{"l": list(doc(attrs{}))})}, attrs{":v": num("2")}, attrs{"m": doc(attrs{"l": list(doc(attrs{"z": num("2")}))})}},
		{"REMOVE a, b", attrs{"a": num("1"), "c": num("3")}, nil, attrs{"c": num("3")}},
		{"REMOVE a[1], a[3], a[9]", attrs{"a": list(num("0"), num("1"), num("2"), num("3"))}, nil, attrs{"a": list(num("0"), num("2"))}},
		{"REMOVE a[1] SET a[3] = :v", attrs{"a": list(num("2"), num("3"), num("4"), num("5"), num("6"))}, attrs{":v": num("17")}, attrs{"a": list(num("2"), num("4"), num("17"), num("6"))}},
		{"REMOVE a[0], a[1].x", attrs{"a": list(num("0"), doc(attrs{"x": num("1"), "y": num("2")}))}, nil, attrs{"a": list(doc(attrs{"y": num("2")}))}},
		{"REMOVE m.x", attrs{"m": doc(attrs{"x": num("1")})}, nil, attrs{"m": doc(attrs{})}},
		{"REMOVE m.gone", attrs{"m": doc(attrs{})}, nil, attrs{"m": doc(attrs{})}},
		{"REMOVE a", nil, nil, nil}, // taking from nothing makes no item
		{"REMOVE a.b", nil, nil, nil},
		{"DELETE a :v", nil, attrs{":v": strs("x")}, nil},
		{"REMOVE a SET b = :v", nil, attrs{":v": num("1")}, attrs{"b": num("1")}},
		{"ADD a :v", nil, attrs{":v": num("7")}, attrs{"a": num("7")}},
		{"ADD a :v", attrs{"a": num("1.50")}, attrs{":v": num("-0.5")}, attrs{"a": num("1")}},
		{"ADD a :v", attrs{"a": strs("x")}, attrs{":v": strs("y", "x")}, attrs{"a": strs("x", "y")}},
		{"ADD m.n :v", attrs{"m": doc(attrs{})}, attrs{":v": nums("1")}, attrs{"m": doc(attrs{"n": nums("1")})}},
		{"DELETE a :v", attrs{"a": strs("x", "y", "z")}, attrs{":v": strs("y", "w")}, attrs{"a": strs("x", "z")}},
		{"DELETE a :v", attrs{"a": nums("1", "2")}, attrs{":v": nums("2.0", "1")}, attrs{}}, // an empty set goes
		{"DELETE a :v ADD b :n SET c = :n REMOVE d", attrs{"d": null()}, attrs{":v": strs("x"), ":n": num("1")}, attrs{"b": num("1"), "c": num("1")}},
		{"SET a = :s, b = :l, c = :m, d = :b", nil, attrs{":s": str(""), ":l": list(), ":m": doc(attrs{}), ":b": bin("")}, attrs{"a": str(""), "b": list(), "c": doc(attrs{}), "d": bin("")}},
	}
	for _, test := range tests {
		t.Run(test.update, func(t *testing.T) {
			db, client := newTable(t)
			if test.old != nil {
				plant(t, db, pk(test.old))
			}
			_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: text(table), Key: pk(nil), UpdateExpression: &test.update, ExpressionAttributeValues: test.values,
			})
			if err != nil {
				t.Fatal(err)
			}
			var want attrs
			if test.want != nil {
				want = pk(test.want)
			}
			if got := db.Item(table, pk(nil)); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %s\nwant %s", show(got), show(want))
			}
		})
	}
}

func TestUpdateErrors(t *testing.T) {
	old := attrs{
		"pk": str("k"), "s": str("x"), "n": num("1"), "m": doc(attrs{}), "l": list(), "ss": strs("a"),
		"huge": num("9e125"), "e50": num("1e50"),
	}
	tests := []struct {
		update  string
		values  attrs
		message string
	}{
		{"SET owner = :v", attrs{":v": str("x")}, "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: owner"},
		{"SET a = gone", nil, "The provided expression refers to an attribute that does not exist in the item"},
		{"SET a = n + s", nil, "An operand in the update expression has an incorrect data type"},
		{"SET a = list_append(n, l)", nil, "An operand in the update expression has an incorrect data type"},
		{"ADD s :v", attrs{":v": num("1")}, "An operand in the update expression has an incorrect data type"},
		{"ADD ss :v", attrs{":v": num("1")}, "An operand in the update expression has an incorrect data type"},
		{"DELETE ss :v", attrs{":v": nums("1")}, "An operand in the update expression has an incorrect data type"},
		{"SET a = :v + n", attrs{":v": str("1")}, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: +, operand type: S"},
		{"SET a = list_append(l, :v)", attrs{":v": str("1")}, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: list_append, operand type: S"},
		{"ADD a :v", attrs{":v": str("1")}, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"DELETE a :v", attrs{":v": num("1")}, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND"},
		{"SET a.b = :v", attrs{":v": num("1")}, "The document path provided in the update expression is invalid for update"},
		{"SET s.b = :v", attrs{":v": num("1")}, "The document path provided in the update expression is invalid for update"},
		{"SET m[0] = :v", attrs{":v": num("1")}, "The document path provided in the update expression is invalid for update"},
		{"SET l.b = :v", attrs{":v": num("1")}, "The document path provided in the update expression is invalid for update"},
		{"SET m.b.c = :v", attrs{":v": num("1")}, "The document path provided in the update expression is invalid for update"},
		{"REMOVE a.b", nil, "The document path provided in the update expression is invalid for update"},
		{"REMOVE s[0]", nil, "The document path provided in the update expression is invalid for update"},
		{"SET m = :v, m.b = :v", attrs{":v": num("1")}, "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m], path two: [m, b]"},
		{"SET a = :v REMOVE a", attrs{":v": num("1")}, "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]"},
		{"SET m.b = :v, m[1] = :v", attrs{":v": num("1")}, "Invalid UpdateExpression: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [m, b], path two: [m, [1]]"},
		{"SET a = :v SET b = :v", attrs{":v": num("1")}, `Invalid UpdateExpression: The "SET" section can only be used once in an update expression;`},
		{"SET a = :v + :v + :v", attrs{":v": num("1")}, `Invalid UpdateExpression: Syntax error; token: "+", near: ":v + :v"`},
		{"SET a = if_not_exists(a, :v + :v)", attrs{":v": num("1")}, `Invalid UpdateExpression: Syntax error; token: "+", near: ":v + :v"`},
		{"SET a = size(s)", nil, "Invalid UpdateExpression: The function is not allowed in an update expression; function: size"},
		{"SET a = LIST_APPEND(l, l)", nil, "Invalid UpdateExpression: Invalid function name; function: LIST_APPEND"},
		{"SET a = list_append(list_append(l, l), l)", nil, "Invalid UpdateExpression: The function is not allowed to be used this way in an expression; function: list_append"},
		{"SET a = if_not_exists(:v, :v)", attrs{":v": num("1")}, "Invalid UpdateExpression: Operator or function requires a document path; operator or function: if_not_exists"},
		{"a = :v", attrs{":v": num("1")}, `Invalid UpdateExpression: Syntax error; token: "a", near: "a ="`},
		{"ADD a b", nil, `Invalid UpdateExpression: Syntax error; token: "b", near: "a b"`},
		{"", nil, "Invalid UpdateExpression: The expression can not be empty;"},
		{"SET pk = :v", attrs{":v": str("x")}, "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key"},
		{"SET a = huge + huge", nil, "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{"SET a = e50 + n", nil, "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{"SET a = :v", attrs{":v": str(strings.Repeat("x", 400*1024))}, "Item size to update has exceeded the maximum allowed size"},
	}
	db, client := newTable(t)
	for _, test := range tests {
		t.Run(test.update, func(t *testing.T) {
			plant(t, db, old)
			before := db.Item(table, attrs{"pk": str("k")})
			_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: text(table), Key: attrs{"pk": str("k")}, UpdateExpression: &test.update, ExpressionAttributeValues: test.values,
			})
			wantError(t, err, "ValidationException", test.message)
			if after := db.Item(table, attrs{"pk": str("k")}); !reflect.DeepEqual(before, after) {
				t.Errorf("a refused update left %s", show(after))
			}
		})
	}
}

func TestUpdateReturnValues(t *testing.T) {
	old := attrs{"pk": str("k"), "a": num("1"), "m": doc(attrs{"x": num("1"), "y": num("2")}), "l": list(num("0"), num("1"))}
	tests := []struct {
		update string
		values types.ReturnValue
		want   attrs
	}{
		{"SET a = :v", types.ReturnValueNone, nil},
		{"SET a = :v", "", nil},
		{"SET a = :v", types.ReturnValueAllOld, old},
		{"SET m.x = :v", types.ReturnValueUpdatedOld, attrs{"m": doc(attrs{"x": num("1")})}},
		{"SET m.x = :v, l[1] = :v", types.ReturnValueUpdatedNew, attrs{"m": doc(attrs{"x": num("9")}), "l": list(num("9"))}},
		{"SET z = :v", types.ReturnValueUpdatedOld, nil},
		{"SET z = :v REMOVE a", types.ReturnValueUpdatedNew, attrs{"z": num("9")}},
		{"SET a = :v REMOVE m, l", types.ReturnValueAllNew, attrs{"pk": str("k"), "a": num("9")}},
	}
	db, client := newTable(t)
	for _, test := range tests {
		t.Run(test.update+" "+string(test.values), func(t *testing.T) {
			plant(t, db, old)
			out, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: text(table), Key: attrs{"pk": str("k")}, UpdateExpression: &test.update, ReturnValues: test.values,
				ExpressionAttributeValues: attrs{":v": num("9")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(out.Attributes, test.want) {
				t.Errorf("got  %s\nwant %s", show(out.Attributes), show(test.want))
			}
		})
	}
}

func TestUpdateWithoutExpressionMakesABareItem(t *testing.T) {
	db, client := newTable(t)
	key := attrs{"pk": str("k")}
	if _, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: text(table), Key: key}); err != nil {
		t.Fatal(err)
	}
	if got := db.Item(table, key); !reflect.DeepEqual(got, key) {
		t.Errorf("got %s", show(got))
	}
}
