package scenario

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/locktest"
)

// tables are the names of the tables at the endpoint. The two jobs that read
// orders have a table each, so that neither changes what the other one counts.
type tables struct{ locks, orders, sales, reports string }

// newTables names the tables, apart from all others at an endpoint of the user's.
func newTables(o Options) tables {
	if o.Endpoint == "" {
		return tables{"locks", "orders", "sales", "reports"}
	}
	suffix := strings.ToLower(rand.Text()[:8])
	name := func(what string) string { return "solotick-demo-" + what + "-" + suffix }
	return tables{name("locks"), name("orders"), name("sales"), name("reports")}
}

func (t tables) all() []string { return []string{t.locks, t.orders, t.sales, t.reports} }

// createTables notes each table that was made, for dropTables.
func (s *stage) createTables(ctx context.Context) error {
	for table, create := range map[string]func() error{
		s.tables.locks:   func() error { return locktest.CreateTable(ctx, s.client, s.tables.locks, "pk", "sk") },
		s.tables.orders:  func() error { return orders.CreateTable(ctx, s.client, s.tables.orders) },
		s.tables.sales:   func() error { return orders.CreateTable(ctx, s.client, s.tables.sales) },
		s.tables.reports: func() error { return locktest.CreateTable(ctx, s.client, s.tables.reports, orders.AttrReport, "") },
	} {
		if err := create(); err != nil {
			return fmt.Errorf("at %s: %w; expected a DynamoDB that lets everybody make tables, such as DynamoDB Local", s.endpoint.kind, err)
		}
		s.made = append(s.made, table)
	}
	return nil
}

// dropTables deletes what was made at an endpoint that outlives the scenario.
// A table whose making failed may be there too, and is no news if it is not.
func (s *stage) dropTables(ctx context.Context) error {
	if s.options.Endpoint == "" || s.client == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var left []string
	var why error
	for _, table := range s.tables.all() {
		_, err := s.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(table)})
		if _, absent := errors.AsType[*types.ResourceNotFoundException](err); err != nil && !absent && slices.Contains(s.made, table) {
			left, why = append(left, table), err
		}
	}
	if why != nil {
		return fmt.Errorf("left at %s, unless it keeps tables in memory: %s (%s); delete what is there", s.options.Endpoint, strings.Join(left, " and "), reasonOf(why))
	}
	return nil
}
