//go:build integration

package integration

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// What makes the test binary a Lambda function in place of a test.
const (
	does     = "INTEGRATION_DOES"  // what the first run of the process does, a key of works
	inTable  = "INTEGRATION_TABLE" // that holds the lock
	ofServer = "INTEGRATION_DYNAMODB"
)

// cutOff is the job of the function: a crash costs its next run a second, and a
// run has two and a half for its work.
var cutOff = job.Spec{Name: "cut-off", Lease: lease, Timeout: 5 * time.Second, Reserve: time.Second}

// atWork is the line of a work that has begun.
const atWork = "at work"

// works are what can end a run.
var works = map[string]singleton.Work{
	"nothing": func(context.Context, *singleton.Run) error { return nil },
	"waits for the end of its context": func(ctx context.Context, _ *singleton.Run) error {
		<-ctx.Done()
		return nil
	},
	"ignores its context": func(context.Context, *singleton.Run) error { select {} },
	"panics":              func(context.Context, *singleton.Run) error { panic("out of luck") },
	"panics on a goroutine of its own": func(ctx context.Context, _ *singleton.Run) error {
		go func() { panic("out of sight") }()
		<-ctx.Done()
		return nil
	},
}

func TestMain(m *testing.M) {
	if os.Getenv(ofServer) == "" {
		os.Exit(m.Run())
	}
	if err := beFunction(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func beFunction() error {
	locks, err := lockkit.New(plainClient(os.Getenv(ofServer), nil), os.Getenv(inTable), lockkit.WithHolderLabel(os.Getenv("AWS_LAMBDA_LOG_STREAM_NAME")))
	if err != nil {
		return err
	}
	var runs atomic.Int64
	work := func(ctx context.Context, run *singleton.Run) error {
		fmt.Println(atWork)
		if do, ok := works[os.Getenv(does)]; ok && runs.Add(1) == 1 {
			return do(ctx, run)
		}
		return nil
	}
	lambda.Start(singleton.Handler(locks, cutOff, work, singleton.WithLogger(lambdacontext.NewLogger())))
	return nil
}
