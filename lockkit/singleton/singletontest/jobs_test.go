package singletontest_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
	"github.com/solotick/solotick/lockkit/singleton/singletontest"
)

// spec is the job of these tests.
var spec = job.Spec{Name: "billing", Lease: 10 * time.Second, Timeout: 5 * time.Minute, ExpectedInterval: time.Hour}

const bills = "bills"

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func billsTable(w *singletontest.World) { w.CreateTable(bills, "id", "") }

// billOf is the key of a tick's bill.
func billOf(tick time.Time) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": text(tick.Format(time.RFC3339))}
}

// billing writes a bill for each tick: in sent is how often it was sent, in by the
// token of who sent it last.
func billing(write func(context.Context, *dynamodb.Client, *singleton.Run) error) singletontest.Program {
	return func(p *singletontest.Process) singleton.Work {
		client := p.Client()
		return func(ctx context.Context, run *singleton.Run) error { return write(ctx, client, run) }
	}
}

func sendUpdate(run *singleton.Run) *types.Update {
	return &types.Update{
		TableName: aws.String(bills), Key: billOf(run.Tick), UpdateExpression: aws.String("SET #by = :token ADD sent :one"),
		ExpressionAttributeNames:  map[string]string{"#by": "by"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": number(1), ":token": number(run.Token())},
	}
}

// plain sends the bill and protects it by nothing.
func plain(ctx context.Context, client *dynamodb.Client, run *singleton.Run) error {
	u := sendUpdate(run)
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression,
		ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
	})
	return err
}

// fenced sends the bill under the held check: no stale run does, and yet it is sent
// again after a crash.
func fenced(ctx context.Context, client *dynamodb.Client, run *singleton.Run) error {
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{run.ConditionCheck(), {Update: sendUpdate(run)}},
	})
	return err
}

// repeatable sends a bill only if it is not there, under the held check.
func repeatable(ctx context.Context, client *dynamodb.Client, run *singleton.Run) error {
	u := sendUpdate(run)
	u.ConditionExpression = aws.String("attribute_not_exists(id)")
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{run.ConditionCheck(), {Update: u}},
	})
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if ok && aws.ToString(cancelled.CancellationReasons[0].Code) == "None" && aws.ToString(cancelled.CancellationReasons[1].Code) == "ConditionalCheckFailed" {
		return nil // an earlier delivery has sent it
	}
	return err
}

// sentOnce is the check: no bill was sent twice, and that of the last completed
// tick was sent.
func sentOnce(w *singletontest.World) error {
	out, err := w.Client().Scan(w.T.Context(), &dynamodb.ScanInput{TableName: aws.String(bills)})
	if err != nil {
		return err
	}
	for _, bill := range out.Items {
		if sent := bill["sent"].(*types.AttributeValueMemberN).Value; sent != "1" {
			return fmt.Errorf("the bill %s was sent %s times", bill["id"].(*types.AttributeValueMemberS).Value, sent)
		}
	}
	if last := w.Completed(spec.Name); w.DB.Item(bills, billOf(last)) == nil {
		return fmt.Errorf("the bill of the completed tick %s was not sent", last)
	}
	return nil
}
