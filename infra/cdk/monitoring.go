package cdk

import (
	"errors"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// MonitoringProps say what to watch.
type MonitoringProps struct {
	Jobs []*SingletonJob
	// Topic is told when an alarm rises; nil: nobody is.
	Topic awssns.ITopic
	// Command is what an operator types, before the name of a subcommand; "":
	// solotick with the stack's name.
	Command string
}

// Monitoring are the alarms and the dashboard of jobs.
type Monitoring struct {
	Construct constructs.Construct // the scope of its parts
	Alarms    []awscloudwatch.Alarm
	Dashboard awscloudwatch.Dashboard
}

// NewMonitoring makes, for each job, an alarm for runs that failed, lost their
// lease or were blocked, one for each dead-letter queue, and one for a job that has
// not completed a tick within its ExpectedInterval; and one dashboard for all. A
// job without logs has the alarms of its queues only.
func NewMonitoring(scope constructs.Construct, id string, props *MonitoringProps) (*Monitoring, error) {
	if err := checkScope("NewMonitoring", scope, id); err != nil {
		return nil, err
	}
	if props == nil || len(props.Jobs) == 0 {
		return nil, errors.New("cdk: NewMonitoring: there are no jobs: pass those that NewSingletonJob returned")
	}
	for i, j := range props.Jobs {
		if j == nil {
			return nil, fmt.Errorf("cdk: NewMonitoring: job %d is nil: check the error of NewSingletonJob first", i)
		}
	}
	p := *props
	if p.Command == "" {
		p.Command = "solotick --stack " + *awscdk.Stack_Of(scope).StackName()
	}
	m := &Monitoring{Construct: constructs.NewConstruct(scope, jsii.String(id))}
	for _, j := range p.Jobs {
		for _, a := range j.alarms(p.Command) {
			m.add(j, a, p.Topic)
		}
	}
	m.Dashboard = m.dashboard(p.Jobs)
	return m, nil
}

func (m *Monitoring) add(j *SingletonJob, a alarm, topic awssns.ITopic) {
	missing, comparison := awscloudwatch.TreatMissingData_NOT_BREACHING, awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD
	if a.whenSilent {
		missing, comparison = awscloudwatch.TreatMissingData_BREACHING, awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
	}
	made := awscloudwatch.NewAlarm(m.Construct, jsii.String(j.Spec.Name+"-"+a.name), &awscloudwatch.AlarmProps{
		AlarmDescription:   jsii.String(a.description),
		Metric:             a.metric,
		Threshold:          jsii.Number(1),
		ComparisonOperator: comparison,
		EvaluationPeriods:  jsii.Number(a.periods),
		TreatMissingData:   missing,
	})
	if a.warmUp > 0 {
		raw, ok := made.Node().DefaultChild().(awscloudwatch.CfnAlarm)
		if ok {
			raw.SetWarmUpConfiguration(&awscloudwatch.CfnAlarm_WarmUpConfigurationProperty{
				OnlyStartEvaluatingAfterWarmUpPeriodEnds: jsii.Bool(true),
				WarmUpPeriodDurationInMinutes:            jsii.Number(a.warmUp.Minutes()),
			})
		}
	}
	if topic != nil {
		made.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
		made.AddOkAction(awscloudwatchactions.NewSnsAction(topic))
	}
	m.Alarms = append(m.Alarms, made)
}

// dashboard shows, in a row for each job, how its runs ended, how long they waited
// for the lock, and what lies in its queues.
func (m *Monitoring) dashboard(jobs []*SingletonJob) awscloudwatch.Dashboard {
	d := awscloudwatch.NewDashboard(m.Construct, jsii.String("Dashboard"), nil)
	hour := awscdk.Duration_Hours(jsii.Number(1))
	graph := func(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
		return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
			Title: jsii.String(title), Left: &metrics, Width: jsii.Number(8), Height: jsii.Number(6),
		})
	}
	for _, j := range jobs {
		var graphs []awscloudwatch.IMetric
		for _, o := range outcomes() {
			graphs = append(graphs, j.Outcome(o, hour))
		}
		row := []awscloudwatch.IWidget{}
		if j.Logs != nil {
			row = append(row,
				graph(j.Spec.Name+": runs by outcome", graphs...),
				graph(j.Spec.Name+": waited for the lock, taken over",
					j.metric(MetricWaited, "p95", hour, nil), j.metric(MetricTakenOver, "Sum", hour, nil)))
		}
		row = append(row, graph(j.Spec.Name+": dead letters", waiting(j.Failed, "failed"), waiting(j.Undelivered, "undelivered")))
		d.AddWidgets(row...)
	}
	return d
}
