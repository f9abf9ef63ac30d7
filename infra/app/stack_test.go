package app_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/infra/app"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// TestMain ends the node process of jsii, which would outlive the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// built is a folder with something in the place of every function.
func built(t *testing.T, jobs []job.Spec) string {
	t.Helper()
	folder := t.TempDir()
	names := []string{"observer"}
	for _, j := range jobs {
		names = append(names, j.Name)
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "bootstrap"), []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// context is what cdk.json sets.
func context(t *testing.T) *map[string]any {
	t.Helper()
	raw, err := os.ReadFile("../../cdk.json")
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ Context map[string]any }
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return &c.Context
}

func newApp(t *testing.T, validate bool) awscdk.App {
	t.Helper()
	return awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), Context: context(t), BuiltinCloudFormationValidation: jsii.Bool(validate)})
}

func stack(t *testing.T, props app.Props) awscdk.Stack {
	t.Helper()
	props.Functions = built(t, append(props.Jobs, functions.Jobs()...))
	s, err := app.NewStack(newApp(t, false), "solotick-test", props)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type resource struct {
	Type, DeletionPolicy string
	Properties           map[string]any
}

func resources(t *testing.T, s awscdk.Stack) map[string]resource {
	t.Helper()
	raw, err := json.Marshal(*assertions.Template_FromStack(s, nil).ToJSON())
	if err != nil {
		t.Fatal(err)
	}
	var template struct{ Resources map[string]resource }
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	return template.Resources
}

// The CDK's own validator fails the synthesis for what CloudFormation would refuse.
func TestTheTemplatePassesTheValidator(t *testing.T) {
	a := newApp(t, true)
	if _, err := app.NewStack(a, "solotick-test", app.Props{Functions: built(t, functions.Jobs())}); err != nil {
		t.Fatal(err)
	}
	a.Synth(nil)
}

func TestEveryJobOfTheListIsDeployed(t *testing.T) {
	s := stack(t, app.Props{CacheSource: "https://a.example", CacheTarget: "https://b.example"})
	schedules, functionCount := map[string]string{}, 0
	for _, r := range resources(t, s) {
		switch r.Type {
		case "AWS::Scheduler::Schedule":
			schedules[r.Properties["Description"].(string)] = r.Properties["ScheduleExpression"].(string) + " " + r.Properties["State"].(string)
		case "AWS::Lambda::Function":
			functionCount++
		}
	}
	want := map[string]string{"looks for jobs that have not completed a tick for days": "rate(1 day) ENABLED"}
	for _, j := range functions.Jobs() {
		want["ticks of the singleton job "+j.Name] = j.Schedule + " ENABLED"
	}
	if !maps.Equal(schedules, want) || functionCount != len(functions.Jobs())+1 {
		t.Errorf("schedules %v, %d functions", schedules, functionCount)
	}
}

func TestCacheRefreshWithoutURLsDoesNotFire(t *testing.T) {
	for id, r := range resources(t, stack(t, app.Props{})) {
		if want := map[bool]string{true: "DISABLED", false: "ENABLED"}[strings.HasPrefix(id, "cacherefresh")]; r.Type == "AWS::Scheduler::Schedule" && r.Properties["State"] != want {
			t.Errorf("schedule %s is %v", id, r.Properties["State"])
		}
		if r.Type == "AWS::CloudWatch::Alarm" && strings.HasPrefix(id, "Monitoringcacherefreshoverdue") {
			t.Errorf("the alarm %s waits for ticks that nobody sends", id)
		}
	}
}

// Data must outlive what is easy to get wrong: its logical id, and the stack of
// production.
func TestTheTablesKeepTheirPlace(t *testing.T) {
	for stage, policy := range map[string]string{app.Dev: "Delete", app.Prod: "Retain"} {
		s := stack(t, app.Props{Stage: stage})
		var ids []string
		for id, r := range resources(t, s) {
			if r.Type != "AWS::DynamoDB::GlobalTable" {
				continue
			}
			ids = append(ids, id)
			if r.DeletionPolicy != policy {
				t.Errorf("%s: table %s has the policy %s", stage, id, r.DeletionPolicy)
			}
		}
		slices.Sort(ids)
		// A table whose logical id changes is replaced by an empty one.
		if want := []string{"LocksTable84FB9352", "OrdersA9B65338", "Reports65402A0A"}; !slices.Equal(ids, want) {
			t.Errorf("%s: tables %v, expected %v", stage, ids, want)
		}
		if got := *s.TerminationProtection(); got != (stage == app.Prod) {
			t.Errorf("%s: termination protection %v", stage, got)
		}
	}
}

func TestNoRuleStartsAJob(t *testing.T) {
	rules := 0
	for id, r := range resources(t, stack(t, app.Props{})) {
		if r.Type != "AWS::Events::Rule" {
			continue
		}
		rules++
		raw, err := json.Marshal(r.Properties)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), `"source":["`+events.Source+`"]`) || strings.Count(string(raw), `"Arn":`) < 2 || !strings.Contains(string(raw), "Observer") {
			t.Errorf("rule %s: %s", id, raw)
		}
		for _, j := range functions.Jobs() {
			if strings.Contains(string(raw), strings.ReplaceAll(j.Name, "-", "")+"Function") {
				t.Errorf("rule %s starts the job %s with our own events", id, j.Name)
			}
		}
	}
	if rules != 1 {
		t.Errorf("%d rules", rules)
	}
}

