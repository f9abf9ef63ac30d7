package cdk

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

// SingletonJobProps say what to deploy. Spec, Locks and one of Code and Function
// are required.
type SingletonJobProps struct {
	// Spec is the job's numbers. It must have a Schedule and a Timeout.
	Spec  job.Spec
	Locks *LockTable

	// Code is a folder with the executable named bootstrap.
	Code string
	// Function is one that you have made, in the place of Code. It keeps its own
	// timeout, which must be the spec's, its memory, its role and its log group.
	// Its logs must have the format JSON for the metrics to count.
	Function awslambda.Function
	// FunctionLogs is the log group of Function; nil: no metrics.
	FunctionLogs awslogs.ILogGroup

	// Environment is added to what the job needs for its lock.
	Environment map[string]string
	// Bus receives the job's events; nil: it publishes none.
	Bus awsevents.IEventBus
	// Disabled deploys the schedule without letting it fire.
	Disabled bool
	// FlexibleWindow lets EventBridge spread the deliveries over this time after
	// each due time, up to 24 h in whole minutes; 0: off. The tick stays the due
	// time.
	FlexibleWindow time.Duration

	Architecture  awslambda.Architecture // nil: arm64
	Tracing       bool                   // X-Ray
	LogRetention  awslogs.RetentionDays  // "": three months
	EncryptionKey awskms.IKey            // of queues, log group and environment; nil: keys that AWS owns
	Vpc           awsec2.IVpc            // nil: none
	VpcSubnets    *awsec2.SubnetSelection
	// PermissionsBoundary limits every role that the construct makes.
	PermissionsBoundary awsiam.IManagedPolicy
	// Removable: logs and queues go away with the stack.
	Removable bool
}

// SingletonJob is a deployed job.
type SingletonJob struct {
	Construct constructs.Construct // the scope of its parts
	Spec      job.Spec             // with its defaults
	Function  awslambda.Function
	Schedule  awsscheduler.Schedule
	// Undelivered holds ticks that EventBridge Scheduler could not hand to Lambda,
	// Failed those whose runs failed at every try.
	Undelivered, Failed awssqs.Queue
	Logs                awslogs.ILogGroup // nil for a Function without FunctionLogs
	disabled            bool              // nobody misses the ticks of a schedule that does not fire
}

// NewSingletonJob deploys a job. A spec that is not valid, or not complete enough
// to be deployed, is an error that lists every fault. A second job of the same
// name in the same stack is one as well: two schedules would call each other's
// ticks done.
func NewSingletonJob(scope constructs.Construct, id string, props *SingletonJobProps) (*SingletonJob, error) {
	if err := checkScope("NewSingletonJob", scope, id); err != nil {
		return nil, err
	}
	if props == nil {
		return nil, errors.New("cdk: NewSingletonJob: props are nil: pass at least Spec, Locks and Code or Function")
	}
	if err := props.check(scope); err != nil {
		return nil, err
	}
	p := *props
	p.Spec = p.Spec.WithDefaults()
	j := &SingletonJob{Construct: constructs.NewConstruct(scope, jsii.String(id)), Spec: p.Spec, Logs: p.FunctionLogs, disabled: p.Disabled}
	awscdk.Stack_Of(scope).Node().AddMetadata(jsii.String(jobMetadata+p.Spec.Name), j.Construct.Node().Path(), nil)
	j.Undelivered = p.queue(j, "Undelivered")
	j.Failed = p.queue(j, "Failed")
	if j.Function = p.Function; j.Function == nil {
		p.makeFunction(j)
	} else {
		p.adoptFunction(j)
	}
	p.grant(j)
	p.schedule(j)
	if j.Logs != nil {
		count(j.Construct, j.Logs)
	}
	if p.PermissionsBoundary != nil {
		awsiam.PermissionsBoundary_Of(j.Construct).Apply(p.PermissionsBoundary)
	}
	return j, nil
}

// jobMetadata and the name of a job mark the stack that deploys it; the value is
// the path of the construct.
const jobMetadata = "solotick:job:"

func (p *SingletonJobProps) check(scope constructs.Construct) error {
	faults := []error{p.Spec.Validate()}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if p.Spec.Schedule == "" {
		fault("Schedule is empty: write it as EventBridge does, such as rate(5 minutes)")
	}
	if p.Spec.Timeout == 0 {
		fault("Timeout is not set: without it nobody knows whether contending for the lock leaves time for the work")
	}
	if p.Locks == nil || p.Locks.Table == nil {
		fault("Locks is nil: pass what NewLockTable or LockTableFromName returned")
	}
	if (p.Code == "") == (p.Function == nil) {
		fault("exactly one of Code (a folder with the bootstrap) and Function must be set")
	}
	if w := p.FlexibleWindow; w < 0 || w > 24*time.Hour || w%time.Minute != 0 {
		fault("FlexibleWindow is %s: EventBridge takes whole minutes up to 24h, 0 is off", w)
	}
	if p.Function != nil && p.Spec.Timeout > 0 && timeout(p.Function) != p.Spec.Timeout {
		fault("the function's timeout is %s and the spec's %s: the run's time budget is made from it, so make them equal", timeout(p.Function), p.Spec.Timeout)
	}
	for _, m := range *awscdk.Stack_Of(scope).Node().Metadata() {
		if m.Type != nil && *m.Type == jobMetadata+p.Spec.Name {
			fault("the stack has a job of this name already (%s): a job has one schedule, or each would call the other's ticks done", m.Data)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("cdk: job %q cannot be deployed:\n%w", p.Spec.Name, err)
	}
	return nil
}

func timeout(f awslambda.Function) time.Duration {
	if f.Timeout() == nil {
		return 3 * time.Second // Lambda's default
	}
	return time.Duration(*f.Timeout().ToMilliseconds(nil)) * time.Millisecond
}

// queue makes a dead-letter queue that keeps its messages as long as SQS does.
func (p *SingletonJobProps) queue(j *SingletonJob, id string) awssqs.Queue {
	encryption := awssqs.QueueEncryption_SQS_MANAGED
	if p.EncryptionKey != nil {
		encryption = awssqs.QueueEncryption_KMS
	}
	return awssqs.NewQueue(j.Construct, jsii.String(id), &awssqs.QueueProps{
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
		EnforceSSL:      jsii.Bool(true),
		Encryption:      encryption, EncryptionMasterKey: p.EncryptionKey,
		RemovalPolicy: p.removal(),
	})
}

func (p *SingletonJobProps) removal() awscdk.RemovalPolicy {
	if p.Removable {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN
}

// environment is the function's; the user's own wins.
func (p *SingletonJobProps) environment() *map[string]*string {
	env := p.Locks.Environment()
	if p.Bus != nil {
		env["SOLOTICK_EVENT_BUS"] = *p.Bus.EventBusName()
	}
	maps.Copy(env, p.Environment)
	out := make(map[string]*string, len(env))
	for name, value := range env {
		out[name] = jsii.String(value)
	}
	return &out
}
