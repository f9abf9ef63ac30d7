package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// endpointChecks are those without lockkit.
func endpointChecks() []check {
	return []check{
		{"conditional create", conditionalCreate},
		{"concurrent creates", concurrentCreates},
		{"old image", oldImage},
		{"old image of a new item", noOldImage},
		{"refusal with the item", refusalWithItem},
		{"refusal without the item", refusalWithoutItem},
		{"exact numbers", exactNumbers},
		{"arithmetic", arithmetic},
		{"comparison of numbers", compareNumbers},
		{"reserved words", reservedWords},
		{"precedence", precedence},
		{"many operands", manyOperands},
		{"nested paths", nestedPaths},
		{"removal", removal},
		{"transaction commits", transactionCommits},
		{"transaction is refused", transactionRefused},
		{"transaction all or nothing", allOrNothing},
		{"transaction touches an item once", oncePerItem},
		{"request token", requestToken},
		{"consistent reads", consistentReads},
		{"missing item", missingItem},
		{"missing table", missingTable},
		{"index pages", indexPages},
		{"size of keys", keySizes},
		{"size of items", itemSizes},
		{"placeholders", placeholders},
		{"broken expressions", brokenExpressions},
	}
}

var create = expression{
	update: "SET #v = :v", condition: "attribute_not_exists(#pk)",
	names: map[string]string{"#v": "v", "#pk": "pk"}, values: item{":v": s("first")},
}

func conditionalCreate(ctx context.Context, b *bench) {
	err := b.update(ctx, b.key(""), create)
	b.ok("the first create", err)
	err = b.update(ctx, b.key(""), create)
	b.code("the second create", err, refusal)
}

func concurrentCreates(ctx context.Context, b *bench) {
	const rounds, writers = 5, 12
	for round := range rounds {
		key := b.key(fmt.Sprint(round))
		answers := make([]error, writers)
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				e := create
				e.values = item{":v": number(i)}
				answers[i] = b.update(ctx, key, e)
			})
		}
		all.Wait()
		won := 0
		for i, err := range answers {
			if err == nil {
				won++
				b.holds(ctx, "the item", key, with(key, item{"v": number(i)}))
			} else {
				b.code("a create that lost", err, refusal)
			}
		}
		if won != 1 {
			b.errorf("%d of %d concurrent creates succeed, want 1", won, writers)
		}
	}
}

// write sets one attribute and returns the image that was asked for.
func (b *bench) write(ctx context.Context, v string, image types.ReturnValue) item {
	in := b.input(b.key(""), expression{update: "SET #v = :v", names: map[string]string{"#v": "v"}, values: item{":v": s(v)}})
	in.ReturnValues = image
	out, err := b.client.UpdateItem(ctx, in)
	if !b.ok("UpdateItem", err) {
		return nil
	}
	return out.Attributes
}

func oldImage(ctx context.Context, b *bench) {
	b.write(ctx, "first", types.ReturnValueNone)
	b.same("the old image", b.write(ctx, "second", types.ReturnValueAllOld), with(b.key(""), item{"v": s("first")}))
	b.same("the new image", b.write(ctx, "third", types.ReturnValueAllNew), with(b.key(""), item{"v": s("third")}))
	b.same("no image", b.write(ctx, "fourth", types.ReturnValueNone), nil)
}

func noOldImage(ctx context.Context, b *bench) {
	b.same("the old image of a new item", b.write(ctx, "first", types.ReturnValueAllOld), nil)
}

func refusalWithItem(ctx context.Context, b *bench) {
	stored := with(b.key(""), item{"owner": s("somebody"), "fence": n("9007199254740993"), "at": m(item{"owner": s("somebody"), "ms": n("1")})})
	b.put(ctx, stored)
	err := b.update(ctx, b.key(""), create)
	b.code("the create", err, refusal)
	b.same("the item of the refusal", refusedItem(err), stored)
}

func refusalWithoutItem(ctx context.Context, b *bench) {
	stored := with(b.key(""), item{"v": s("first")})
	b.put(ctx, stored)
	in := b.input(b.key(""), create)
	in.ReturnValuesOnConditionCheckFailure = ""
	_, err := b.client.UpdateItem(ctx, in)
	b.code("the create", err, refusal)
	b.same("the item of a refusal that was not to bring it", refusedItem(err), nil)
	b.holds(ctx, "the item read after the refusal", b.key(""), stored)
	// A condition on an item that is not there is refused as well, and makes none.
	missing := b.key("missing")
	err = b.update(ctx, missing, expression{
		update: "SET #v = :v", condition: "#o = :o", names: map[string]string{"#v": "v", "#o": "owner"}, values: item{":v": s("x"), ":o": s("somebody")},
	})
	b.code("an update on condition of an owner", err, refusal)
	b.same("the item of a refusal without one", refusedItem(err), nil)
	b.holds(ctx, "the item after it", missing, nil)
}

// canceledReasons returns why a transaction was cancelled.
func canceledReasons(err error) []types.CancellationReason {
	if refused, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return refused.CancellationReasons
	}
	return nil
}
