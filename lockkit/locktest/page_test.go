package locktest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestCountAndPageSize(t *testing.T) {
	db, client := newSorted(t)
	for i := range 30 {
		plant(t, db, attrs{"pk": str("p"), "sk": str(fmt.Sprintf("%02d", i)), "a": str(strings.Repeat("x", 100_000))})
	}
	in := &dynamodb.QueryInput{TableName: text(table), KeyConditionExpression: text("pk = :p"), ExpressionAttributeValues: attrs{":p": str("p")}, Select: types.SelectCount}
	out, err := client.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if out.Count != 11 || len(out.Items) != 0 || out.LastEvaluatedKey == nil { // the eleventh item passes 1 MB
		t.Errorf("count %d, %d items, last key %s", out.Count, len(out.Items), show(out.LastEvaluatedKey))
	}
}

func TestScan(t *testing.T) {
	db, client := newSorted(t)
	want := make([]string, 0, 60)
	for i := range 20 {
		for j := range 3 {
			it := attrs{"pk": str(fmt.Sprint("p", i)), "sk": str(fmt.Sprint("s", j)), "n": num(fmt.Sprint(j))}
			plant(t, db, it)
			want = append(want, show(it))
		}
	}
	slices.Sort(want)
	collect := func(inputs ...*dynamodb.ScanInput) []string {
		var got []string
		for _, in := range inputs {
			in.TableName = text(table)
			for pages := dynamodb.NewScanPaginator(client, in); pages.HasMorePages(); {
				page, err := pages.NextPage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, it := range page.Items {
					got = append(got, show(it))
				}
			}
		}
		slices.Sort(got)
		return got
	}
	segment := func(i int32) *dynamodb.ScanInput {
		return &dynamodb.ScanInput{Segment: &i, TotalSegments: aws.Int32(3), Limit: aws.Int32(4)}
	}
	if got := collect(&dynamodb.ScanInput{}); !slices.Equal(got, want) {
		t.Errorf("a scan found %d items", len(got))
	}
	if got := collect(&dynamodb.ScanInput{Limit: aws.Int32(7)}); !slices.Equal(got, want) {
		t.Errorf("a scan in pages found %d items", len(got))
	}
	if got := collect(segment(0), segment(1), segment(2)); !slices.Equal(got, want) {
		t.Errorf("a scan in segments found %d items", len(got))
	}
	filtered := &dynamodb.ScanInput{FilterExpression: text("n = :n AND begins_with(pk, :p)"), ExpressionAttributeValues: attrs{":n": num("2"), ":p": str("p")}}
	if got := collect(filtered); len(got) != 20 {
		t.Errorf("a filtered scan found %d items", len(got))
	}
	_, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: text(table), Segment: aws.Int32(3), TotalSegments: aws.Int32(3)})
	wantError(t, err, "ValidationException", "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 3 is not less than TotalSegments: 3")
}

func TestReadErrors(t *testing.T) {
	tests := []struct {
		name    string
		in      dynamodb.ScanInput
		message string
	}{
		{"projection and select", dynamodb.ScanInput{ProjectionExpression: text("a"), Select: "COUNT"}, "Cannot specify the ProjectionExpression when choosing to get COUNT"},
		{"select without projection", dynamodb.ScanInput{Select: "SPECIFIC_ATTRIBUTES"}, "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"},
		{"projected attributes of a table", dynamodb.ScanInput{Select: "ALL_PROJECTED_ATTRIBUTES"}, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
		{"all attributes of an index", dynamodb.ScanInput{IndexName: text("by-g"), Select: "ALL_ATTRIBUTES"}, "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index by-g because its projection type is not ALL"},
		{"unknown select", dynamodb.ScanInput{Select: "SOME"}, "1 validation error detected: Value 'SOME' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"},
		{"limit", dynamodb.ScanInput{Limit: aws.Int32(0)}, "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"},
		{"segment alone", dynamodb.ScanInput{Segment: aws.Int32(0)}, "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"},
		{"segments alone", dynamodb.ScanInput{TotalSegments: aws.Int32(1)}, "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"},
		{"start key", dynamodb.ScanInput{ExclusiveStartKey: pk("p")}, "The provided starting key is invalid"},
		{"start key of another type", dynamodb.ScanInput{ExclusiveStartKey: attrs{"pk": str("p"), "sk": str("1")}}, "The provided starting key is invalid"},
		{"start key of the table for an index", dynamodb.ScanInput{IndexName: text("by-g"), ExclusiveStartKey: attrs{"pk": str("p"), "sk": num("1")}}, "The provided starting key is invalid"},
	}
	_, client := newIndexed(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.in.TableName = text(table)
			_, err := client.Scan(t.Context(), &test.in)
			wantError(t, err, "ValidationException", test.message)
		})
	}
}

func TestIndexKeyErrors(t *testing.T) {
	const lead = "One or more parameter values"
	tests := []struct {
		name    string
		more    attrs
		message string
	}{
		{"type", attrs{"l": str("x")}, lead + " were invalid: Type mismatch for Index Key l Expected: B Actual: S IndexName: all-g"},
		{"empty string", attrs{"g": str("")}, lead + " are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-g, IndexKey: g"},
		{"empty binary", attrs{"l": bin("")}, lead + " are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty binary value. IndexName: all-g, IndexKey: l"},
		{"long partition key", attrs{"g": str(strings.Repeat("x", 2049))}, lead + " were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{"long sort key", attrs{"l": bin(strings.Repeat("x", 1025))}, lead + " were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
	}
	_, client := newIndexed(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			it := attrs{"pk": str("p"), "sk": num("1")}
			maps.Copy(it, test.more)
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: text(table), Item: it})
			wantError(t, err, "ValidationException", test.message)
		})
	}
}
