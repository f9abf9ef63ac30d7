// Package wiring makes, once at cold start, what the functions' handlers need:
// a DynamoDB client, the lock table and a logger. A function with a mistake in
// its configuration ends there, with one error that lists every mistake.
//
// # Environment
//
//	variable                       set by    meaning
//	SOLOTICK_LOCK_TABLE            stack     table that holds the locks, name or ARN; required
//	SOLOTICK_LOCK_PARTITION_KEY    stack     its partition key; default pk
//	SOLOTICK_LOCK_SORT_KEY         stack     its sort key, "none" for a table without one; default sk
//	SOLOTICK_LOCK_TTL_ATTRIBUTE    stack     its time-to-live attribute; default: none
//	DYNAMODB_ENDPOINT              you       another endpoint than AWS's, such as http://127.0.0.1:8000
//	AWS_ENDPOINT_URL_DYNAMODB      you       the same, as AWS's tools call it; the first one set counts
//	AWS_ENDPOINT_URL               you       the same, for all services
//	AWS_REGION                     Lambda    required
//	AWS_ACCESS_KEY_ID              Lambda    required, of the function's role
//	AWS_SECRET_ACCESS_KEY          Lambda    required
//	AWS_SESSION_TOKEN              Lambda    goes with the keys of a role
//	AWS_LAMBDA_LOG_STREAM_NAME     Lambda    the holder label that operators see on a held lock
//	AWS_LAMBDA_FUNCTION_NAME       Lambda    the holder label where there is no log stream
//	AWS_LAMBDA_LOG_FORMAT          Lambda    JSON for structured log lines, or Text: the function's logging format
//	AWS_LAMBDA_LOG_LEVEL           Lambda    DEBUG, INFO, WARN or ERROR: the function's log level
//
// A function adds its own with [Variable].
package wiring

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
)

// App is what a job's function is wired from. Its parts are safe for concurrent
// use and live as long as the process.
type App struct {
	Locks    *lockkit.LockTable
	DynamoDB *dynamodb.Client
	// PartitionKey and SortKey are the key attributes of the lock table; no sort
	// key: "".
	PartitionKey, SortKey string
	// Logger writes to standard output, where Lambda reads it, and puts the
	// request id of the invocation on every line that gets the handler's context.
	Logger *slog.Logger
}

// Load reads the environment and makes the App. It sends no request. own are
// the function's own variables, which are read together with those of the
// package, so that one error names all that is wrong.
func Load(own ...Variable) (*App, error) {
	return load(os.LookupEnv, own)
}

func load(lookup func(string) (string, bool), own []Variable) (*App, error) {
	var s settings
	if err := read(lookup, append(s.variables(), own...)); err != nil {
		return nil, fmt.Errorf("wiring: %w", err)
	}
	client := s.client()
	locks, err := lockkit.New(client, s.lockTable, s.lockOptions()...)
	if err != nil {
		return nil, fmt.Errorf("wiring: %w", err)
	}
	return &App{Locks: locks, DynamoDB: client, PartitionKey: s.partitionKey, SortKey: s.sortKey, Logger: lambdacontext.NewLogger()}, nil
}

// lockOptions turns what was read into options of the lock table.
func (s *settings) lockOptions() []lockkit.Option {
	opts := []lockkit.Option{lockkit.WithKeys(s.partitionKey, s.sortKey)}
	if label := s.label(); label != "" {
		opts = append(opts, lockkit.WithHolderLabel(label))
	}
	if s.ttl != "" {
		opts = append(opts, lockkit.WithTTL(s.ttl, 0))
	}
	return opts
}

// label is what operators know this process by: its log stream tells them where
// to read on.
func (s *settings) label() string {
	if s.logStream != "" {
		return s.logStream
	}
	return s.function
}
