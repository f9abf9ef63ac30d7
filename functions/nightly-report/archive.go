package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
)

// archive is the table with the reports.
type archive struct {
	client *dynamodb.Client
	table  string
}

// put is the write of a report, for the transaction that completes its tick.
func (a archive) put(r orders.Report) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String(a.table), Item: r.Item()}}
}

// find looks for the report of a tick.
func (a archive) find(ctx context.Context, tick time.Time) (report orders.Report, found bool, err error) {
	out, err := a.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(a.table), Key: orders.ReportKey(tick), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return report, false, fmt.Errorf("look for the report of %s in table %q (%s): %w", tick.Format(time.RFC3339), a.table, reportsTableVariable, orders.Advised(err, reportsTableVariable))
	}
	if len(out.Item) == 0 {
		return report, false, nil
	}
	report, err = orders.ReadReport(out.Item)
	return report, true, err
}
