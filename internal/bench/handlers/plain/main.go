// Command plain is command locked without the library: the two writes are the
// same, and it sends them by the SDK alone.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/solotick/solotick/internal/bench/handlers/environment"
	"github.com/solotick/solotick/internal/bench/handlers/raw"
	"github.com/solotick/solotick/internal/bench/handlers/work"
)

func main() {
	client, table := environment.Client(), os.Getenv(environment.Table)
	w := work.New(client, table)
	r := raw.Lock{Client: client, Table: table, Name: environment.Name, Lease: environment.Lease}
	lambda.Start(func(ctx context.Context, e work.Event) error {
		held, err := r.Acquire(ctx)
		if err != nil {
			return err
		}
		if err := w.Do(ctx, e); err != nil {
			return err
		}
		return r.Release(ctx, held)
	})
}
