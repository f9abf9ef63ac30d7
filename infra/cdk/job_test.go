package cdk_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/infra/cdk"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

func TestTheScheduleDeliversTicks(t *testing.T) {
	w := newWorld(t)
	w.job(cdk.SingletonJobProps{FlexibleWindow: 10 * time.Minute})
	w.has("AWS::Scheduler::Schedule", map[string]any{
		"ScheduleExpression": "cron(0 2 * * ? *)", "ScheduleExpressionTimezone": "Europe/Berlin", "State": "ENABLED",
		"FlexibleTimeWindow": map[string]any{"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 10},
		"Target": assertions.Match_ObjectLike(&map[string]any{
			"RetryPolicy":      map[string]any{"MaximumEventAgeInSeconds": 7200, "MaximumRetryAttempts": 2},
			"DeadLetterConfig": assertions.Match_AnyValue(),
		}),
	})
	for _, s := range w.resources("AWS::Scheduler::Schedule") {
		target := s["Properties"].(map[string]any)["Target"].(map[string]any)
		var input, want map[string]string
		if err := json.Unmarshal([]byte(target["Input"].(string)), &input); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(events.ScheduleInput), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(input, want) || strings.Contains(target["Input"].(string), `\u003c`) {
			t.Errorf("the schedule's input is %s, expected %s", target["Input"], events.ScheduleInput)
		}
	}
}

func TestAFunctionIsMadeByTheSpec(t *testing.T) {
	w := newWorld(t)
	w.job(cdk.SingletonJobProps{Environment: map[string]string{"MINE": "1"}})
	w.has("AWS::Lambda::Function", map[string]any{
		"Runtime": "provided.al2023", "Architectures": []any{"arm64"}, "Handler": "bootstrap", "MemorySize": 256, "Timeout": 300,
		"LoggingConfig":                assertions.Match_ObjectLike(&map[string]any{"LogFormat": "JSON", "LogGroup": assertions.Match_AnyValue()}),
		"ReservedConcurrentExecutions": assertions.Match_Absent(),
		"Environment": map[string]any{"Variables": assertions.Match_ObjectLike(&map[string]any{
			"MINE": "1", "SOLOTICK_LOCK_PARTITION_KEY": "pk", "SOLOTICK_LOCK_SORT_KEY": "sk", "SOLOTICK_LOCK_TTL_ATTRIBUTE": "expires",
		})},
	})
	w.has("AWS::Lambda::EventInvokeConfig", map[string]any{
		"MaximumEventAgeInSeconds": 7200, "MaximumRetryAttempts": 1,
		"DestinationConfig": map[string]any{"OnFailure": assertions.Match_AnyValue()},
	})
	w.has("AWS::Logs::LogGroup", map[string]any{"RetentionInDays": 90, "LogGroupName": assertions.Match_Absent()})
	w.template().ResourceCountIs(jsii.String("AWS::SQS::Queue"), jsii.Number(2))
	w.template().AllResourcesProperties(jsii.String("AWS::SQS::Queue"), map[string]any{"MessageRetentionPeriod": 1209600})
}

// statements are what the function's role may do, without what its log needs.
func statements(w *world) []map[string]any {
	w.Helper()
	var all []map[string]any
	for id, p := range w.resources("AWS::IAM::Policy") {
		if !strings.HasPrefix(id, "reportRole") {
			continue
		}
		document := p["Properties"].(map[string]any)["PolicyDocument"].(map[string]any)
		for _, s := range document["Statement"].([]any) {
			all = append(all, s.(map[string]any))
		}
	}
	return all
}

func TestTheRoleMayDoWhatTheLockNeedsAndNothingElse(t *testing.T) {
	w := newWorld(t)
	bus := awsevents.NewEventBus(w.stack, jsii.String("Bus"), nil)
	w.job(cdk.SingletonJobProps{Bus: bus})
	got := map[string]any{}
	for _, s := range statements(w) {
		actions, several := s["Action"].([]any)
		if !several {
			actions = []any{s["Action"]}
		}
		var names []string
		for _, a := range actions {
			names = append(names, a.(string))
		}
		slices.Sort(names)
		got[strings.Join(names, " ")] = s["Condition"]
		if s["Effect"] != "Allow" || s["Resource"] == "*" {
			t.Errorf("statement %+v", s)
		}
	}
	want := map[string]any{
		"logs:CreateLogStream logs:PutLogEvents":                 nil,
		"sqs:GetQueueAttributes sqs:GetQueueUrl sqs:SendMessage": nil, // the queue of failed ticks
		"dynamodb:ConditionCheckItem dynamodb:GetItem dynamodb:UpdateItem": map[string]any{
			"ForAllValues:StringEquals": map[string]any{"dynamodb:LeadingKeys": []any{"LOCK#report"}}, "Null": map[string]any{"dynamodb:LeadingKeys": "false"},
		},
		"events:PutEvents": map[string]any{
			"ForAllValues:StringEquals": map[string]any{"events:source": []any{"solotick"}}, "Null": map[string]any{"events:source": "false"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the role may %+v\nexpected %+v", got, want)
	}
}

func TestAFunctionOfYoursIsAdopted(t *testing.T) {
	w := newWorld(t)
	mine := awslambda.NewFunction(w.stack, jsii.String("Mine"), &awslambda.FunctionProps{
		Runtime: awslambda.Runtime_PROVIDED_AL2023(), Handler: jsii.String("bootstrap"), Code: awslambda.Code_FromAsset(jsii.String(w.code), nil),
		Timeout: awscdk.Duration_Minutes(jsii.Number(5)), Architecture: awslambda.Architecture_X86_64(),
	})
	j := w.job(cdk.SingletonJobProps{Function: mine})
	w.template().ResourceCountIs(jsii.String("AWS::Lambda::Function"), jsii.Number(1))
	w.has("AWS::Lambda::Function", map[string]any{
		"Architectures": []any{"x86_64"},
		"Environment":   map[string]any{"Variables": assertions.Match_ObjectLike(&map[string]any{"SOLOTICK_LOCK_TABLE": assertions.Match_AnyValue()})},
	})
	w.has("AWS::Lambda::EventInvokeConfig", map[string]any{"MaximumEventAgeInSeconds": 7200, "MaximumRetryAttempts": 1})
	w.template().ResourceCountIs(jsii.String("AWS::Logs::MetricFilter"), jsii.Number(0))
	if j.Logs != nil || j.Function != mine {
		t.Errorf("logs %v, function %v", j.Logs, j.Function)
	}
}

func TestABoundaryLimitsEveryRole(t *testing.T) {
	w := newWorld(t)
	w.job(cdk.SingletonJobProps{PermissionsBoundary: awsiam.ManagedPolicy_FromManagedPolicyName(w.stack, jsii.String("Boundary"), jsii.String("limit"))})
	for id, r := range w.resources("AWS::IAM::Role") {
		if strings.HasPrefix(id, "report") && r["Properties"].(map[string]any)["PermissionsBoundary"] == nil {
			t.Errorf("role %s has no boundary", id)
		}
	}
}

func TestWhatCannotBeDeployedIsRefused(t *testing.T) {
	w := newWorld(t)
	w.job(cdk.SingletonJobProps{})
	with := func(change func(*job.Spec)) job.Spec { s := spec; s.Name = "other"; change(&s); return s }
	short := awslambda.NewFunction(w.stack, jsii.String("Short"), &awslambda.FunctionProps{
		Runtime: awslambda.Runtime_PROVIDED_AL2023(), Handler: jsii.String("bootstrap"), Code: awslambda.Code_FromAsset(jsii.String(w.code), nil),
	})
	ok := with(func(*job.Spec) {})
	for _, test := range []struct {
		name  string
		props *cdk.SingletonJobProps
		want  string
	}{
		{"nil props", nil, "props are nil: pass at least Spec, Locks and Code or Function"},
		{"nothing set", &cdk.SingletonJobProps{}, "Name is empty"},
		{"nothing set", &cdk.SingletonJobProps{}, "Locks is nil"},
		{"no schedule", &cdk.SingletonJobProps{Spec: with(func(s *job.Spec) { s.Schedule = "" }), Locks: w.locks, Code: w.code}, "Schedule is empty"},
		{"no timeout", &cdk.SingletonJobProps{Spec: with(func(s *job.Spec) { s.Timeout = 0 }), Locks: w.locks, Code: w.code}, "Timeout is not set"},
		{"contending eats the time", &cdk.SingletonJobProps{Spec: with(func(s *job.Spec) { s.Timeout = 40 * time.Second }), Locks: w.locks, Code: w.code}, "raise Timeout to 43s or more"},
		{"too old", &cdk.SingletonJobProps{Spec: with(func(s *job.Spec) { s.MaxAge = 30 * time.Second }), Locks: w.locks, Code: w.code}, "MaxAge is 30s"},
		{"neither code nor function", &cdk.SingletonJobProps{Spec: ok, Locks: w.locks}, "exactly one of Code"},
		{"both", &cdk.SingletonJobProps{Spec: ok, Locks: w.locks, Code: w.code, Function: short}, "exactly one of Code"},
		{"another timeout", &cdk.SingletonJobProps{Spec: ok, Locks: w.locks, Function: short}, "the function's timeout is 3s and the spec's 5m0s"},
		{"a window", &cdk.SingletonJobProps{Spec: ok, Locks: w.locks, Code: w.code, FlexibleWindow: time.Second}, "FlexibleWindow is 1s"},
		{"a second schedule", &cdk.SingletonJobProps{Spec: spec, Locks: w.locks, Code: w.code}, "the stack has a job of this name already (stack/report)"},
	} {
		if j, err := cdk.NewSingletonJob(w.stack, "refused", test.props); err == nil || !strings.Contains(err.Error(), test.want) || j != nil {
			t.Errorf("%s: got %v, expected %s", test.name, err, test.want)
		}
	}
	if _, err := cdk.NewSingletonJob(nil, "x", nil); err == nil || !strings.Contains(err.Error(), "NewSingletonJob: the scope is nil") {
		t.Errorf("no scope: %v", err)
	}
	if _, err := cdk.NewSingletonJob(w.stack, "", nil); err == nil || !strings.Contains(err.Error(), "the id is empty") {
		t.Errorf("no id: %v", err)
	}
}
