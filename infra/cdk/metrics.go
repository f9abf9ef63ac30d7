package cdk

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Namespace is that of the metrics, which are made from the lines that runs log.
const Namespace = "Solotick"

// The names of the metrics. Each has the dimension Job, and Runs has Outcome too.
const (
	MetricRuns      = "Runs"      // runs that ended, by outcome
	MetricAlive     = "Alive"     // runs that completed a tick, or were kept from it by a pause
	MetricTakenOver = "TakenOver" // locks taken over from a dead run
	MetricWaited    = "WaitedMs"  // milliseconds until the lock was acquired or given up
)

// The patterns are matched against the one line of each run; see package
// singleton, whose tests pin its fields.
const (
	patternRuns      = `{ $.message = "run ended" && $.outcome = "*" }`
	patternAlive     = `{ $.message = "run ended" && ($.outcome = "completed" || $.outcome = "paused") }`
	patternTakenOver = `{ $.message = "run ended" && $.takeover.token > 0 }`
	patternWaited    = `{ $.message = "run ended" && $.waited_ms >= 0 }`
)

// count makes metrics from a job's log.
func count(scope constructs.Construct, logs awslogs.ILogGroup) {
	for _, m := range []struct {
		name, pattern, value string
		unit                 awscloudwatch.Unit
		dimensions           map[string]*string
	}{
		{MetricRuns, patternRuns, "1", awscloudwatch.Unit_COUNT, map[string]*string{"Job": jsii.String("$.job"), "Outcome": jsii.String("$.outcome")}},
		{MetricAlive, patternAlive, "1", awscloudwatch.Unit_COUNT, map[string]*string{"Job": jsii.String("$.job")}},
		{MetricTakenOver, patternTakenOver, "1", awscloudwatch.Unit_COUNT, map[string]*string{"Job": jsii.String("$.job")}},
		{MetricWaited, patternWaited, "$.waited_ms", awscloudwatch.Unit_MILLISECONDS, map[string]*string{"Job": jsii.String("$.job")}},
	} {
		awslogs.NewMetricFilter(scope, jsii.String(m.name), &awslogs.MetricFilterProps{
			LogGroup: logs, MetricNamespace: jsii.String(Namespace), MetricName: jsii.String(m.name),
			FilterPattern: awslogs.FilterPattern_Literal(jsii.String(m.pattern)), MetricValue: jsii.String(m.value),
			Dimensions: &m.dimensions, Unit: m.unit,
		})
	}
}

// Outcome is the metric of a job's runs with this outcome.
func (j *SingletonJob) Outcome(outcome string, period awscdk.Duration) awscloudwatch.Metric {
	return j.metric(MetricRuns, "Sum", period, map[string]*string{"Outcome": jsii.String(outcome)})
}

func (j *SingletonJob) metric(name, statistic string, period awscdk.Duration, more map[string]*string) awscloudwatch.Metric {
	dimensions := map[string]*string{"Job": jsii.String(j.Spec.Name)}
	label := name
	for key, value := range more {
		dimensions[key] = value
		label = *value
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String(Namespace), MetricName: jsii.String(name), DimensionsMap: &dimensions,
		Statistic: jsii.String(statistic), Period: period, Label: jsii.String(label),
	})
}
