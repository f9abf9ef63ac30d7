package locktest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
)

func Example() {
	ctx := context.Background()
	db := locktest.New()
	client := db.Client()
	if err := locktest.CreateTable(ctx, client, "accounts", "id", ""); err != nil {
		fmt.Println(err)
		return
	}
	deposit := &dynamodb.UpdateItemInput{
		TableName:                 aws.String("accounts"),
		Key:                       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "42"}},
		UpdateExpression:          aws.String("ADD balance :amount"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":amount": &types.AttributeValueMemberN{Value: "0.10"}},
	}
	for range 3 {
		if _, err := client.UpdateItem(ctx, deposit); err != nil {
			fmt.Println(err)
			return
		}
	}
	balance, _ := db.Item("accounts", deposit.Key)["balance"].(*types.AttributeValueMemberN)
	fmt.Println(balance.Value)
	// Output: 0.3
}

// The first write is applied, but the client hears nothing of it, so its second
// try meets its own item.
func ExampleDB_Inject() {
	ctx := context.Background()
	db := locktest.New()
	client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if err := locktest.CreateTable(ctx, client, "locks", "id", ""); err != nil {
		fmt.Println(err)
		return
	}
	db.ResetRequests()
	db.Inject(locktest.Fault{Operation: "PutItem", Kind: locktest.FaultDropAnswer})
	create := func() error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:           aws.String("locks"),
			Item:                map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}},
			ConditionExpression: aws.String("attribute_not_exists(id)"),
		})
		return err
	}
	fmt.Println("answered:", create() == nil)
	err := create()
	var refused *types.ConditionalCheckFailedException
	fmt.Println("refused:", errors.As(err, &refused))
	for _, r := range db.Requests() {
		fmt.Printf("%d %s: fault %s, applied %t\n", r.Seq, r.Operation, r.Fault, r.Applied)
	}
	// Output:
	// answered: false
	// refused: true
	// 1 PutItem: fault DropAnswer, applied true
	// 2 PutItem: fault None, applied false
}
