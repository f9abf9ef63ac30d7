package cdk

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

// makeFunction makes the job's function with a role, and a log group of its own:
// one that Lambda makes itself would have no retention and outlive the stack.
func (p *SingletonJobProps) makeFunction(j *SingletonJob) {
	retention := p.LogRetention
	if retention == "" {
		retention = awslogs.RetentionDays_THREE_MONTHS
	}
	logs := awslogs.NewLogGroup(j.Construct, jsii.String("Logs"), &awslogs.LogGroupProps{
		Retention: retention, EncryptionKey: p.EncryptionKey, RemovalPolicy: p.removal(),
	})
	role := awsiam.NewRole(j.Construct, jsii.String("Role"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description: jsii.String("Runs the singleton job " + p.Spec.Name),
	})
	logs.GrantWrite(role) // in the place of AWSLambdaBasicExecutionRole, which may write to every log group
	if p.Vpc != nil {
		role.AddManagedPolicy(awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("service-role/AWSLambdaVPCAccessExecutionRole")))
	}
	tracing := awslambda.Tracing_DISABLED
	if p.Tracing {
		tracing = awslambda.Tracing_ACTIVE
	}
	architecture := p.Architecture
	if architecture == nil {
		architecture = awslambda.Architecture_ARM_64()
	}
	j.Logs = logs
	j.Function = awslambda.NewFunction(j.Construct, jsii.String("Function"), &awslambda.FunctionProps{
		Description:   jsii.String("singleton job " + p.Spec.Name),
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:  architecture,
		Handler:       jsii.String("bootstrap"),
		Code:          awslambda.Code_FromAsset(jsii.String(p.Code), nil),
		MemorySize:    jsii.Number(p.Spec.MemoryMB),
		Timeout:       awscdk.Duration_Seconds(jsii.Number(p.Spec.Timeout.Seconds())),
		Environment:   p.environment(),
		Role:          role,
		LogGroup:      logs,
		LoggingFormat: awslambda.LoggingFormat_JSON, // the metrics read its fields
		// An event that waits longer than this is dropped to the queue. A failed run
		// is tried again after one minute and after two.
		MaxEventAge:           awscdk.Duration_Seconds(jsii.Number(eventAge(p.Spec).Seconds())),
		RetryAttempts:         jsii.Number(p.Spec.Retries),
		OnFailure:             awslambdadestinations.NewSqsDestination(j.Failed),
		Tracing:               tracing,
		EnvironmentEncryption: p.EncryptionKey,
		Vpc:                   p.Vpc, VpcSubnets: p.VpcSubnets,
	})
}

// adoptFunction gives a function that exists what the job needs.
func (p *SingletonJobProps) adoptFunction(j *SingletonJob) {
	for name, value := range *p.environment() {
		j.Function.AddEnvironment(jsii.String(name), value, nil)
	}
	j.Function.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		MaxEventAge:   awscdk.Duration_Seconds(jsii.Number(eventAge(p.Spec).Seconds())),
		RetryAttempts: jsii.Number(p.Spec.Retries),
		OnFailure:     awslambdadestinations.NewSqsDestination(j.Failed),
	})
}

// eventAge is how long Lambda may keep a tick: no longer than a run would take it
// for, and Lambda's own limit where the job has none.
func eventAge(s job.Spec) time.Duration {
	if s.MaxAge == 0 {
		return job.MaxAge
	}
	return s.MaxAge
}
