package scenario

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/internal/lambda"
	"github.com/solotick/solotick/lockkit/locktest"
)

// The scenario's numbers. The lease is the shortest that a loaded machine of two
// cores keeps: it is renewed every third of it. The pause makes every order take
// long enough to be met in the middle.
const (
	lease      = 2 * time.Second
	pause      = 300 * time.Millisecond
	timeout    = 30 * time.Second // also of the run that is frozen
	firstRetry = 3500 * time.Millisecond
	every      = 5 * time.Minute // between two ticks
	tickCount  = 10
	region     = "us-east-1"
	runner     = "solotick-runner" // the runner's own name at the endpoint
)

// tables are the names of the tables at the endpoint.
type tables struct{ locks, orders string }

// setUp starts the endpoint and the local Lambda and makes the tables. No
// function process runs before the first tick. lost is told when an endpoint that
// the options name does not answer any more.
func setUp(ctx context.Context, o Options, lost func(error)) (*stage, error) {
	bootstrap, err := findBootstrap(o.Functions)
	if err != nil {
		return nil, err
	}
	if o.KeepLogs != "" { // now, and not after all the work
		if err := os.MkdirAll(o.KeepLogs, 0o755); err != nil {
			return nil, fmt.Errorf("--keep-logs: %w; name a folder that can be made or written", err)
		}
	}
	s := &stage{options: o, bootstrap: bootstrap, tables: tables{"locks", "orders"}, ticks: dueTimes(time.Now())}
	var other *upstream
	if o.Endpoint != "" {
		suffix := strings.ToLower(rand.Text()[:8])
		s.tables = tables{"solotick-demo-locks-" + suffix, "solotick-demo-orders-" + suffix}
		if other, err = findUpstream(ctx, o.Endpoint, s.tables.locks, lost); err != nil {
			return nil, err
		}
	}
	s.line = newTimeline(o.Out)
	s.history = newHistory(s.ticks, s.line)
	if s.endpoint, err = listen(ctx, o.Listen, other, s.tables.locks, s.history.called); err != nil {
		return nil, err
	}
	s.lambda = lambda.New(lambda.Options{Observer: s.observe, Region: region})
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.tearDown(context.WithoutCancel(ctx)))
	}
	s.line.note("DynamoDB %s at %s, lease %s, function %s", s.endpoint.kind, s.endpoint.url, lease, bootstrap)
	if o.WithoutFencing {
		s.line.note("WITHOUT FENCING: the job looks, works and writes, without the held check")
	}
	return s, nil
}

func (s *stage) prepare(ctx context.Context) error {
	s.client = newClient(s.endpoint.url)
	if err := s.createTables(ctx); err != nil {
		return err
	}
	spec := functions.OrderSweeper
	env := map[string]string{
		"DYNAMODB_ENDPOINT":     s.endpoint.url,
		"SOLOTICK_LOCK_TABLE":   s.tables.locks,
		"SOLOTICK_ORDERS_TABLE": s.tables.orders,
		"AWS_LAMBDA_LOG_FORMAT": "JSON",
		"AWS_LAMBDA_LOG_LEVEL":  "DEBUG",
		"SOLOTICK_DEMO_LEASE":   lease.String(),
		"SOLOTICK_DEMO_PAUSE":   pause.String(),
	}
	if s.options.WithoutFencing {
		env["SOLOTICK_DEMO_UNFENCED"] = "1"
	}
	return s.lambda.Create(lambda.Function{
		Name: spec.Name, Bootstrap: s.bootstrap, Env: env, MemoryMB: spec.MemoryMB, Timeout: timeout,
		MaxEnvironments: 4, Retries: spec.Retries, RetryDelays: []time.Duration{firstRetry, 2 * firstRetry}, MaxEventAge: spec.MaxAge,
	})
}

// observe is the local Lambda's observer.
func (s *stage) observe(e lambda.Event) {
	caller := ""
	if e.Kind == lambda.EventInvocation {
		for _, environment := range s.lambda.Environments(e.Function) {
			if environment.ID == e.Environment {
				caller = callerOf(environment.LogStream)
			}
		}
	}
	s.history.happened(e, caller)
}

func findBootstrap(folder string) (string, error) {
	path := filepath.Join(folder, functions.OrderSweeper.Name, "bootstrap")
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the function %s does not exist: %s", path, buildIt)
	case err != nil:
		return "", fmt.Errorf("the function %s: %w; %s", path, err, buildIt)
	}
	return path, nil
}

// buildIt is what to do about a function that will not do.
const buildIt = "build it with `make functions-local`, or name the folder that has <job>/bootstrap by --functions"

// dueTimes are the ticks: the last times that the job was due, the newest not
// later than now, so that none is too old to be run and none lies ahead.
func dueTimes(now time.Time) []time.Time {
	last := now.UTC().Truncate(every)
	ticks := make([]time.Time, tickCount)
	for i := range ticks {
		ticks[i] = last.Add(-every * time.Duration(tickCount-1-i))
	}
	return ticks
}

// createTables notes each table that was made, for dropTables.
func (s *stage) createTables(ctx context.Context) error {
	err := locktest.CreateTable(ctx, s.client, s.tables.locks, "pk", "sk")
	if err == nil {
		s.made = append(s.made, s.tables.locks)
		err = orders.CreateTable(ctx, s.client, s.tables.orders)
	}
	if err != nil {
		return fmt.Errorf("at %s: %w; expected a DynamoDB that lets everybody make tables, such as DynamoDB Local", s.endpoint.kind, err)
	}
	s.made = append(s.made, s.tables.orders)
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
	for _, table := range []string{s.tables.locks, s.tables.orders} {
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
