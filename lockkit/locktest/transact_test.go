package locktest_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func pk(name string) attrs { return attrs{"pk": str(name)} }

func putAction(it attrs) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: text(table), Item: it}}
}

func addAction(name, n string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: text(table), Key: pk(name), UpdateExpression: text("ADD n :n"), ExpressionAttributeValues: attrs{":n": num(n)},
	}}
}

func transact(tb testing.TB, client *dynamodb.Client, token string, actions ...types.TransactWriteItem) error {
	tb.Helper()
	_, err := client.TransactWriteItems(tb.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: actions, ClientRequestToken: text(token)})
	return err
}

func TestTransactionAppliesAll(t *testing.T) {
	db, client := newTable(t)
	plant(t, db, pk("delete"), pk("check"), attrs{"pk": str("update"), "n": num("1")})
	err := transact(t, client, "",
		putAction(pk("put")),
		addAction("update", "2"),
		types.TransactWriteItem{Delete: &types.Delete{TableName: text(table), Key: pk("delete")}},
		types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: text(table), Key: pk("check"), ConditionExpression: text("attribute_exists(pk)")}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]attrs{"put": pk("put"), "update": {"pk": str("update"), "n": num("3")}, "delete": nil, "check": pk("check")} {
		if got := db.Item(table, pk(name)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s, want %s", name, show(got), show(want))
		}
	}
	if r := db.Requests(); len(r) != 1 || r[0].Table != table || !r[0].Applied {
		t.Errorf("log %+v", r)
	}
}

func TestTransactionAppliesNothing(t *testing.T) {
	db, client := newTable(t)
	plant(t, db, attrs{"pk": str("taken"), "owner": str("other")})
	refused := types.TransactWriteItem{Put: &types.Put{
		TableName: text(table), Item: pk("taken"), ConditionExpression: text("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	}}
	silent := types.TransactWriteItem{Delete: &types.Delete{TableName: text(table), Key: pk("gone"), ConditionExpression: text("attribute_exists(pk)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD"}}
	invalid := types.TransactWriteItem{Update: &types.Update{TableName: text(table), Key: pk("x"), UpdateExpression: text("SET a = b")}}
	err := transact(t, client, "", putAction(pk("put")), refused, silent, invalid)
	wantError(t, err, "TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError]")
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatal(err)
	}
	want := []types.CancellationReason{
		{Code: aws.String("None")},
		{Code: aws.String("ConditionalCheckFailed"), Message: aws.String("The conditional request failed"), Item: attrs{"pk": str("taken"), "owner": str("other")}},
		{Code: aws.String("ConditionalCheckFailed"), Message: aws.String("The conditional request failed")},
		{Code: aws.String("ValidationError"), Message: aws.String("The provided expression refers to an attribute that does not exist in the item")},
	}
	if !reflect.DeepEqual(canceled.CancellationReasons, want) {
		t.Errorf("reasons %+v", canceled.CancellationReasons)
	}
	if db.Item(table, pk("put")) != nil {
		t.Error("a part of the transaction was applied")
	}
	if r := db.Requests(); r[0].Applied || r[0].Error != "TransactionCanceledException" {
		t.Errorf("log %+v", r)
	}
}

func TestTransactionsIgnoreIdlePlaceholders(t *testing.T) {
	_, client := newTable(t)
	idle := map[string]string{"#idle": "x"}
	err := transact(t, client, "",
		types.TransactWriteItem{Put: &types.Put{TableName: text(table), Item: pk("a"), ExpressionAttributeNames: idle}},
		types.TransactWriteItem{Delete: &types.Delete{TableName: text(table), Key: pk("b"), ExpressionAttributeNames: idle}},
	)
	if err != nil {
		t.Error(err)
	}
	_, err = client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: text(table), Key: pk("a"), ExpressionAttributeNames: idle}},
	}})
	if err != nil {
		t.Error(err)
	}
}

