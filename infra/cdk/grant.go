package cdk

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/events"
)

// LockStatement lets a principal acquire, renew, release and check one job's lock,
// and nothing else in the table.
func (t *LockTable) LockStatement(jobName string) awsiam.PolicyStatement {
	return t.statement([]string{"dynamodb:UpdateItem", "dynamodb:GetItem", "dynamodb:ConditionCheckItem"}, "ForAllValues:StringEquals", "LOCK#"+jobName)
}

// statement allows actions on the items whose partition key is one of keys. The
// condition ForAllValues alone is true of a request without any key, so that is
// excluded too.
func (t *LockTable) statement(actions []string, operator string, keys ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings(actions...),
		Resources: jsii.Strings(*t.Table.TableArn()),
		Conditions: &map[string]any{
			operator: map[string]any{"dynamodb:LeadingKeys": keys},
			"Null":   map[string]any{"dynamodb:LeadingKeys": "false"},
		},
	})
}

// publishStatement allows events of ours on one bus. The source is checked as a
// list, because that is how PutEvents passes it.
func publishStatement(bus awsevents.IEventBus) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings("events:PutEvents"),
		Resources: jsii.Strings(*bus.EventBusArn()),
		Conditions: &map[string]any{
			"ForAllValues:StringEquals": map[string]any{"events:source": []string{events.Source}},
			"Null":                      map[string]any{"events:source": "false"},
		},
	})
}

// grant gives the job's function what its lock and its events need.
func (p *SingletonJobProps) grant(j *SingletonJob) {
	j.Function.AddToRolePolicy(p.Locks.LockStatement(p.Spec.Name))
	if key := p.Locks.Table.EncryptionKey(); key != nil {
		key.GrantEncryptDecrypt(j.Function)
	}
	if p.Bus != nil {
		j.Function.AddToRolePolicy(publishStatement(p.Bus))
	}
}

// HistoryStatement lets a principal keep history items, and nothing else.
func (t *LockTable) HistoryStatement() awsiam.PolicyStatement {
	return t.statement([]string{"dynamodb:PutItem"}, "ForAllValues:StringLike", "RUN#*")
}

// ReadStatement lets a principal read the locks of these jobs.
func (t *LockTable) ReadStatement(jobNames ...string) awsiam.PolicyStatement {
	keys := make([]string, len(jobNames))
	for i, name := range jobNames {
		keys[i] = "LOCK#" + name
	}
	return t.statement([]string{"dynamodb:GetItem"}, "ForAllValues:StringEquals", keys...)
}
