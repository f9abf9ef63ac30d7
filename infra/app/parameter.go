package app

import (
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsssm"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/functions/manifest"
)

// parameter writes what the operator's commands need to find everything.
func (s *stack) parameter() error {
	m := manifest.Manifest{
		Table: manifest.Table{Name: *s.locks.Table.TableName(), PartitionKey: s.locks.PartitionKey, SortKey: s.locks.SortKey, TTLAttribute: s.locks.TTLAttribute},
		Bus:   *s.bus.EventBusName(),
	}
	for _, j := range s.jobs {
		m.Jobs = append(m.Jobs, manifest.Job{
			Spec: j.Spec, Function: *j.Function.FunctionName(), Schedule: *j.Schedule.ScheduleName(), Logs: *j.Logs.LogGroupName(),
			Failed: *j.Failed.QueueUrl(), Undelivered: *j.Undelivered.QueueUrl(),
		})
	}
	value, err := json.Marshal(m) // physical names are placeholders here, which CloudFormation fills in
	if err != nil {
		return err
	}
	name := manifest.ParameterName(*s.scope.StackName())
	awsssm.NewStringParameter(s.scope, jsii.String("Manifest"), &awsssm.StringParameterProps{
		ParameterName: jsii.String(name),
		Description:   jsii.String("what solotick's commands need to find the jobs of this stack"),
		StringValue:   jsii.String(string(value)),
		Tier:          awsssm.ParameterTier_INTELLIGENT_TIERING, // some eight jobs fit into the free one
	})
	awscdk.NewCfnOutput(s.scope, jsii.String("Parameter"), &awscdk.CfnOutputProps{Value: jsii.String(name), Description: jsii.String("solotick --stack reads it")})
	return nil
}
