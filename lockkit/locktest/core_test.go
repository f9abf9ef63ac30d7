package locktest_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
)

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }

type attrs = map[string]types.AttributeValue

func newTable(t *testing.T) (*locktest.DB, *dynamodb.Client) {
	t.Helper()
	db := locktest.New()
	client := db.Client()
	if err := locktest.CreateTable(t.Context(), client, "locks", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	return db, client
}

func TestSmoke(t *testing.T) {
	db, client := newTable(t)
	key := attrs{"pk": str("a"), "sk": str("b")}
	in := &dynamodb.UpdateItemInput{
		TableName: aws.String("locks"), Key: key,
		UpdateExpression:                    aws.String("SET #o = :o, fence = if_not_exists(fence, :base) + :one"),
		ConditionExpression:                 aws.String("attribute_not_exists(#o)"),
		ExpressionAttributeNames:            map[string]string{"#o": "owner"},
		ExpressionAttributeValues:           attrs{":o": str("me"), ":base": num("9007199254740993"), ":one": num("1")},
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	out, err := client.UpdateItem(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(out.Attributes["fence"].(*types.AttributeValueMemberN).Value)
	_, err = client.UpdateItem(t.Context(), in)
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	t.Log(refused.Item, refused.ErrorMessage())
	_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{ConditionCheck: &types.ConditionCheck{TableName: aws.String("locks"), Key: key, ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD"}},
		{Put: &types.Put{TableName: aws.String("locks"), Item: attrs{"pk": str("x"), "sk": str("y")}}},
	}})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatal(err)
	}
	t.Log(*canceled.CancellationReasons[0].Code, canceled.CancellationReasons[0].Item, *canceled.CancellationReasons[1].Code)
	q, err := client.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("locks"), KeyConditionExpression: aws.String("pk = :p and begins_with(sk, :s)"), ExpressionAttributeValues: attrs{":p": str("a"), ":s": str("b")}})
	if err != nil || q.Count != 1 {
		t.Fatal(err, q)
	}
	_, err = client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("locks"), Key: key, UpdateExpression: aws.String("SET owner = :o"), ExpressionAttributeValues: attrs{":o": str("x")}})
	t.Log(err)
	for _, r := range db.Requests() {
		t.Logf("%+v", r)
	}
	t.Log(db.Item("locks", key))
}
