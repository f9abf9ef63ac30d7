package locktest

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Client returns a client of the SDK that this DB serves without sockets, with
// made-up credentials and the SDK's own retries. It may be used in a synctest
// bubble, where back-off between retries takes virtual time.
func (db *DB) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("locktest", "locktest", ""),
		HTTPClient:  db,
	}, optFns...)
}

const (
	tablePoll = 100 * time.Millisecond
	tableWait = 5 * time.Minute
)

// CreateTable creates a table with string keys through any DynamoDB endpoint,
// with on-demand billing, and waits until it is active, ctx ends, or five
// minutes have passed. An empty sortKey makes a table without one. A table that
// exists already is an error, types.ResourceInUseException.
func CreateTable(ctx context.Context, client *dynamodb.Client, table, partitionKey, sortKey string) error {
	in := &dynamodb.CreateTableInput{TableName: &table, BillingMode: types.BillingModePayPerRequest}
	addKey := func(name string, role types.KeyType) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: &name, KeyType: role})
	}
	addKey(partitionKey, types.KeyTypeHash)
	if sortKey != "" {
		addKey(sortKey, types.KeyTypeRange)
	}
	if _, err := client.CreateTable(ctx, in); err != nil {
		return fmt.Errorf("create table %s: %w", table, err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = tablePoll, 10*tablePoll
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, tableWait); err != nil {
		return fmt.Errorf("create table %s: wait until it is active: %w", table, err)
	}
	return nil
}
