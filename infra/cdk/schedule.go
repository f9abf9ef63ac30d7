package cdk

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsschedulertargets"
	"github.com/aws/jsii-runtime-go"
)

// schedule makes the job's one schedule. Its retries are for delivery to Lambda
// only, which queues the event and then keeps its own.
func (p *SingletonJobProps) schedule(j *SingletonJob) {
	zone := awscdk.TimeZone_ETC_UTC()
	if p.Spec.TimeZone != "" {
		zone = awscdk.TimeZone_Of(jsii.String(p.Spec.TimeZone))
	}
	window := awsscheduler.TimeWindow_Off()
	if p.FlexibleWindow > 0 {
		window = awsscheduler.TimeWindow_Flexible(awscdk.Duration_Minutes(jsii.Number(p.FlexibleWindow.Minutes())))
	}
	j.Schedule = awsscheduler.NewSchedule(j.Construct, jsii.String("Schedule"), &awsscheduler.ScheduleProps{
		Description: jsii.String("ticks of the singleton job " + p.Spec.Name),
		Schedule:    awsscheduler.ScheduleExpression_Expression(jsii.String(p.Spec.Schedule), zone),
		TimeWindow:  window,
		Enabled:     jsii.Bool(!p.Disabled),
		Target: awsschedulertargets.NewLambdaInvoke(j.Function, &awsschedulertargets.ScheduleTargetBaseProps{
			Input: awsscheduler.ScheduleTargetInput_FromObject(map[string]any{
				"tick":         *awsscheduler.ContextAttribute_ScheduledTime(),
				"execution_id": *awsscheduler.ContextAttribute_ExecutionId(),
				"attempt":      *awsscheduler.ContextAttribute_AttemptNumber(),
			}),
			DeadLetterQueue: j.Undelivered,
			MaxEventAge:     awscdk.Duration_Seconds(jsii.Number(eventAge(p.Spec).Seconds())),
			RetryAttempts:   jsii.Number(deliveryRetries),
		}),
	})
}

// deliveryRetries is how often Scheduler tries again to hand a tick to Lambda. Its
// own default of 185 would go on for a day.
const deliveryRetries = 2
