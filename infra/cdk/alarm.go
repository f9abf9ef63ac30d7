package cdk

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

// longestWarmUp is what CloudWatch takes.
const longestWarmUp = 48 * time.Hour

// alarm is one alarm of a job.
type alarm struct {
	name, description string
	metric            awscloudwatch.IMetric
	periods           int
	whenSilent        bool          // it rises when the metric is below 1 or missing
	warmUp            time.Duration // after it was made
}

// alarms lists a job's. Each description says what to type and where to read on.
func (j *SingletonJob) alarms(command string) []alarm {
	name := j.Spec.Name
	describe := func(what, heading string) string {
		return fmt.Sprintf("%s Type: %s why %s. Runbook: docs/operations.md, %q.", what, command, name, heading)
	}
	var list []alarm
	if j.Logs != nil {
		five := awscdk.Duration_Minutes(jsii.Number(5))
		for _, o := range []struct{ outcome, what, heading string }{
			{"failed", "A run of the job returned an error or panicked.", "Alarm: failed"},
			{"lost", "A run lost its lease while it worked.", "Alarm: lost"},
			{"blocked", "A run got no lease, and nobody proved to hold it.", "Alarm: blocked"},
		} {
			list = append(list, alarm{name: o.outcome, description: describe(o.what, o.heading), metric: j.Outcome(o.outcome, five), periods: 1})
		}
		if every := j.Spec.ExpectedInterval; every > 0 && every <= job.LongestAlarm && !j.disabled {
			period, n := silence(every)
			list = append(list, alarm{
				name: "overdue", whenSilent: true, periods: n, warmUp: min(whole(every, time.Minute), longestWarmUp),
				description: describe(fmt.Sprintf("No tick was completed for %s.", every), "Alarm: overdue"),
				metric:      j.metric(MetricAlive, "Sum", awscdk.Duration_Seconds(jsii.Number(period.Seconds())), nil),
			})
		}
	}
	return append(list,
		alarm{name: "dead-letters", description: describe("A tick failed at every try.", "Alarm: dead letters"), metric: waiting(j.Failed, "failed"), periods: 1},
		alarm{name: "undelivered", description: describe("A tick could not be handed to Lambda.", "Alarm: undelivered"), metric: waiting(j.Undelivered, "undelivered"), periods: 1})
}

// silence splits an interval into periods that CloudWatch takes: one of whole
// minutes up to a day, or hours beyond.
func silence(interval time.Duration) (period time.Duration, n int) {
	if interval <= 24*time.Hour {
		return whole(interval, time.Minute), 1
	}
	return time.Hour, int(whole(interval, time.Hour) / time.Hour)
}

// whole rounds up.
func whole(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }

// waiting counts the messages in a queue.
func waiting(q awssqs.Queue, label string) awscloudwatch.IMetric {
	return q.MetricApproximateNumberOfMessagesVisible(&awscloudwatch.MetricOptions{
		Period: awscdk.Duration_Minutes(jsii.Number(5)), Statistic: jsii.String("Maximum"), Label: jsii.String(label),
	})
}

// outcomes are those of package singleton, whose types this module does not
// import: it would bring the AWS SDK along. A test compares them.
func outcomes() []string {
	return []string{
		"completed", "skipped", "queued", "duplicate", "superseded", "paused", "expired", "stopped",
		"failed", "lost", "out_of_time", "blocked",
	}
}
