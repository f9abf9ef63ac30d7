package locktest_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestBatches(t *testing.T) {
	db, client := newTable(t)
	plant(t, db, pk("old"))
	writes := []types.WriteRequest{{DeleteRequest: &types.DeleteRequest{Key: pk("old")}}}
	keys := []map[string]types.AttributeValue{pk("old")}
	for i := range 24 {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: pk(fmt.Sprint(i))}})
		keys = append(keys, pk(fmt.Sprint(i)))
	}
	write := func(writes []types.WriteRequest) error {
		_, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
		return err
	}
	if err := write(writes); err != nil {
		t.Fatal(err)
	}
	got, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Responses[table]); n != 24 || len(got.UnprocessedKeys) != 0 {
		t.Errorf("%d items, unprocessed %v", n, got.UnprocessedKeys)
	}
	wantError(t, write(append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: pk("x")}})), "ValidationException", "")
	wantError(t, write(append(writes[:2:2], writes[1])), "ValidationException", "Provided list of item keys contains duplicates")
	_, err = client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: append(keys[:1:1], keys[0])}}})
	wantError(t, err, "ValidationException", "Provided list of item keys contains duplicates")
	if r := db.Requests(); r[0].Operation != "BatchWriteItem" || r[0].Table != table || !r[0].Applied {
		t.Errorf("log %+v", r[0])
	}
}