func TestTransactionErrors(t *testing.T) {
	many := make([]types.TransactWriteItem, 101)
	for i := range many {
		many[i] = putAction(pk(fmt.Sprint(i)))
	}
	tests := []struct {
		name    string
		actions []types.TransactWriteItem
		code    string
		message string
	}{
		{"two on one item", []types.TransactWriteItem{putAction(pk("a")), addAction("a", "1")}, "ValidationException", "Transaction request cannot include multiple operations on one item"},
		{"too many", many, "ValidationException", "1 validation error detected: Value '[...]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"},
		{"empty action", []types.TransactWriteItem{{}}, "ValidationException", "TransactItems can only contain one of Check, Put, Update or Delete"},
		{"syntax", []types.TransactWriteItem{{Update: &types.Update{TableName: text(table), Key: pk("a"), UpdateExpression: text("SET")}}}, "ValidationException", `Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"`},
		{"update without expression", []types.TransactWriteItem{{Update: &types.Update{TableName: text(table), Key: pk("a"), UpdateExpression: new(string)}}}, "ValidationException", "Invalid UpdateExpression: The expression can not be empty;"},
		{"table", []types.TransactWriteItem{{Delete: &types.Delete{TableName: text("nowhere"), Key: pk("a")}}}, "ResourceNotFoundException", "Requested resource not found"},
	}
	db, client := newTable(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantError(t, transact(t, client, "", test.actions...), test.code, test.message)
		})
	}
	if db.Item(table, pk("a")) != nil || db.Item(table, pk("0")) != nil {
		t.Error("a refused transaction was applied")
	}
	if err := transact(t, client, "", many[:100]...); err != nil {
		t.Errorf("100 actions: %v", err)
	}
}

func TestTransactionToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, client := newTable(t)
		count := func() string {
			it := db.Item(table, pk("a"))
			return showValue(it["n"])
		}
		for range 3 {
			if err := transact(t, client, "token", addAction("a", "1")); err != nil {
				t.Fatal(err)
			}
			if got := count(); got != "1" {
				t.Errorf("n = %s after a repeated transaction", got)
			}
		}
		if r := db.Requests(); !r[0].Applied || r[1].Applied {
			t.Errorf("log %+v", r)
		}
		err := transact(t, client, "token", addAction("a", "2"))
		wantError(t, err, "IdempotentParameterMismatchException", "")
		if err := transact(t, client, "other", addAction("a", "1")); err != nil || count() != "2" {
			t.Errorf("another token: n = %s, %v", count(), err)
		}
		time.Sleep(10*time.Minute - 1)
		if err := transact(t, client, "token", addAction("a", "1")); err != nil || count() != "2" {
			t.Errorf("just before its end: n = %s, %v", count(), err)
		}
		time.Sleep(time.Nanosecond)
		if err := transact(t, client, "token", addAction("a", "2")); err != nil || count() != "4" {
			t.Errorf("after its end: n = %s, %v", count(), err)
		}
	})
}

func TestACancelledTransactionDoesNotUseUpItsToken(t *testing.T) {
	db, client := newTable(t)
	guarded := types.TransactWriteItem{Put: &types.Put{TableName: text(table), Item: pk("a"), ConditionExpression: text("attribute_exists(pk)")}}
	wantError(t, transact(t, client, "token", guarded), "TransactionCanceledException", "")
	plant(t, db, pk("a"))
	if err := transact(t, client, "token", guarded); err != nil {
		t.Error(err)
	}
}

func TestTransactGet(t *testing.T) {
	db, client := newTable(t)
	plant(t, db, attrs{"pk": str("a"), "x": num("1"), "y": num("2")})
	get := func(name, projection string) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: text(table), Key: pk(name), ProjectionExpression: text(projection)}}
	}
	out, err := client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get("a", "x"), get("gone", "")}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Responses) != 2 || !reflect.DeepEqual(out.Responses[0].Item, attrs{"x": num("1")}) || out.Responses[1].Item != nil {
		t.Errorf("got %+v", out.Responses)
	}
	_, err = client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get("a", "x"), get("a", "")}})
	wantError(t, err, "ValidationException", "Transaction request cannot include multiple operations on one item")
}
