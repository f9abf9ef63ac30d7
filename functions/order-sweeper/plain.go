package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// plain closes an order the way code without fencing does: look whether it is
// still placed, do the work, write. Between the look and the write anything may
// happen, also a takeover by another run that does the same. It exists to show
// that, by the demonstration's switch only.
type plain struct {
	orders orders
	work   func()
}

func (p plain) close(ctx context.Context, h holder, o order) error {
	// A process that was frozen at its work finds its context ended. Code without
	// fencing has no such thing and writes.
	ctx = context.WithoutCancel(ctx)
	found, err := p.orders.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(p.orders.table), Key: p.orders.key(o), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	if status, ok := found.Item["status"].(*types.AttributeValueMemberS); !ok || status.Value != statusPlaced {
		return errNotPlaced
	}
	p.work()
	c := newClosing(h.Token(), time.Now())
	_, err = p.orders.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(p.orders.table), Key: p.orders.key(o),
		UpdateExpression: aws.String(c.expression), ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
	})
	return err
}
