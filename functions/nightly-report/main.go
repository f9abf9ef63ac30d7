// Command nightly-report is the Lambda function of the job nightly-report: it
// sums up the orders that were placed since the last report, page by page, and
// writes the next one.
//
// Besides the environment of package wiring it reads SOLOTICK_ORDERS_TABLE, the
// table with the orders, and SOLOTICK_REPORTS_TABLE, the one with the reports.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/internal/demo"
	"github.com/solotick/solotick/functions/internal/wiring"
	"github.com/solotick/solotick/lockkit/singleton"
)

const (
	ordersTableVariable  = "SOLOTICK_ORDERS_TABLE"
	reportsTableVariable = "SOLOTICK_REPORTS_TABLE"
)

func main() {
	var orders, reports string
	var switches demo.Switches
	app, err := wiring.Load(append(switches.Variables(), switches.PageVariable(),
		wiring.Table(ordersTableVariable, "with the orders", &orders),
		wiring.Table(reportsTableVariable, "with the reports", &reports))...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nightly-report:", err)
		os.Exit(1)
	}
	r := &reporter{
		orders:  byDay{client: app.DynamoDB, table: orders, pageSize: pageSize},
		reports: archive{client: app.DynamoDB, table: reports},
		logger:  app.Logger,
	}
	demonstrate(&switches, r)
	spec := switches.Apply(functions.NightlyReport, app.Logger)
	lambda.Start(singleton.Handler(app.Locks, spec, r.work, singleton.WithLogger(app.Logger)))
}
