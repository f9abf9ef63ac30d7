package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CreateTable makes the table with its indexes and waits until it is active, ctx
// ends, or a minute has passed.
func CreateTable(ctx context.Context, client *dynamodb.Client, table string) error {
	key := func(name string, role types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: role}
	}
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute(AttrID, types.ScalarAttributeTypeS),
			attribute(AttrStatus, types.ScalarAttributeTypeS),
			attribute(AttrPlacedAt, types.ScalarAttributeTypeN),
			attribute(AttrPlacedOn, types.ScalarAttributeTypeS),
		},
		KeySchema: []types.KeySchemaElement{key(AttrID, types.KeyTypeHash)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String(IndexByStatus),
			KeySchema:  []types.KeySchemaElement{key(AttrStatus, types.KeyTypeHash), key(AttrPlacedAt, types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}, {
			IndexName:  aws.String(IndexByDay),
			KeySchema:  []types.KeySchemaElement{key(AttrPlacedOn, types.KeyTypeHash), key(AttrPlacedAt, types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{AttrTotal}},
		}},
	})
	if err != nil {
		return fmt.Errorf("create table %q: %w", table, err)
	}
	wait := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second
	})
	if err := wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, time.Minute); err != nil {
		return fmt.Errorf("create table %q: it does not become active: %w", table, err)
	}
	return nil
}
