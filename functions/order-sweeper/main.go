// Command order-sweeper is the Lambda function of the job order-sweeper: it
// closes the orders that have been placed for too long, each in one transaction
// with the check that the run still holds the job's lock.
//
// Besides the environment of package wiring it reads SOLOTICK_ORDERS_TABLE, the
// table with the orders.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/internal/demo"
	"github.com/solotick/solotick/functions/internal/wiring"
	"github.com/solotick/solotick/lockkit/singleton"
)

const ordersTableVariable = "SOLOTICK_ORDERS_TABLE"

func main() {
	var name string
	var switches demo.Switches
	app, err := wiring.Load(append(switches.Variables(), switches.UnfencedVariable(), wiring.Table(ordersTableVariable, "with the orders", &name))...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "order-sweeper:", err)
		os.Exit(1)
	}
	table := table{client: app.DynamoDB, name: name}
	s := &sweeper{table: table, closer: fenced{table}, logger: app.Logger, pageSize: pageSize, maxPerRun: maxPerRun}
	demonstrate(&switches, s)
	spec := switches.Apply(functions.OrderSweeper, app.Logger)
	lambda.Start(singleton.Handler(app.Locks, spec, s.work, singleton.WithLogger(app.Logger)))
}

// work runs the sweep for a tick: what was due then. A run without a tick takes
// what is due now.
func (s *sweeper) work(ctx context.Context, run *singleton.Run) error {
	due := run.Tick
	if due.IsZero() {
		due = time.Now()
	}
	return s.sweep(ctx, run, due)
}
