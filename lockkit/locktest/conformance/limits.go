package conformance

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func keySizes(ctx context.Context, b *bench) {
	key := func(partition, sort int) item {
		return item{"pk": s(b.id + strings.Repeat("p", partition-len(b.id))), "sk": s(strings.Repeat("s", sort))}
	}
	write := func(key item) error {
		return b.update(ctx, key, create)
	}
	b.ok("keys of 2048 and 1024 bytes", write(key(2048, 1024)))
	b.code("a partition key of 2049 bytes", write(key(2049, 1)), invalid)
	b.code("a sort key of 1025 bytes", write(key(100, 1025)), invalid)
	b.code("an empty key", write(item{"pk": s(""), "sk": s("x")}), invalid)
	b.code("a key of another type", write(item{"pk": n("1"), "sk": s("x")}), invalid)
	b.code("a key without its second part", write(item{"pk": s(b.id)}), invalid)
}

func itemSizes(ctx context.Context, b *bench) {
	const most = 400 << 10
	frame := len("pk") + len(b.id) + len("sk") + len("x") + len("v")
	fits := with(b.key(""), item{"v": s(strings.Repeat("v", most-frame))})
	b.put(ctx, fits)
	err := b.update(ctx, b.key(""), expression{
		update: "SET #w = :w", names: map[string]string{"#w": "w"}, values: item{":w": s("w")},
	})
	b.code("an update to more than 400 KB", err, invalid)
	_, err = b.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &b.table, Item: with(fits, item{"w": s("w")})})
	b.code("a put of more than 400 KB", err, invalid)
	if got := b.get(ctx, b.key("")); len(got) != 3 {
		b.errorf("the item has %d attributes after what was refused, want 3", len(got))
	}
}

// refusesAll sends updates that are mistakes.
func (b *bench) refusesAll(ctx context.Context, mistakes map[string]expression) {
	for what, e := range mistakes {
		err := b.update(ctx, b.key(""), e)
		b.code(what, err, invalid)
	}
	b.holds(ctx, "the item that was never written", b.key(""), nil)
}

func placeholders(ctx context.Context, b *bench) {
	names, values := map[string]string{"#v": "v"}, item{":v": s("x")}
	b.refusesAll(ctx, map[string]expression{
		"a name that is not used":     {update: "SET #v = :v", names: map[string]string{"#v": "v", "#w": "w"}, values: values},
		"a value that is not used":    {update: "SET #v = :v", names: names, values: item{":v": s("x"), ":w": s("x")}},
		"a name that is not defined":  {update: "SET #w = :v", values: values},
		"a value that is not defined": {update: "SET #v = :w", names: names},
	})
}

func brokenExpressions(ctx context.Context, b *bench) {
	names, values := map[string]string{"#v": "v"}, item{":v": s("x")}
	b.refusesAll(ctx, map[string]expression{
		"an attribute that is set twice":    {update: "SET #v = :v, #v = :v", names: names, values: values},
		"an attribute set and removed":      {update: "SET #v = :v REMOVE #v", names: names, values: values},
		"a key that is set":                 {update: "SET #v = :v", names: map[string]string{"#v": "pk"}, values: values},
		"a sum with what is not a number":   {update: "SET #v = :v + :v", names: names, values: values},
		"an expression that breaks off":     {update: "SET #v = ", names: names},
		"a condition that breaks off":       {update: "SET #v = :v", condition: "#v =", names: names, values: values},
		"a function that does not exist":    {update: "SET #v = :v", condition: "attribute_missing(#v)", names: names, values: values},
		"a condition without an expression": {update: "SET #v = :v", condition: "()", names: names, values: values},
	})
}
