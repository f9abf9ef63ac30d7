package locktest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
)

// newIndexed returns a table with a numeric sort key, a global index that
// projects one attribute, one that projects all, and a local index.
func newIndexed(tb testing.TB) (*locktest.DB, *dynamodb.Client) {
	tb.Helper()
	db := locktest.New()
	client := db.Client(func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	keys := func(partition, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &partition, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	define := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	_, err := client.CreateTable(tb.Context(), &dynamodb.CreateTableInput{
		TableName: text(table), BillingMode: types.BillingModePayPerRequest, KeySchema: keys("pk", "sk"),
		AttributeDefinitions: []types.AttributeDefinition{define("pk", "S"), define("sk", "N"), define("g", "S"), define("l", "B")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			{IndexName: aws.String("by-g"), KeySchema: keys("g", "sk"), Projection: &types.Projection{ProjectionType: "INCLUDE", NonKeyAttributes: []string{"a"}}},
			{IndexName: aws.String("all-g"), KeySchema: keys("g", "l"), Projection: &types.Projection{ProjectionType: "ALL"}},
		},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{
			{IndexName: aws.String("by-l"), KeySchema: keys("pk", "l"), Projection: &types.Projection{ProjectionType: "KEYS_ONLY"}},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range 12 {
		it := attrs{"pk": str("p"), "sk": num(fmt.Sprint(i - 2)), "a": num(fmt.Sprint(i % 3)), "b": str("b")}
		if i%2 == 0 {
			it["g"] = str("even")
			it["l"] = bin(string(rune('z' - i)))
		}
		plant(tb, db, it)
	}
	plant(tb, db, attrs{"pk": str("q"), "sk": num("1"), "g": str("even")})
	return db, client
}

// sorts lists the sort keys of items.
func sorts(items []map[string]types.AttributeValue) string {
	var all []string
	for _, it := range items {
		if n, ok := it["sk"].(*types.AttributeValueMemberN); ok {
			all = append(all, n.Value)
		}
	}
	return strings.Join(all, " ")
}

func TestQuery(t *testing.T) {
	tests := []struct {
		name   string
		in     dynamodb.QueryInput
		values attrs
		want   string
	}{
		{"partition", dynamodb.QueryInput{KeyConditionExpression: text("pk = :p")}, attrs{":p": str("p")}, "-2 -1 0 1 2 3 4 5 6 7 8 9"},
		{"none", dynamodb.QueryInput{KeyConditionExpression: text("pk = :p")}, attrs{":p": str("x")}, ""},
		{"equal", dynamodb.QueryInput{KeyConditionExpression: text("pk = :p AND sk = :s")}, attrs{":p": str("p"), ":s": num("3.0")}, "3"},
		{"less", dynamodb.QueryInput{KeyConditionExpression: text("sk < :s AND :p = pk")}, attrs{":p": str("p"), ":s": num("0")}, "-2 -1"},
		{"between", dynamodb.QueryInput{KeyConditionExpression: text("(pk = :p) and (sk between :s and :e)")}, attrs{":p": str("p"), ":s": num("-1"), ":e": num("2")}, "-1 0 1 2"},
		{"backward", dynamodb.QueryInput{KeyConditionExpression: text("pk = :p AND sk >= :s"), ScanIndexForward: aws.Bool(false)}, attrs{":p": str("p"), ":s": num("5")}, "9 8 7 6 5"},
		{"limit", dynamodb.QueryInput{KeyConditionExpression: text("pk = :p"), Limit: aws.Int32(3)}, attrs{":p": str("p")}, "-2 -1 0"},
		{"filter after limit", dynamodb.QueryInput{KeyConditionExpression: text("pk = :p"), Limit: aws.Int32(4), FilterExpression: text("a = :a")}, attrs{":p": str("p"), ":a": num("0")}, "-2 1"},
		{"global index", dynamodb.QueryInput{IndexName: text("by-g"), KeyConditionExpression: text("g = :p AND sk > :s")}, attrs{":p": str("even"), ":s": num("0")}, "1 2 4 6 8"},
		{"local index", dynamodb.QueryInput{IndexName: text("by-l"), KeyConditionExpression: text("pk = :p"), ConsistentRead: aws.Bool(true)}, attrs{":p": str("p")}, "8 6 4 2 0 -2"},
		{"binary range", dynamodb.QueryInput{IndexName: text("all-g"), KeyConditionExpression: text("g = :p AND begins_with(l, :s)")}, attrs{":p": str("even"), ":s": bin("z")}, "-2"},
	}
	_, client := newIndexed(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.in.TableName, test.in.ExpressionAttributeValues = text(table), test.values
			out, err := client.Query(t.Context(), &test.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := sorts(out.Items); got != test.want || int(out.Count) != len(out.Items) {
				t.Errorf("got %s (%d), want %s", got, out.Count, test.want)
			}
		})
	}
}

func TestIndexProjection(t *testing.T) {
	_, client := newIndexed(t)
	names := func(in dynamodb.QueryInput) string {
		in.TableName, in.ExpressionAttributeValues = text(table), attrs{":p": str("even")}
		in.KeyConditionExpression, in.Limit = text("g = :p"), aws.Int32(1)
		out, err := client.Query(t.Context(), &in)
		if err != nil {
			return err.Error()
		}
		var all []string
		for name := range out.Items[0] {
			all = append(all, name)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	for _, test := range []struct {
		in   dynamodb.QueryInput
		want string
	}{
		{dynamodb.QueryInput{IndexName: text("by-g")}, "a g pk sk"},
		{dynamodb.QueryInput{IndexName: text("all-g")}, "a b g l pk sk"},
		{dynamodb.QueryInput{IndexName: text("by-g"), ProjectionExpression: text("a")}, "a"},
		{dynamodb.QueryInput{IndexName: text("by-g"), ProjectionExpression: text("b")}, "does not project"},
		{dynamodb.QueryInput{IndexName: text("by-g"), ConsistentRead: aws.Bool(true)}, "Consistent reads are not supported on global secondary indexes"},
		{dynamodb.QueryInput{IndexName: text("nope")}, "The table does not have the specified index: nope"},
	} {
		if got := names(test.in); !strings.Contains(got, test.want) {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestIndexesFollowWrites(t *testing.T) {
	db, client := newIndexed(t)
	key := attrs{"pk": str("q"), "sk": num("1")}
	query := func(g string) string {
		out, err := client.Query(t.Context(), &dynamodb.QueryInput{TableName: text(table), IndexName: text("by-g"), KeyConditionExpression: text("g = :g AND sk = :s"), ExpressionAttributeValues: attrs{":g": str(g), ":s": num("1")}})
		if err != nil {
			t.Fatal(err)
		}
		return sorts(out.Items)
	}
	update := func(expression string, values attrs) error {
		_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: text(table), Key: key, UpdateExpression: &expression, ExpressionAttributeValues: values})
		return err
	}
	if err := update("SET g = :g", attrs{":g": str("odd")}); err != nil {
		t.Fatal(err)
	}
	if query("even") != "" || query("odd") != "1" {
		t.Error("the index did not follow a change of its key")
	}
	wantError(t, update("SET g = :g", attrs{":g": num("1")}), "ValidationException", "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g")
	if err := update("REMOVE g", nil); err != nil {
		t.Fatal(err)
	}
	if query("odd") != "" {
		t.Error("an item without the index key is in the index")
	}
	if err := db.Delete(table, key); err != nil {
		t.Fatal(err)
	}
	if db.Item(table, key) != nil {
		t.Error("the item is still there")
	}
}

func TestQueryErrors(t *testing.T) {
	tests := []struct {
		key     string
		filter  string
		values  attrs
		message string
	}{
		{"", "", nil, "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."},
		{"sk = :v", "", attrs{":v": num("1")}, "Query condition missed key schema element: pk"},
		{"pk > :v", "", attrs{":v": str("x")}, "Query key condition not supported"},
		{"pk = :v AND a = :v", "", attrs{":v": str("x")}, "Query condition missed key schema element: sk"},
		{"pk = :v OR sk = :v", "", attrs{":v": str("x")}, "Invalid operator used in KeyConditionExpression: OR"},
		{"NOT pk = :v", "", attrs{":v": str("x")}, "Invalid operator used in KeyConditionExpression: NOT"},
		{"pk IN (:v)", "", attrs{":v": str("x")}, "Invalid operator used in KeyConditionExpression: IN"},
		{"attribute_exists(pk)", "", nil, "Invalid operator used in KeyConditionExpression: attribute_exists"},
		{"pk = :v AND sk <> :n", "", attrs{":v": str("x"), ":n": num("1")}, "Invalid operator used in KeyConditionExpression: <>"},
		{"pk = :v AND pk = :w", "", attrs{":v": str("x"), ":w": str("x")}, "KeyConditionExpressions must only contain one condition per key"},
		{"pk.x = :v", "", attrs{":v": str("x")}, "KeyConditionExpressions cannot have conditions on nested attributes"},
		{"pk = :n", "", attrs{":n": num("1")}, "One or more parameter values were invalid: Condition parameter type does not match schema type"},
		{"pk = :v", "sk = :n", attrs{":v": str("x"), ":n": num("1")}, "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
		{"pk = :v", "size(a) > :n OR NOT begins_with(sk, :v)", attrs{":v": str("x"), ":n": num("1")}, "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
		{"pk = :v", "a =", attrs{":v": str("x")}, `Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="`},
		{"pk :v", "", attrs{":v": str("x")}, `Invalid KeyConditionExpression: Syntax error; token: ":v", near: "pk :v"`},
	}
	_, client := newIndexed(t)
	for _, test := range tests {
		t.Run(test.key+" "+test.filter, func(t *testing.T) {
			_, err := client.Query(t.Context(), &dynamodb.QueryInput{TableName: text(table), KeyConditionExpression: text(test.key), FilterExpression: text(test.filter), ExpressionAttributeValues: test.values})
			wantError(t, err, "ValidationException", test.message)
		})
	}
}

func TestPagesJoinToTheWhole(t *testing.T) {
	_, client := newIndexed(t)
	for _, index := range []string{"", "by-g", "by-l", "all-g"} {
		for limit := int32(1); limit < 5; limit++ {
			for _, forward := range []bool{true, false} {
				condition, partition := "pk = :p", "p"
				if strings.HasSuffix(index, "-g") {
					condition, partition = "g = :p", "even"
				}
				in := &dynamodb.QueryInput{
					TableName: text(table), IndexName: text(index), KeyConditionExpression: &condition,
					ExpressionAttributeValues: attrs{":p": str(partition)}, ScanIndexForward: &forward,
				}
				whole, err := client.Query(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				in.Limit = &limit
				var items []map[string]types.AttributeValue
				for pages := dynamodb.NewQueryPaginator(client, in); pages.HasMorePages(); {
					page, err := pages.NextPage(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					items = append(items, page.Items...)
				}
				if got, want := sorts(items), sorts(whole.Items); got != want {
					t.Errorf("index %q, limit %d, forward %t: got %s, want %s", index, limit, forward, got, want)
				}
			}
		}
	}
}
