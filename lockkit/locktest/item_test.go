package locktest_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
)

func TestEveryTypeSurvives(t *testing.T) {
	db, client := newTable(t)
	it := everyType()
	it["bs"] = &types.AttributeValueMemberBS{Value: [][]byte{{0, 1}, {255}}}
	it["ns"] = nums("1", "2.5")
	it["quotes"] = str("\"\\\n<&>\u2028é😀")
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: it}); err != nil {
		t.Fatal(err)
	}
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: text(table), Key: attrs{"pk": str("k")}})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(out.Item, it) {
		t.Errorf("GetItem: got %s\nwant %s", show(out.Item), show(it))
	}
	if direct := db.Item(table, attrs{"pk": str("k")}); !reflect.DeepEqual(direct, it) {
		t.Errorf("Item: got %s\nwant %s", show(direct), show(it))
	}
}

func TestItemErrors(t *testing.T) {
	deep := str("x")
	for range 40 {
		deep = list(deep)
	}
	tests := []struct {
		name    string
		item    attrs
		message string
	}{
		{"no key", attrs{"a": str("x")}, "One or more parameter values were invalid: Missing the key pk in the item"},
		{"key type", attrs{"pk": num("1"), "sk": str("s")}, "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"},
		{"empty key", attrs{"pk": str(""), "sk": str("s")}, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"},
		{"long partition key", attrs{"pk": str(strings.Repeat("x", 2049)), "sk": str("s")}, "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{"long sort key", attrs{"pk": str("x"), "sk": str(strings.Repeat("x", 1025))}, "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
		{"too large", attrs{"pk": str("x"), "sk": str("s"), "a": str(strings.Repeat("x", 400*1024-6))}, "Item size has exceeded the maximum allowed size"},
		{"too deep", attrs{"pk": str("x"), "sk": str("s"), "a": deep}, "Nesting Levels have exceeded supported limits"},
		{"false null", attrs{"pk": str("x"), "sk": str("s"), "a": &types.AttributeValueMemberNULL{}}, "One or more parameter values were invalid: Null attribute value types must have the value of true"},
		{"empty set", attrs{"pk": str("x"), "sk": str("s"), "a": &types.AttributeValueMemberNS{Value: []string{}}}, "One or more parameter values were invalid: An number set  may not be empty"},
		{"twice in a set", attrs{"pk": str("x"), "sk": str("s"), "a": nums("1", "1.0")}, "One or more parameter values were invalid: Input collection [1, 1] contains duplicates."},
	}
	db, client := newSorted(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: test.item})
			wantError(t, err, "ValidationException", test.message)
			if err := db.Put(table, test.item); err == nil || err.Error() != "ValidationException: "+test.message {
				t.Errorf("Put: %v", err)
			}
		})
	}
	fits := attrs{"pk": str("x"), "sk": str("s"), "a": str(strings.Repeat("x", 400*1024-7))}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: fits}); err != nil {
		t.Errorf("an item of exactly 400 KB: %v", err)
	}
}

func TestKeyErrors(t *testing.T) {
	db, client := newSorted(t)
	for name, key := range map[string]attrs{
		"part of it": {"pk": str("x")},
		"more":       {"pk": str("x"), "sk": str("x"), "a": str("x")},
		"other":      {"pk": str("x"), "a": str("x")},
		"type":       {"pk": str("x"), "sk": num("1")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: text(table), Key: key})
			wantError(t, err, "ValidationException", "The provided key element does not match the schema")
			if err := db.Delete(table, key); err == nil {
				t.Error("Delete took the key")
			}
			if db.Item(table, key) != nil {
				t.Error("Item took the key")
			}
		})
	}
}

func TestMissingTable(t *testing.T) {
	db := locktest.New()
	client := db.Client()
	_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: text("nowhere"), Key: attrs{"pk": str("x")}})
	wantError(t, err, "ResourceNotFoundException", "Requested resource not found")
	if err := db.Put("nowhere", attrs{}); err == nil {
		t.Error("Put found a table")
	}
	if db.Item("nowhere", attrs{}) != nil {
		t.Error("Item found a table")
	}
}

func TestRefusalHandsOutTheItem(t *testing.T) {
	db, client := newTable(t)
	plant(t, db, everyType())
	key := attrs{"pk": str("k")}
	never := aws.String("attribute_not_exists(pk)")
	calls := map[string]func(types.ReturnValuesOnConditionCheckFailure) error{
		"PutItem": func(r types.ReturnValuesOnConditionCheckFailure) error {
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: key, ConditionExpression: never, ReturnValuesOnConditionCheckFailure: r})
			return err
		},
		"UpdateItem": func(r types.ReturnValuesOnConditionCheckFailure) error {
			_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: text(table), Key: key, ConditionExpression: never, ReturnValuesOnConditionCheckFailure: r})
			return err
		},
		"DeleteItem": func(r types.ReturnValuesOnConditionCheckFailure) error {
			_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: text(table), Key: key, ConditionExpression: never, ReturnValuesOnConditionCheckFailure: r})
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			want := db.Item(table, key)
			for _, r := range []types.ReturnValuesOnConditionCheckFailure{"ALL_OLD", "NONE", ""} {
				var refused *types.ConditionalCheckFailedException
				if err := call(r); !errors.As(err, &refused) {
					t.Fatal(err)
				}
				if refused.ErrorMessage() != "The conditional request failed" {
					t.Errorf("message %q", refused.ErrorMessage())
				}
				switch {
				case r == "ALL_OLD" && !reflect.DeepEqual(refused.Item, want):
					t.Errorf("got %s", show(refused.Item))
				case r != "ALL_OLD" && refused.Item != nil:
					t.Errorf("%q: got %s", r, show(refused.Item))
				}
			}
		})
	}
}

