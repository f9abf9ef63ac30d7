package scenario

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/internal/lambda"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// The scenario's numbers. The lease is the shortest that a loaded machine of two
// cores keeps: it is renewed every third of it. The pause makes every piece of the
// work take long enough to be met in the middle.
const (
	lease      = 2 * time.Second
	pause      = 300 * time.Millisecond
	timeout    = 30 * time.Second // also of a run that is frozen
	firstRetry = 3500 * time.Millisecond
	region     = "us-east-1"
	runner     = "solotick-runner" // the runner's own name at the endpoint
)

// setUp starts the endpoint, the services and the local Lambda and makes the
// tables. No function process runs before the first tick. lost is told when an
// endpoint that the options name does not answer any more.
func setUp(ctx context.Context, o Options, lost func(error)) (*stage, error) {
	s := &stage{options: o, tables: newTables(o)}
	if err := s.cast(time.Now()); err != nil {
		return nil, err
	}
	if o.KeepLogs != "" { // now, and not after all the work
		if err := os.MkdirAll(o.KeepLogs, 0o755); err != nil {
			return nil, fmt.Errorf("--keep-logs: %w; name a folder that can be made or written", err)
		}
	}
	var other *upstream
	var err error
	if o.Endpoint != "" {
		if other, err = findUpstream(ctx, o.Endpoint, s.tables.locks, lost); err != nil {
			return nil, err
		}
	}
	s.line = newTimeline(o.Out)
	ticks := map[string][]time.Time{}
	for _, d := range s.dramas {
		ticks[d.part().spec.Name] = d.part().ticks
	}
	s.history = newHistory(ticks, s.line)
	if s.endpoint, err = listen(ctx, o.Listen, other, s.tables.locks, s.history.called); err != nil {
		return nil, err
	}
	s.lambda = lambda.New(lambda.Options{Observer: s.observe, Region: region})
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.tearDown(context.WithoutCancel(ctx)))
	}
	s.line.note("", "DynamoDB %s at %s, lease %s, functions in %s", s.endpoint.kind, s.endpoint.url, lease, o.Functions)
	if o.WithoutFencing {
		s.line.note("", "WITHOUT FENCING: order-sweeper looks, works and writes, without the held check; the target of cache-refresh ignores the tokens")
	}
	return s, nil
}

// cast gives each job its act. The ticks are the last times that the job could
// have been due, so that none is too old to be run and none lies ahead.
func (s *stage) cast(now time.Time) error {
	for _, part := range []struct {
		spec  job.Spec
		every time.Duration
		ticks int
		drama func(*act) drama
	}{
		{functions.OrderSweeper, 5 * time.Minute, 10, func(a *act) drama { return &sweeping{act: a} }},
		{functions.NightlyReport, 5 * time.Minute, 5, func(a *act) drama { return &reporting{act: a} }},
		{functions.CacheRefresh, time.Minute, 5, func(a *act) drama { return &caching{act: a} }},
	} {
		bootstrap, err := findBootstrap(s.options.Functions, part.spec.Name)
		if err != nil {
			return err
		}
		s.dramas = append(s.dramas, part.drama(&act{stage: s, spec: part.spec, bootstrap: bootstrap, ticks: dueTimes(now, part.every, part.ticks)}))
	}
	return nil
}

func (s *stage) prepare(ctx context.Context) (err error) {
	s.client = newClient(s.endpoint.url)
	if s.services, err = openServices(ctx, s.options.WithoutFencing, s.line); err != nil {
		return err
	}
	if err := s.createTables(ctx); err != nil {
		return err
	}
	for _, d := range s.dramas {
		spec := d.part().spec
		env := map[string]string{
			"DYNAMODB_ENDPOINT":     s.endpoint.url,
			"SOLOTICK_LOCK_TABLE":   s.tables.locks,
			"AWS_LAMBDA_LOG_FORMAT": "JSON",
			"AWS_LAMBDA_LOG_LEVEL":  "DEBUG",
			"SOLOTICK_DEMO_LEASE":   lease.String(),
			"SOLOTICK_DEMO_PAUSE":   pause.String(),
		}
		maps.Copy(env, d.environment())
		if err := s.lambda.Create(lambda.Function{
			Name: spec.Name, Bootstrap: d.part().bootstrap, Env: env, MemoryMB: spec.MemoryMB, Timeout: timeout,
			MaxEnvironments: 4, Retries: spec.Retries, RetryDelays: []time.Duration{firstRetry, 2 * firstRetry}, MaxEventAge: spec.MaxAge,
		}); err != nil {
			return err
		}
	}
	return nil
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

func findBootstrap(folder, job string) (string, error) {
	path := filepath.Join(folder, job, "bootstrap")
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

// dueTimes are the last n times that a job was due, the newest not later than now.
func dueTimes(now time.Time, every time.Duration, n int) []time.Time {
	last := now.UTC().Truncate(every)
	ticks := make([]time.Time, n)
	for i := range ticks {
		ticks[i] = last.Add(-every * time.Duration(n-1-i))
	}
	return ticks
}
