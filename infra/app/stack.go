// Package app is the stack of this repository: its jobs, from the list in package
// functions, with their table, bus, history and alarms.
package app

import (
	"fmt"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/infra/cdk"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// The stages. A dev stack cleans up after itself, a prod stack keeps its data and
// is protected from being deleted.
const (
	Dev  = "dev"
	Prod = "prod"
)

// Props are what a deployment may choose.
type Props struct {
	Stage string // Dev or Prod; "": Dev
	// Functions is the folder with <name>/bootstrap for every job and the observer.
	Functions string
	// Architecture of the bootstraps: "arm64" or "x86_64"; "": arm64.
	Architecture string
	// CacheSource and CacheTarget are the URLs of cache-refresh. Without both its
	// schedule is deployed disabled.
	CacheSource, CacheTarget string
	// Jobs are deployed in the place of the application's own; nil: those.
	Jobs []job.Spec
}

// stack is what the parts of the stack share.
type stack struct {
	scope        awscdk.Stack
	props        Props
	production   bool
	architecture awslambda.Architecture
	locks        *cdk.LockTable
	bus          awsevents.EventBus
	jobs         []*cdk.SingletonJob
}

// NewStack adds the stack to an app. The error lists what is wrong with the props
// or with the jobs' numbers.
func NewStack(scope constructs.Construct, id string, props Props) (awscdk.Stack, error) {
	s := &stack{props: props}
	switch props.Stage {
	case "", Dev:
	case Prod:
		s.production = true
	default:
		return nil, fmt.Errorf("the stage is %q: expected %q or %q, as in -c stage=prod", props.Stage, Dev, Prod)
	}
	switch props.Architecture {
	case "", "arm64":
		s.architecture = awslambda.Architecture_ARM_64()
	case "x86_64":
		s.architecture = awslambda.Architecture_X86_64()
	default:
		return nil, fmt.Errorf(`the architecture is %q: expected "arm64" or "x86_64", as in -c architecture=x86_64`, props.Architecture)
	}
	if (props.CacheSource == "") != (props.CacheTarget == "") {
		return nil, fmt.Errorf("cacheSource is %q and cacheTarget is %q: cache-refresh needs both, or neither and is deployed disabled", props.CacheSource, props.CacheTarget)
	}
	specs := props.Jobs
	if specs == nil {
		specs = functions.Jobs()
	}
	s.scope = awscdk.NewStack(scope, jsii.String(id), &awscdk.StackProps{
		Description:           jsii.String("solotick: scheduled jobs that run one at a time, once per tick"),
		TerminationProtection: jsii.Bool(s.production),
	})
	var err error
	if s.locks, err = cdk.NewLockTable(s.scope, "Locks", &cdk.LockTableProps{Removable: !s.production}); err != nil {
		return nil, err
	}
	s.bus = awsevents.NewEventBus(s.scope, jsii.String("Bus"), &awsevents.EventBusProps{Description: jsii.String("what became of the runs of solotick's jobs")})
	data := s.data()
	for _, spec := range specs {
		if err := s.deploy(spec, data); err != nil {
			return nil, err
		}
	}
	topic := s.topic()
	if _, err := cdk.NewMonitoring(s.scope, "Monitoring", &cdk.MonitoringProps{Jobs: s.jobs, Topic: topic}); err != nil {
		return nil, err
	}
	s.observer(topic)
	return s.scope, s.parameter()
}

// deploy adds one job. What it needs beside its lock is in the table of needs.
func (s *stack) deploy(spec job.Spec, data data) error {
	needs := data.of(spec.Name)
	j, err := cdk.NewSingletonJob(s.scope, spec.Name, &cdk.SingletonJobProps{
		Spec: spec, Locks: s.locks, Bus: s.bus,
		Code:         filepath.Join(s.props.Functions, spec.Name),
		Environment:  needs.environment,
		Disabled:     needs.disabled,
		Architecture: s.architecture,
		LogRetention: awslogs.RetentionDays_THREE_MONTHS,
		Removable:    !s.production,
	})
	if err != nil {
		return err
	}
	for _, statement := range needs.statements {
		j.Function.AddToRolePolicy(statement)
	}
	s.jobs = append(s.jobs, j)
	return nil
}

func (s *stack) removal() awscdk.RemovalPolicy {
	if s.production {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}
