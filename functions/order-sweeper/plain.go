package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/functions/orders"
)

// plain closes an order the way code without fencing does: look whether it is
// still placed, do the work, write. Between the look and the write anything may
// happen, also a takeover by another run that does the same. It exists to show
// that, by the demonstration's switch only.
type plain struct {
	table table
	work  func(context.Context, order)
}

func (p plain) close(ctx context.Context, h holder, o order) error {
	// A process that was frozen at its work finds its context ended. Code without
	// fencing has no such thing and writes.
	ctx = context.WithoutCancel(ctx)
	found, err := p.table.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(p.table.name), Key: orders.Key(o.id), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	now, err := orders.Read(found.Item)
	if err != nil {
		return err
	}
	if now.Status != orders.Placed {
		return errNotPlaced
	}
	p.work(ctx, o)
	c := newClosing(h.Token())
	_, err = p.table.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(p.table.name), Key: orders.Key(o.id),
		UpdateExpression: aws.String(c.expression), ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
	})
	return err
}
