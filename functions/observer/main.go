// Command observer is the Lambda function that keeps the history of the jobs: it
// stores each event of the bus, in any order and however often it comes. Once a
// day it looks for jobs that have not completed a tick for longer than an alarm
// can look back. It is no singleton and needs no lock.
//
// It reads the environment of package wiring and nothing else.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/history"
	"github.com/solotick/solotick/functions/internal/wiring"
	"github.com/solotick/solotick/lockkit/singleton/control"
)

func main() {
	app, err := wiring.Load()
	if err != nil {
		fmt.Fprintln(os.Stderr, "observer:", err)
		os.Exit(1)
	}
	store, err := history.New(app.DynamoDB, history.Config{
		Table: app.Locks.Table(), PartitionKey: app.PartitionKey, SortKey: app.SortKey, TTLAttribute: app.Locks.TTLAttribute(),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "observer:", err)
		os.Exit(1)
	}
	o := &observer{history: store, controls: control.New(app.Locks), jobs: functions.Jobs(), logger: app.Logger}
	lambda.Start(o.handle)
}
