package conformance

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func consistentReads(ctx context.Context, b *bench) {
	for i := range 20 {
		want := with(b.key(""), item{"v": number(i)})
		b.put(ctx, want)
		b.holds(ctx, "what was read after a write", b.key(""), want)
	}
}

func missingItem(ctx context.Context, b *bench) {
	b.holds(ctx, "what was never written", b.key("never"), nil)
}

func missingTable(ctx context.Context, b *bench) {
	gone := *b
	gone.table += "-not"
	err := gone.update(ctx, b.key(""), create)
	b.code("UpdateItem in a table that does not exist", err, noTable)
	_, err = b.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &gone.table, Key: b.key("")})
	b.code("GetItem in a table that does not exist", err, noTable)
}

// indexTries bounds how often an index that lags behind its table is read.
const indexTries = 100

// indexPages reads an index page by page. An index may lag, so it is read again
// until it is complete.
func indexPages(ctx context.Context, b *bench) {
	const items, limit = 25, 10
	var want []string
	for i := range items {
		position := number(i).(*types.AttributeValueMemberN) //nolint:errcheck // it is made there
		want = append(want, position.Value)
		b.put(ctx, with(b.key(position.Value), item{"grp": s(b.id), "pos": position}))
	}
	b.put(ctx, with(b.key("another group"), item{"grp": s(b.id + "!"), "pos": n("1")}))
	var got, sizes []string
	for range indexTries {
		var err error
		if got, sizes, err = b.pages(ctx, limit); !b.ok("Query", err) {
			return
		}
		if len(got) >= items || !wait(ctx, pause) {
			break
		}
	}
	if !slices.Equal(got, want) {
		b.errorf("the index has %v in this order, want %v", got, want)
	}
	if !slices.Equal(sizes[:min(len(sizes), 3)], []string{"10", "10", "5"}) {
		b.errorf("pages of %s items, want 10, 10 and 5", strings.Join(sizes, ", "))
	}
}

// pages returns the positions in the order of the index, and the size of each page.
func (b *bench) pages(ctx context.Context, limit int32) (positions, sizes []string, err error) {
	in := &dynamodb.QueryInput{
		TableName: &b.table, IndexName: new(index), Limit: &limit, KeyConditionExpression: new("#g = :g"),
		ExpressionAttributeNames: map[string]string{"#g": "grp"}, ExpressionAttributeValues: item{":g": s(b.id)},
	}
	for {
		out, err := b.client.Query(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		for _, it := range out.Items {
			if v, ok := it["pos"].(*types.AttributeValueMemberN); ok {
				positions = append(positions, v.Value)
			}
		}
		size, _ := number(len(out.Items)).(*types.AttributeValueMemberN)
		sizes = append(sizes, size.Value)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return positions, sizes, nil
		}
	}
}