func TestPutAndDeleteReturnTheOldItem(t *testing.T) {
	_, client := newTable(t)
	old, now := attrs{"pk": str("k"), "a": num("1")}, attrs{"pk": str("k"), "a": num("2")}
	put := func(it attrs) attrs {
		out, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: it, ReturnValues: types.ReturnValueAllOld})
		if err != nil {
			t.Fatal(err)
		}
		return out.Attributes
	}
	if got := put(old); got != nil {
		t.Errorf("the first put returned %s", show(got))
	}
	if got := put(now); !reflect.DeepEqual(got, old) {
		t.Errorf("the second put returned %s", show(got))
	}
	out, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: text(table), Key: attrs{"pk": str("k")}, ReturnValues: types.ReturnValueAllOld})
	if err != nil || !reflect.DeepEqual(out.Attributes, now) {
		t.Errorf("the delete returned %v, %v", out, err)
	}
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: old, ReturnValues: types.ReturnValueAllNew})
	wantError(t, err, "ValidationException", "ReturnValues can only be ALL_OLD or NONE")
}

func TestProjection(t *testing.T) {
	db, client := newTable(t)
	plant(t, db, everyType())
	tests := []struct {
		projection string
		want       attrs
	}{
		{"s, n", attrs{"s": str("hello"), "n": num("10")}},
		{"m.x, m.deep[0].y", attrs{"m": doc(attrs{"x": num("1"), "deep": list(doc(attrs{"y": str("found")}))})}},
		{"l[2][0], l[0]", attrs{"l": list(num("1"), list(num("3")))}},
		{"#o", attrs{"owner": str("me")}},
		{"gone, m.gone, l[9]", attrs{}},
	}
	for _, test := range tests {
		t.Run(test.projection, func(t *testing.T) {
			names, _ := used(test.projection)
			out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
				TableName: text(table), Key: attrs{"pk": str("k")}, ProjectionExpression: &test.projection, ExpressionAttributeNames: names,
			})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(out.Item, test.want) {
				t.Errorf("got %s", show(out.Item))
			}
		})
	}
	_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: text(table), Key: attrs{"pk": str("k")}, ProjectionExpression: text("m, m.x")})
	wantError(t, err, "ValidationException", "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m], path two: [m, x]")
}

func TestLegacyParametersAreRefused(t *testing.T) {
	_, client := newTable(t)
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: text(table), Item: attrs{"pk": str("k")},
		Expected: map[string]types.ExpectedAttributeValue{"pk": {Exists: aws.Bool(false)}},
	})
	wantError(t, err, "ValidationException", "locktest does not support the legacy parameter Expected; use an expression")
}

func TestConsumedCapacity(t *testing.T) {
	db, client := newTable(t)
	plant(t, db, attrs{"pk": str("big"), "a": str(strings.Repeat("x", 5000))})
	key := attrs{"pk": str("big")}
	get := func(consistent bool) *types.ConsumedCapacity {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: text(table), Key: key, ConsistentRead: &consistent, ReturnConsumedCapacity: "TOTAL"})
		if err != nil {
			t.Fatal(err)
		}
		return out.ConsumedCapacity
	}
	write, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: text(table), Key: key, UpdateExpression: text("REMOVE a"), ReturnConsumedCapacity: "TOTAL"})
	if err != nil {
		t.Fatal(err)
	}
	small := get(true)
	plant(t, db, attrs{"pk": str("big"), "a": str(strings.Repeat("x", 5000))})
	transaction, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: "TOTAL", TransactItems: []types.TransactWriteItem{
		{Delete: &types.Delete{TableName: text(table), Key: key}},
		{Put: &types.Put{TableName: text(table), Item: attrs{"pk": str("small")}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	plant(t, db, attrs{"pk": str("big"), "a": str(strings.Repeat("x", 5000))})
	for name, c := range map[string]struct {
		got  *types.ConsumedCapacity
		want float64
	}{
		"update bills the larger image": {write.ConsumedCapacity, 5},
		"small consistent read":         {small, 1},
		"consistent read":               {get(true), 2},
		"eventually consistent read":    {get(false), 1},
		"transaction bills twice":       {&transaction.ConsumedCapacity[0], 12},
	} {
		if c.got == nil || *c.got.CapacityUnits != c.want || *c.got.TableName != table {
			t.Errorf("%s: got %+v, want %v", name, c.got, c.want)
		}
	}
	none, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: text(table), Key: key})
	if err != nil || none.ConsumedCapacity != nil {
		t.Errorf("unasked: %v, %v", none.ConsumedCapacity, err)
	}
}
