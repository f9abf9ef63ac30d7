package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
)

// byDay reads the orders by their index, one day's partition after the other.
type byDay struct {
	client   *dynamodb.Client
	table    string
	pageSize int32
}

// after implements pages. A page never spans two days.
func (b byDay) after(ctx context.Context, p place, until time.Time) (page, error) {
	begin := p.At
	if p.ID == "" {
		begin++ // the time itself is counted
	}
	end := until.UnixMilli()
	if begin > end {
		return page{end: p, last: true}, nil
	}
	day := time.UnixMilli(begin).UTC().Truncate(24 * time.Hour)
	dayEnd := min(end, day.Add(24*time.Hour).UnixMilli()-1)
	in := &dynamodb.QueryInput{
		TableName: aws.String(b.table), IndexName: aws.String(orders.IndexByDay), Limit: aws.Int32(b.pageSize),
		KeyConditionExpression:   aws.String("#day = :day AND #at BETWEEN :begin AND :end"),
		ExpressionAttributeNames: map[string]string{"#day": orders.AttrPlacedOn, "#at": orders.AttrPlacedAt},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":day": orders.Text(orders.Day(day)), ":begin": orders.Number(begin), ":end": orders.Number(dayEnd),
		},
	}
	if p.ID != "" {
		in.ExclusiveStartKey = orders.Key(p.ID)
		in.ExclusiveStartKey[orders.AttrPlacedOn], in.ExclusiveStartKey[orders.AttrPlacedAt] = orders.Text(orders.Day(day)), orders.Number(p.At)
	}
	out, err := b.client.Query(ctx, in)
	if err != nil {
		return page{}, fmt.Errorf("read the orders of %s in table %q (%s) by its index %s: %w", orders.Day(day), b.table, ordersTableVariable, orders.IndexByDay, orders.Advised(err, ordersTableVariable))
	}
	read := page{orders: int64(len(out.Items)), end: place{At: dayEnd}, last: dayEnd == end}
	for _, item := range out.Items {
		total, err := totalOf(item)
		if err != nil {
			return page{}, err
		}
		read.total += total
	}
	if out.LastEvaluatedKey != nil {
		read.last = false
		read.end, err = placeOf(out.LastEvaluatedKey)
	}
	return read, err
}

func totalOf(item map[string]types.AttributeValue) (int64, error) {
	n, ok := item[orders.AttrTotal].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("order %q has no number %s: correct it, then the report can go on", idOf(item), orders.AttrTotal)
	}
	total, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("order %q: attribute %s, expected a whole number of cents: %w", idOf(item), orders.AttrTotal, err)
	}
	return total, nil
}

func placeOf(key map[string]types.AttributeValue) (place, error) {
	n, ok := key[orders.AttrPlacedAt].(*types.AttributeValueMemberN)
	if !ok || idOf(key) == "" {
		return place{}, fmt.Errorf("the page's last key %v has no %s or no %s", key, orders.AttrPlacedAt, orders.AttrID)
	}
	at, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return place{}, fmt.Errorf("order %q: attribute %s, expected whole milliseconds: %w", idOf(key), orders.AttrPlacedAt, err)
	}
	return place{At: at, ID: idOf(key)}, nil
}

func idOf(item map[string]types.AttributeValue) string {
	if id, ok := item[orders.AttrID].(*types.AttributeValueMemberS); ok {
		return id.Value
	}
	return ""
}
