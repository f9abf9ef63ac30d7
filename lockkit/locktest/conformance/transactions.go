package conformance

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func deleteOf(table string, key item) *dynamodb.DeleteItemInput {
	return &dynamodb.DeleteItemInput{TableName: &table, Key: key}
}

// held is the check of owner and token that lockkit puts into transactions.
func (b *bench) held(key item, token string) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &b.table, Key: key, ConditionExpression: new("#o = :o AND #f = :f"),
		ExpressionAttributeNames: map[string]string{"#o": "owner", "#f": "fence"}, ExpressionAttributeValues: item{":o": s("somebody"), ":f": n(token)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// add counts an item up.
func (b *bench) add(key item) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &b.table, Key: key, UpdateExpression: new("ADD #v :one"),
		ExpressionAttributeNames: map[string]string{"#v": "v"}, ExpressionAttributeValues: item{":one": n("1")},
	}}
}

// putNew creates an item that must not be there.
func (b *bench) putNew(it item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &b.table, Item: it, ConditionExpression: new("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": "pk"},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

func (b *bench) transact(ctx context.Context, token string, actions ...types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: actions}
	if token != "" {
		in.ClientRequestToken = aws.String(token)
	}
	_, err := b.client.TransactWriteItems(ctx, in)
	return err
}

// lock stores an item like that of a held lock, and returns its key.
func (b *bench) lock(ctx context.Context) (key, stored item) {
	key = b.key("lock")
	stored = with(key, item{"owner": s("somebody"), "fence": n(large[0])})
	b.put(ctx, stored)
	return key, stored
}

func transactionCommits(ctx context.Context, b *bench) {
	lock, stored := b.lock(ctx)
	b.put(ctx, with(b.key("gone"), nil))
	err := b.transact(ctx, "", b.held(lock, large[0]), b.add(b.key("count")), b.putNew(b.key("new")),
		types.TransactWriteItem{Delete: &types.Delete{TableName: &b.table, Key: b.key("gone")}})
	b.ok("TransactWriteItems", err)
	b.holds(ctx, "the item that was checked", lock, stored)
	b.holds(ctx, "the item that was updated", b.key("count"), with(b.key("count"), item{"v": n("1")}))
	b.holds(ctx, "the item that was put", b.key("new"), b.key("new"))
	b.holds(ctx, "the item that was deleted", b.key("gone"), nil)
}

// wantReasons compares codes in the order of the actions, "" for none.
func (b *bench) wantReasons(err error, want ...string) []types.CancellationReason {
	b.code("TransactWriteItems", err, canceled)
	reasons := canceledReasons(err)
	if len(reasons) != len(want) {
		b.errorf("%d reasons, want %d, one for each action", len(reasons), len(want))
		return make([]types.CancellationReason, len(want))
	}
	for i, r := range reasons {
		if got := aws.ToString(r.Code); got != want[i] {
			b.errorf("reason %d is %q, want %q", i, got, want[i])
		}
	}
	return reasons
}

func transactionRefused(ctx context.Context, b *bench) {
	lock, stored := b.lock(ctx)
	there := with(b.key("there"), item{"v": s("stays")})
	b.put(ctx, there)
	// Another token, which a float64 takes for the same one.
	err := b.transact(ctx, "", b.held(lock, "9007199254740992"), b.add(b.key("count")), b.putNew(b.key("there")))
	reasons := b.wantReasons(err, "ConditionalCheckFailed", "None", "ConditionalCheckFailed")
	b.same("the item of the held check's reason", reasons[0].Item, stored)
	b.same("the item of a reason None", reasons[1].Item, nil)
	b.same("the item of the put's reason", reasons[2].Item, there)
	b.holds(ctx, "what the transaction was to count", b.key("count"), nil)
	// A check of an item that is not there fails, too.
	b.wantReasons(b.transact(ctx, "", b.add(b.key("count")), b.held(b.key("nothing"), "1")), "None", "ConditionalCheckFailed")
	b.holds(ctx, "what the transaction was to count", b.key("count"), nil)
}

func allOrNothing(ctx context.Context, b *bench) {
	b.put(ctx, b.key("last"))
	err := b.transact(ctx, "", b.add(b.key("one")), b.add(b.key("two")), b.putNew(b.key("last")))
	b.wantReasons(err, "None", "None", "ConditionalCheckFailed")
	b.holds(ctx, "the first item", b.key("one"), nil)
	b.holds(ctx, "the second item", b.key("two"), nil)
}

func oncePerItem(ctx context.Context, b *bench) {
	lock, _ := b.lock(ctx)
	b.code("two actions on one item", b.transact(ctx, "", b.held(lock, large[0]), b.add(lock)), invalid)
}

func requestToken(ctx context.Context, b *bench) {
	token := rand.Text()
	for range 3 {
		b.ok("TransactWriteItems", b.transact(ctx, token, b.add(b.key("count"))))
	}
	b.holds(ctx, "what was sent three times with one token", b.key("count"), with(b.key("count"), item{"v": n("1")}))
	b.code("another transaction with the token", b.transact(ctx, token, b.add(b.key("other"))), mismatch)
	b.ok("another token", b.transact(ctx, rand.Text(), b.add(b.key("count"))))
	b.holds(ctx, "what was sent with two tokens", b.key("count"), with(b.key("count"), item{"v": n("2")}))
}
