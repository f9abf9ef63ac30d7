// Command locked is a Lambda function that holds a lock while it works.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/solotick/solotick/internal/bench/handlers/environment"
	"github.com/solotick/solotick/internal/bench/handlers/work"
	"github.com/solotick/solotick/lockkit"
)

func main() {
	client, table := environment.Client(), os.Getenv(environment.Table)
	w := work.New(client, table)
	locks, err := lockkit.New(client, table)
	if err != nil {
		fmt.Fprintln(os.Stderr, "locked:", err)
		os.Exit(1)
	}
	lambda.Start(func(ctx context.Context, e work.Event) error {
		held, err := locks.Acquire(ctx, environment.Name, environment.Lease)
		if err != nil {
			return err
		}
		working, done := held.Context(ctx)
		defer done()
		if err := w.Do(working, e); err != nil {
			return err
		}
		return held.Release(ctx)
	})
}
