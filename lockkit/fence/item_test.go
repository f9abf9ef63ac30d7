package fence_test

import (
	"errors"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/fence"
	"github.com/solotick/solotick/lockkit/locktest"
)

type attributes = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

const shop = "shop"

func reportKey() attributes { return attributes{"pk": str("REPORT#1")} }

func newTable(tb testing.TB) (*locktest.DB, *dynamodb.Client) {
	tb.Helper()
	db := locktest.New()
	client := db.Client(func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	if err := locktest.CreateTable(tb.Context(), client, shop, "pk", ""); err != nil {
		tb.Fatal(err)
	}
	return db, client
}

// update sends a guarded UpdateItem.
func update(t *testing.T, client *dynamodb.Client, guard fence.Item, in dynamodb.UpdateItemInput) error {
	t.Helper()
	in.TableName, in.Key = aws.String(shop), reportKey()
	guarded, err := guard.Update(&in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.UpdateItem(t.Context(), guarded)
	return guard.Refused(err)
}

// Every shape of update expression takes the mark, and every own condition
// keeps its meaning beside it.
func TestItemGuardsAnyUpdate(t *testing.T) {
	names := map[string]string{"#set": "set", "#a": "a"}
	for _, c := range []struct {
		expression, condition string
		names                 map[string]string
		values                attributes
		want                  attributes // besides key and mark
		refused               bool       // by the own condition
	}{
		{want: attributes{"a": num(1), "n": num(1)}},
		{expression: "SET a = :v", values: attributes{":v": num(7)}, want: attributes{"a": num(7), "n": num(1)}},
		{expression: "set a = :v, b = :v", values: attributes{":v": num(7)}, want: attributes{"a": num(7), "b": num(7), "n": num(1)}},
		{expression: "SET#a=:v", names: map[string]string{"#a": "a"}, values: attributes{":v": num(7)}, want: attributes{"a": num(7), "n": num(1)}},
		{expression: "REMOVE a", want: attributes{"n": num(1)}},
		{expression: "REMOVE a SET b = :v", values: attributes{":v": num(7)}, want: attributes{"b": num(7), "n": num(1)}},
		{expression: "\n\tADD n :set\n", values: attributes{":set": num(2)}, want: attributes{"a": num(1), "n": num(3)}},
		{expression: "REMOVE #set, #a", names: names, want: attributes{"n": num(1)}},
		{expression: "ADD n :v SET #set = :v REMOVE #a", names: names, values: attributes{":v": num(2)}, want: attributes{"set": num(2), "n": num(3)}},
		{
			expression: "SET #fence_mark = :fence_token, #fence_mark2 = :fence_token",
			names:      map[string]string{"#fence_mark": "b", "#fence_mark2": "c"}, values: attributes{":fence_token": num(7)},
			want: attributes{"a": num(1), "b": num(7), "c": num(7), "n": num(1)},
		},
		{condition: "attribute_exists(a)", want: attributes{"a": num(1), "n": num(1)}},
		{condition: "(attribute_exists(a))", want: attributes{"a": num(1), "n": num(1)}},
		{condition: " ", want: attributes{"a": num(1), "n": num(1)}},
		{condition: "attribute_exists(x) OR attribute_exists(a)", want: attributes{"a": num(1), "n": num(1)}},
		{condition: "(attribute_exists(x)) OR (attribute_exists(a))", want: attributes{"a": num(1), "n": num(1)}},
		{condition: "attribute_not_exists(a)", refused: true},
		{condition: "attribute_exists(x) OR attribute_not_exists(a)", refused: true},
		{condition: "(attribute_exists(x)) OR (attribute_not_exists(a))", refused: true},
		{condition: "NOT attribute_exists(a)", refused: true},
	} {
		label := c.expression + " / " + c.condition
		for _, mark := range []int64{0, 4, 5, 6} { // 0: none yet
			db, client := newTable(t)
			before := attributes{"a": num(1), "n": num(1)}
			maps.Copy(before, reportKey())
			if mark != 0 {
				before["fence"] = num(mark)
			}
			db.Put(shop, before)
			in := dynamodb.UpdateItemInput{ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values}
			if c.expression != "" {
				in.UpdateExpression = aws.String(c.expression)
			}
			if c.condition != "" {
				in.ConditionExpression = aws.String(c.condition)
			}
			names, values := maps.Clone(c.names), maps.Clone(c.values)
			err := update(t, client, fence.Item{Resource: "report", Token: 5}, in)
			if !reflect.DeepEqual(names, c.names) || !reflect.DeepEqual(values, c.values) {
				t.Errorf("%s: the caller's maps were changed: %v, %v", label, c.names, c.values)
			}
			want := before
			_, refused := errors.AsType[*types.ConditionalCheckFailedException](err)
			switch {
			case mark > 5:
				if stale, ok := errors.AsType[*fence.StaleError](err); !ok || *stale != (fence.StaleError{Resource: "report", Token: 5, Highest: mark}) {
					t.Errorf("%s: mark %d: %v", label, mark, err)
				}
			case c.refused:
				if !refused || errors.Is(err, fence.ErrStale) {
					t.Errorf("%s: mark %d: %v", label, mark, err)
				}
			default:
				if err != nil {
					t.Errorf("%s: mark %d: %v", label, mark, err)
				}
				want = maps.Clone(c.want)
				maps.Copy(want, reportKey())
				want["fence"] = num(5)
			}
			if got := db.Item(shop, reportKey()); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: mark %d: the item is %v, expected %v", label, mark, got, want)
			}
		}
	}
}

// A refusal is stale, the caller's own, or neither, in single writes and in
// transactions.
func TestGuaranteeRefusalsAreStale(t *testing.T) {
	guard := fence.Item{Resource: "report", Attribute: "token", Token: exact}
	stale := fence.StaleError{Resource: "report", Token: exact, Highest: exact + 1}
	own := aws.String("attribute_exists(amount)")
	item := attributes{"amount": num(3), "token": num(1)} // a mark read earlier is replaced
	maps.Copy(item, reportKey())
	sends := map[string]func(*testing.T, *dynamodb.Client) error{
		"put": func(t *testing.T, client *dynamodb.Client) error {
			t.Helper()
			in, err := guard.Put(&dynamodb.PutItemInput{TableName: aws.String(shop), Item: item, ConditionExpression: own})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.PutItem(t.Context(), in)
			return guard.Refused(err)
		},
		"update": func(t *testing.T, client *dynamodb.Client) error {
			t.Helper()
			return update(t, client, guard, dynamodb.UpdateItemInput{ConditionExpression: own})
		},
		"put in a transaction": func(t *testing.T, client *dynamodb.Client) error {
			t.Helper()
			action, err := guard.TransactPut(types.Put{TableName: aws.String(shop), Item: item, ConditionExpression: own})
			return transact(t, client, guard, action, err)
		},
		"update in a transaction": func(t *testing.T, client *dynamodb.Client) error {
			t.Helper()
			action, err := guard.TransactUpdate(types.Update{TableName: aws.String(shop), Key: reportKey(), ConditionExpression: own})
			return transact(t, client, guard, action, err)
		},
	}
	for name, send := range sends {
		for _, c := range []struct {
			name  string
			found attributes // nil: no item
			want  string
		}{
			{"no item", nil, "own"},
			{"no mark", attributes{}, "own"},
			{"no mark, own condition holds", attributes{"amount": num(1)}, "lands"},
			{"lower mark", attributes{"amount": num(1), "token": num(exact - 1)}, "lands"},
			{"equal mark", attributes{"amount": num(1), "token": num(exact)}, "lands"},
			{"lower mark, own condition fails", attributes{"token": num(exact - 1)}, "own"},
			{"higher mark", attributes{"amount": num(1), "token": num(exact + 1)}, "stale"},
			{"higher mark, own condition fails", attributes{"token": num(exact + 1)}, "stale"},
			{"a string for a mark", attributes{"amount": num(1), "token": str("5")}, "broken"},
			{"a mark that no lock gives out", attributes{"amount": num(1), "token": &types.AttributeValueMemberN{Value: "9223372036854775808"}}, "broken"},
		} {
			db, client := newTable(t)
			if c.found != nil {
				maps.Copy(c.found, reportKey())
				db.Put(shop, c.found)
			}
			err := send(t, client)
			e, isStale := errors.AsType[*fence.StaleError](err)
			_, refused := errors.AsType[*types.ConditionalCheckFailedException](err)
			_, cancelled := errors.AsType[*types.TransactionCanceledException](err)
			got := "another error"
			switch {
			case err == nil:
				got = "lands"
				if left := db.Item(shop, reportKey()); !reflect.DeepEqual(left["token"], num(exact)) {
					t.Errorf("%s, %s: the mark is %v", name, c.name, left["token"])
				}
			case isStale && *e == stale:
				got = "stale"
			case strings.Contains(err.Error(), "expected a mark"):
				got = "broken"
			case refused || cancelled:
				got = "own"
			}
			if got != c.want {
				t.Errorf("%s, %s: %s, expected %s: %v", name, c.name, got, c.want, err)
			}
		}
	}
	if !reflect.DeepEqual(item["token"], num(1)) {
		t.Errorf("the caller's item was changed: %v", item)
	}
}

// transact sends an action beside one that passes, at index 1.
func transact(t *testing.T, client *dynamodb.Client, guard fence.Item, action types.TransactWriteItem, err error) error {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String(shop), Item: attributes{"pk": str("OTHER")}}}, action,
	}})
	for _, other := range []int{-1, 0, 2} {
		if errors.Is(guard.RefusedAt(err, other), fence.ErrStale) {
			t.Errorf("action %d counts as stale", other)
		}
	}
	return guard.RefusedAt(err, 1)
}

// Two locks may guard one item, each with a mark of its own.
func TestTwoMarksOnOneItem(t *testing.T) {
	db, client := newTable(t)
	a, b := fence.Item{Resource: "report", Attribute: "a", Token: 5}, fence.Item{Resource: "report", Attribute: "b", Token: 9}
	once, err := a.Update(&dynamodb.UpdateItemInput{TableName: aws.String(shop), Key: reportKey()})
	if err != nil {
		t.Fatal(err)
	}
	twice, err := b.Update(once)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.UpdateItem(t.Context(), twice); err != nil {
		t.Fatal(err)
	}
	if got := db.Item(shop, reportKey()); !reflect.DeepEqual(got["a"], num(5)) || !reflect.DeepEqual(got["b"], num(9)) {
		t.Errorf("the item is %v", got)
	}
	lower := fence.Item{Resource: "report", Attribute: "a", Token: 4}
	again, err := lower.Update(twice)
	if err == nil {
		_, err = client.UpdateItem(t.Context(), again)
	}
	if err == nil {
		t.Error("a lower token of one of the locks was let through")
	}
}
