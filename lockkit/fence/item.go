package fence

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DefaultAttribute is where an [Item] keeps its mark unless it says otherwise.
const DefaultAttribute = "fence"

// Item guards single DynamoDB items, in any table, account and Region, by a
// high-water mark on the item itself: a number attribute with the token of its
// last writer. Its methods add to a write of the caller's the condition
// "no mark yet, or one that is not higher" and the assignment of the mark. They
// return a copy, send nothing and may be called again with the same input. The
// write's own condition is joined by AND and its aliases are left alone.
//
// There is no guard for deletes: with the item the mark would go, and the next
// stale write would create the item anew. Write a "deleted" into the item, and
// let a time to live remove it when no stale holder can be left.
//
// An Item is a value without state; it is safe for concurrent use. Inputs must not
// be nil.
type Item struct {
	Resource  string // what a StaleError calls the item
	Attribute string // attribute of the mark; "" is DefaultAttribute
	Token     int64  // token of the writer's lease
}

// Update adds the guard to an UpdateItem. An input without an UpdateExpression
// is fine: it only raises the mark, which is how a new holder begins, and with
// ReturnValues ALL_NEW it reads the item in the same step. Pass the error of the
// call to [Item.Refused].
func (i Item) Update(in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemInput, error) {
	w, err := i.update(in.UpdateExpression, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.Key)
	if err != nil {
		return nil, err
	}
	out := *in
	out.UpdateExpression, out.ConditionExpression = &w.update, &w.condition
	out.ExpressionAttributeNames, out.ExpressionAttributeValues = w.names, w.values
	out.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return &out, nil
}

// Put adds the guard to a PutItem. The mark takes the place of any value that
// the item has under its attribute. Pass the error of the call to [Item.Refused].
func (i Item) Put(in *dynamodb.PutItemInput) (*dynamodb.PutItemInput, error) {
	w, item, err := i.put(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.Item)
	if err != nil {
		return nil, err
	}
	out := *in
	out.Item, out.ConditionExpression = item, &w.condition
	out.ExpressionAttributeNames, out.ExpressionAttributeValues = w.names, w.values
	out.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return &out, nil
}

// TransactUpdate is [Item.Update] for an action of a transaction. Pass the error
// of the transaction to [Item.RefusedAt].
func (i Item) TransactUpdate(in types.Update) (types.TransactWriteItem, error) {
	w, err := i.update(in.UpdateExpression, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.Key)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	in.UpdateExpression, in.ConditionExpression = &w.update, &w.condition
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.names, w.values
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return types.TransactWriteItem{Update: &in}, nil
}

// TransactPut is [Item.Put] for an action of a transaction. Pass the error of the
// transaction to [Item.RefusedAt].
func (i Item) TransactPut(in types.Put) (types.TransactWriteItem, error) {
	w, item, err := i.put(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.Item)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	in.Item, in.ConditionExpression = item, &w.condition
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.names, w.values
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return types.TransactWriteItem{Put: &in}, nil
}

// guarded is a write with the guard in it.
type guarded struct {
	update, condition string
	names             map[string]string
	values            attributes
}

type attributes = map[string]types.AttributeValue

func (i Item) attribute() string {
	if i.Attribute == "" {
		return DefaultAttribute
	}
	return i.Attribute
}

func (i Item) mark() types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(i.Token, 10)}
}

func (i Item) update(update, condition *string, names map[string]string, values, key attributes) (guarded, error) {
	if _, ok := key[i.attribute()]; ok {
		return guarded{}, fmt.Errorf("fence: %q: attribute %q is part of the item's key and cannot hold the mark: name another", i.Resource, i.attribute())
	}
	if assigns(aws.ToString(update), i.attribute(), names) {
		return guarded{}, fmt.Errorf("fence: %q: the update expression changes attribute %q itself, which holds the mark: leave it out, the guard sets it, or name another attribute for the mark", i.Resource, i.attribute())
	}
	w, name, value, err := i.guard(aws.ToString(update), aws.ToString(condition), names, values)
	if err != nil {
		return guarded{}, err
	}
	w.update = withAssignment(aws.ToString(update), name+" = "+value)
	return w, nil
}

func (i Item) put(condition *string, names map[string]string, values, item attributes) (guarded, attributes, error) {
	switch item[i.attribute()].(type) {
	case nil, *types.AttributeValueMemberN, *types.AttributeValueMemberNULL:
	default:
		return guarded{}, nil, fmt.Errorf("fence: %q: attribute %q of the item is %s, expected the mark, a number, or nothing: name another attribute for the mark", i.Resource, i.attribute(), show(item[i.attribute()]))
	}
	w, _, _, err := i.guard("", aws.ToString(condition), names, values)
	if err != nil {
		return guarded{}, nil, err
	}
	item = maps.Clone(item)
	if item == nil {
		item = attributes{} // without a key; DynamoDB says so
	}
	item[i.attribute()] = i.mark()
	return w, item, nil
}

// guard joins the condition of the mark to a write's own, under aliases that the
// write does not use.
func (i Item) guard(update, condition string, names map[string]string, values attributes) (w guarded, name, value string, err error) {
	if err := checkToken(i.Resource, i.Token); err != nil {
		return guarded{}, "", "", err
	}
	name = unused("#fence_mark", func(alias string) bool {
		_, taken := names[alias]
		return taken || strings.Contains(update, alias) || strings.Contains(condition, alias)
	})
	value = unused(":fence_token", func(alias string) bool {
		_, taken := values[alias]
		return taken || strings.Contains(update, alias) || strings.Contains(condition, alias)
	})
	w.names, w.values = maps.Clone(names), maps.Clone(values)
	if w.names == nil {
		w.names = map[string]string{}
	}
	if w.values == nil {
		w.values = attributes{}
	}
	w.names[name], w.values[value] = i.attribute(), i.mark()
	// A mark that is no number is refused by the comparison, and told by Refused.
	w.condition = "(attribute_not_exists(" + name + ") OR " + name + " <= " + value + ")"
	if strings.TrimSpace(condition) != "" {
		w.condition += " AND " + inParentheses(condition)
	}
	return w, name, value, nil
}

func unused(alias string, taken func(string) bool) string {
	for free, n := alias, 2; ; n++ {
		if !taken(free) {
			return free
		}
		free = alias + strconv.Itoa(n)
	}
}
