package app

import (
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsschedulertargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/infra/cdk"
)

// observer deploys the function that turns the bus's events into history, and once
// a day looks for jobs that have not completed a tick for longer than an alarm can
// look back.
func (s *stack) observer(topic awssns.ITopic) {
	logs := awslogs.NewLogGroup(s.scope, jsii.String("ObserverLogs"), &awslogs.LogGroupProps{
		Retention: awslogs.RetentionDays_THREE_MONTHS, RemovalPolicy: s.removal(),
	})
	role := awsiam.NewRole(s.scope, jsii.String("ObserverRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	logs.GrantWrite(role)
	lost := awssqs.NewQueue(s.scope, jsii.String("ObserverLost"), &awssqs.QueueProps{
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)), EnforceSSL: jsii.Bool(true),
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, RemovalPolicy: s.removal(),
	})
	environment := map[string]*string{}
	for name, value := range s.locks.Environment() {
		environment[name] = jsii.String(value)
	}
	f := awslambda.NewFunction(s.scope, jsii.String("Observer"), &awslambda.FunctionProps{
		Description:   jsii.String("keeps the history of solotick's jobs"),
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:  s.architecture,
		Handler:       jsii.String("bootstrap"),
		Code:          awslambda.Code_FromAsset(jsii.String(filepath.Join(s.props.Functions, "observer")), nil),
		MemorySize:    jsii.Number(128),
		Timeout:       awscdk.Duration_Seconds(jsii.Number(30)),
		Environment:   &environment,
		Role:          role,
		LogGroup:      logs,
		LoggingFormat: awslambda.LoggingFormat_JSON,
		RetryAttempts: jsii.Number(2),
		OnFailure:     awslambdadestinations.NewSqsDestination(lost),
	})
	var names []string
	for _, j := range s.jobs {
		names = append(names, j.Spec.Name)
	}
	f.AddToRolePolicy(s.locks.HistoryStatement())
	f.AddToRolePolicy(s.locks.ReadStatement(names...))
	awsevents.NewRule(s.scope, jsii.String("History"), &awsevents.RuleProps{
		EventBus:     s.bus,
		Description:  jsii.String("what became of the runs, to the observer"),
		EventPattern: &awsevents.EventPattern{Source: jsii.Strings(events.Source)},
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(f, &awseventstargets.LambdaFunctionProps{
			DeadLetterQueue: lost, RetryAttempts: jsii.Number(8), MaxEventAge: awscdk.Duration_Hours(jsii.Number(6)),
		})},
	})
	awsscheduler.NewSchedule(s.scope, jsii.String("DailyCheck"), &awsscheduler.ScheduleProps{
		Description: jsii.String("looks for jobs that have not completed a tick for days"),
		Schedule:    awsscheduler.ScheduleExpression_Rate(awscdk.Duration_Days(jsii.Number(1))),
		Target: awsschedulertargets.NewLambdaInvoke(f, &awsschedulertargets.ScheduleTargetBaseProps{
			Input: awsscheduler.ScheduleTargetInput_FromObject(map[string]any{"check": "overdue"}), DeadLetterQueue: lost, RetryAttempts: jsii.Number(2),
		}),
	})
	s.overdue(logs, topic)
}

// overdue raises an alarm for what the daily check logs.
func (s *stack) overdue(logs awslogs.ILogGroup, topic awssns.ITopic) {
	filter := awslogs.NewMetricFilter(s.scope, jsii.String("Overdue"), &awslogs.MetricFilterProps{
		LogGroup: logs, MetricNamespace: jsii.String(cdk.Namespace), MetricName: jsii.String("Overdue"),
		FilterPattern: awslogs.FilterPattern_Literal(jsii.String(`{ $.message = "job overdue" }`)), MetricValue: jsii.String("1"),
	})
	a := awscloudwatch.NewAlarm(s.scope, jsii.String("OverdueAlarm"), &awscloudwatch.AlarmProps{
		AlarmDescription: jsii.String("A job has not completed a tick for longer than its expected interval. Type: solotick --stack " + *s.scope.StackName() + ` status. Runbook: docs/operations.md, "Alarm: overdue".`),
		Metric:           filter.Metric(&awscloudwatch.MetricOptions{Period: awscdk.Duration_Hours(jsii.Number(1)), Statistic: jsii.String("Sum")}),
		Threshold:        jsii.Number(1), EvaluationPeriods: jsii.Number(1),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
	a.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
}
