package cdk_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/infra/cdk"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

func TestEveryAlarmSaysWhatToDo(t *testing.T) {
	w := newWorld(t)
	topic := awssns.NewTopic(w.stack, jsii.String("Topic"), nil)
	if _, err := cdk.NewMonitoring(w.stack, "M", &cdk.MonitoringProps{Jobs: []*cdk.SingletonJob{w.job(cdk.SingletonJobProps{})}, Topic: topic}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for id, r := range w.resources("AWS::CloudWatch::Alarm") {
		p := r["Properties"].(map[string]any)
		description, _ := p["AlarmDescription"].(string)
		if !strings.Contains(description, "Type: solotick --stack stack why report.") || !strings.Contains(description, `Runbook: docs/operations.md, "Alarm: `) {
			t.Errorf("%s says %q", id, description)
		}
		if p["AlarmActions"] == nil {
			t.Errorf("%s tells nobody", id)
		}
		names = append(names, strings.TrimRight(strings.TrimPrefix(id, "Mreport"), "0123456789ABCDEF"))
	}
	slices.Sort(names)
	if want := []string{"blocked", "deadletters", "failed", "lost", "overdue", "undelivered"}; !slices.Equal(names, want) {
		t.Errorf("alarms %v, expected %v", names, want)
	}
	w.has("AWS::CloudWatch::Alarm", map[string]any{
		"EvaluationPeriods": 25, "TreatMissingData": "breaching", "ComparisonOperator": "LessThanThreshold",
		"WarmUpConfiguration": map[string]any{"OnlyStartEvaluatingAfterWarmUpPeriodEnds": true, "WarmUpPeriodDurationInMinutes": 25 * 60},
		"Metrics":             []any{assertions.Match_ObjectLike(&map[string]any{"MetricStat": assertions.Match_ObjectLike(&map[string]any{"Period": 3600})})},
	})
	w.template().ResourceCountIs(jsii.String("AWS::CloudWatch::Dashboard"), jsii.Number(1))
}

// periods of the alarm for a job that does not complete, for an interval.
func TestTheOverdueAlarmLooksBackAsFarAsItCan(t *testing.T) {
	type alarm struct{ period, periods, warmUp float64 }
	w := newWorld(t)
	var jobs []*cdk.SingletonJob
	want := map[string]alarm{}
	for name, test := range map[string]struct {
		every    time.Duration
		disabled bool
		alarm    alarm // zero: none
	}{
		"minutes": {every: 90 * time.Second, alarm: alarm{120, 1, 2}},
		"daily":   {every: 24 * time.Hour, alarm: alarm{86400, 1, 1440}},
		"longer":  {every: 24*time.Hour + time.Minute, alarm: alarm{3600, 25, 1441}},
		"longest": {every: job.LongestAlarm, alarm: alarm{3600, 144, 2880}},
		"weekly":  {every: job.LongestAlarm + time.Minute},
		"unknown": {},
		"off":     {every: time.Hour, disabled: true},
	} {
		s := spec
		s.Name, s.ExpectedInterval = name, test.every
		jobs = append(jobs, w.job(cdk.SingletonJobProps{Spec: s, Disabled: test.disabled}))
		if test.alarm != (alarm{}) {
			want[name] = test.alarm
		}
	}
	if _, err := cdk.NewMonitoring(w.stack, "M", &cdk.MonitoringProps{Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
	got := map[string]alarm{}
	for id, r := range w.resources("AWS::CloudWatch::Alarm") {
		name, found := strings.CutSuffix(strings.TrimRight(strings.TrimPrefix(id, "M"), "0123456789ABCDEF"), "overdue")
		if !found {
			continue
		}
		p := r["Properties"].(map[string]any)
		stat := p["Metrics"].([]any)[0].(map[string]any)["MetricStat"].(map[string]any)
		warm := p["WarmUpConfiguration"].(map[string]any)
		got[name] = alarm{stat["Period"].(float64), p["EvaluationPeriods"].(float64), warm["WarmUpPeriodDurationInMinutes"].(float64)}
	}
	if !maps.Equal(got, want) {
		t.Errorf("alarms %v, expected %v", got, want)
	}
}

func TestMonitoringWithoutJobsIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, p := range []*cdk.MonitoringProps{nil, {}, {Jobs: []*cdk.SingletonJob{nil}}} {
		if m, err := cdk.NewMonitoring(w.stack, "M", p); err == nil || m != nil || !strings.Contains(err.Error(), "NewMonitoring") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
