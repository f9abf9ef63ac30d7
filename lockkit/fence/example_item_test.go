package fence_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/fence"
	"github.com/solotick/solotick/lockkit/locktest"
)

// A new holder writes its token before it reads: one update without an
// expression of its own raises the mark and returns the item. A write of the old
// holder that is still on its way is refused from then on, so what was read
// stays true until the new holder changes it.
func ExampleItem_Update() {
	ctx := context.Background()
	client := locktest.New().Client() // your client; the table may be in another Region
	if err := locktest.CreateTable(ctx, client, "reports", "pk", ""); err != nil {
		panic(err)
	}
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "total"}}
	send := func(guard fence.Item, in dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
		in.TableName, in.Key = aws.String("reports"), key
		guarded, err := guard.Update(&in)
		if err != nil {
			return nil, err
		}
		out, err := client.UpdateItem(ctx, guarded)
		return out, guard.Refused(err)
	}
	add := dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("ADD orders :n"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: "3"}},
	}
	old := fence.Item{Resource: "the total", Token: 1796130790756} // token of the lease
	_, err := send(old, add)
	fmt.Println("old holder:", err)

	successor := fence.Item{Resource: "the total", Token: 1796130790757}
	out, err := send(successor, dynamodb.UpdateItemInput{ReturnValues: types.ReturnValueAllNew})
	if err != nil {
		panic(err)
	}
	fmt.Println("successor reads:", out.Attributes["orders"].(*types.AttributeValueMemberN).Value)

	_, err = send(old, add)
	fmt.Println("old holder is stale:", errors.Is(err, fence.ErrStale))
	_, err = send(successor, add)
	fmt.Println("successor:", err)
	// Output:
	// old holder: <nil>
	// successor reads: 3
	// old holder is stale: true
	// successor: <nil>
}
