// Command nothing is the least that a Lambda function can be: the benchmark
// compares the others with it.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	lambda.Start(func(context.Context) error { return nil })
}