func TestTheParameterTellsTheCommandsWhereThingsAre(t *testing.T) {
	for _, r := range resources(t, stack(t, app.Props{})) {
		if r.Type != "AWS::SSM::Parameter" {
			continue
		}
		raw, err := json.Marshal(r.Properties["Value"])
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range functions.Jobs() {
			if !strings.Contains(string(raw), `\"Name\":\"`+j.Name+`\"`) {
				t.Errorf("job %s is not in %s", j.Name, raw)
			}
		}
		if r.Properties["Name"] != "/solotick/solotick-test/jobs" {
			t.Errorf("its name is %v", r.Properties["Name"])
		}
		return
	}
	t.Error("there is no parameter")
}

func TestNothingReservesConcurrencyOrHasAFixedName(t *testing.T) {
	fixed := map[string]string{
		"AWS::DynamoDB::GlobalTable": "TableName", "AWS::Lambda::Function": "FunctionName", "AWS::SQS::Queue": "QueueName",
		"AWS::Logs::LogGroup": "LogGroupName", "AWS::CloudWatch::Alarm": "AlarmName", "AWS::IAM::Role": "RoleName", "AWS::Scheduler::Schedule": "Name",
	}
	for id, r := range resources(t, stack(t, app.Props{})) {
		if r.Properties["ReservedConcurrentExecutions"] != nil {
			t.Errorf("%s reserves concurrency", id)
		}
		if name, there := fixed[r.Type]; there && r.Properties[name] != nil {
			t.Errorf("%s has the fixed name %v", id, r.Properties[name])
		}
		if r.Type == "AWS::Logs::LogGroup" && r.Properties["RetentionInDays"] == nil {
			t.Errorf("log group %s keeps everything for ever", id)
		}
	}
}

func TestWhatCannotBeDeployedIsSaid(t *testing.T) {
	slow := functions.OrderSweeper
	slow.Name, slow.Timeout = "slow", 40*time.Second
	for want, props := range map[string]app.Props{
		`the stage is "test": expected "dev" or "prod"`:            {Stage: "test"},
		`the architecture is "arm": expected "arm64"`:              {Architecture: "arm"},
		`cacheSource is "https://a.example" and cacheTarget is ""`: {CacheSource: "https://a.example"},
		"raise Timeout to 43s or more":                             {Jobs: []job.Spec{slow}},
		"has a job of this name already":                           {Jobs: []job.Spec{functions.OrderSweeper, functions.OrderSweeper}},
	} {
		props.Functions = built(t, []job.Spec{slow, functions.OrderSweeper})
		if _, err := app.NewStack(newApp(t, false), "refused", props); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
}
