package locktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/locktest"
)

func TestTableLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, client := newSorted(t)
		plant(t, db, attrs{"pk": str("a"), "sk": str("b")})
		out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: text(table)})
		if err != nil {
			t.Fatal(err)
		}
		d := out.Table
		if d.TableStatus != types.TableStatusActive || *d.ItemCount != 1 || *d.TableSizeBytes != 6 || len(d.KeySchema) != 2 || !d.CreationDateTime.Equal(time.Now()) || d.BillingModeSummary.BillingMode != types.BillingModePayPerRequest {
			t.Errorf("described as %+v", d)
		}
		err = locktest.CreateTable(t.Context(), client, table, "pk", "")
		wantError(t, err, "ResourceInUseException", "Table already exists: things")
		if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: text(table)}); err != nil {
			t.Fatal(err)
		}
		_, err = client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: text(table)})
		wantError(t, err, "ResourceNotFoundException", "Requested resource not found: Table: things not found")
	})
}

func TestListTables(t *testing.T) {
	db := locktest.New()
	client := db.Client()
	for i := range 5 {
		if err := locktest.CreateTable(t.Context(), client, fmt.Sprint("table-", i), "pk", ""); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for pages := dynamodb.NewListTablesPaginator(client, &dynamodb.ListTablesInput{Limit: aws.Int32(2)}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, page.TableNames...)
	}
	if got := strings.Join(names, " "); got != "table-0 table-1 table-2 table-3 table-4" {
		t.Errorf("got %s", got)
	}
}

func TestCreateTableErrors(t *testing.T) {
	hash := func(name string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &name, KeyType: types.KeyTypeHash}}
	}
	define := func(names ...string) (all []types.AttributeDefinition) {
		for _, name := range names {
			all = append(all, types.AttributeDefinition{AttributeName: &name, AttributeType: "S"})
		}
		return all
	}
	tests := []struct {
		name string
		in   dynamodb.CreateTableInput
	}{
		{"short name", dynamodb.CreateTableInput{TableName: text("ab"), KeySchema: hash("pk"), AttributeDefinitions: define("pk")}},
		{"name", dynamodb.CreateTableInput{TableName: text("a table"), KeySchema: hash("pk"), AttributeDefinitions: define("pk")}},
		{"undefined key", dynamodb.CreateTableInput{TableName: text("table"), KeySchema: hash("pk"), AttributeDefinitions: define("x")}},
		{"unused definition", dynamodb.CreateTableInput{TableName: text("table"), KeySchema: hash("pk"), AttributeDefinitions: define("pk", "x")}},
		{"key type", dynamodb.CreateTableInput{TableName: text("table"), KeySchema: hash("pk"), AttributeDefinitions: []types.AttributeDefinition{{AttributeName: text("pk"), AttributeType: "BOOL"}}}},
		{"two partition keys", dynamodb.CreateTableInput{TableName: text("table"), KeySchema: append(hash("pk"), hash("sk")...), AttributeDefinitions: define("pk", "sk")}},
		{"no throughput", dynamodb.CreateTableInput{TableName: text("table"), KeySchema: hash("pk"), AttributeDefinitions: define("pk"), BillingMode: "PROVISIONED"}},
		{"index without projection", dynamodb.CreateTableInput{TableName: text("table"), KeySchema: hash("pk"), AttributeDefinitions: define("pk", "x"), GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: text("index"), KeySchema: hash("x"), Projection: &types.Projection{}}}}},
	}
	client := locktest.New().Client()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.in.BillingMode == "" {
				test.in.BillingMode = types.BillingModePayPerRequest
			}
			_, err := client.CreateTable(t.Context(), &test.in)
			wantError(t, err, "ValidationException", "")
		})
	}
}

func TestCreateTableWaitsForActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := locktest.New()
		db.Inject(locktest.Fault{Operation: "DescribeTable", Kind: locktest.FaultBlackHole, Count: -1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := locktest.CreateTable(ctx, db.Client(), table, "pk", ""); err == nil {
			t.Error("no error although the table was never seen active")
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("took %s", took)
		}
	})
}

func TestTimeToLive(t *testing.T) {
	db, client := newTable(t)
	now := time.Unix(1_900_000_000, 0)
	at := func(d time.Duration) string { return fmt.Sprint(now.Add(d).Unix()) }
	plant(t, db,
		attrs{"pk": str("due"), "ttl": num(at(-time.Second))},
		attrs{"pk": str("just now"), "ttl": num(at(0))},
		attrs{"pk": str("later"), "ttl": num(at(time.Hour))},
		attrs{"pk": str("a mistake"), "ttl": num("1")},
		attrs{"pk": str("a string"), "ttl": str(at(-time.Second))},
		attrs{"pk": str("a fraction"), "ttl": num("1.5")},
		attrs{"pk": str("none")},
	)
	if n := db.Expire(now); n != 0 {
		t.Errorf("%d items expired without TTL", n)
	}
	set := func(attribute string, enabled bool) error {
		_, err := client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{TableName: text(table), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: &enabled}})
		return err
	}
	status := func() string {
		out, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: text(table)})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(out.TimeToLiveDescription.TimeToLiveStatus, " ", aws.ToString(out.TimeToLiveDescription.AttributeName))
	}
	wantError(t, set("ttl", false), "ValidationException", "TimeToLive is already disabled")
	if got := status(); got != "DISABLED " {
		t.Errorf("status %s", got)
	}
	if err := set("ttl", true); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != "ENABLED ttl" {
		t.Errorf("status %s", got)
	}
	wantError(t, set("ttl", true), "ValidationException", "TimeToLive is already enabled")
	if n := db.Expire(now); n != 1 || db.Item(table, pk("due")) != nil {
		t.Errorf("%d items expired", n)
	}
	if n := db.Expire(now); n != 0 {
		t.Errorf("%d items expired again", n)
	}
	if err := set("ttl", false); err != nil {
		t.Fatal(err)
	}
	if n := db.Expire(now.Add(time.Hour)); n != 0 {
		t.Errorf("%d items expired with TTL off again", n)
	}
}
