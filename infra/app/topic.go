package app

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// topic is where alarms go; subscribe to it by its output. A topic policy with
// only the rule that demands TLS would replace SNS's own, and no alarm could
// publish, so that is allowed explicitly.
func (s *stack) topic() awssns.Topic {
	t := awssns.NewTopic(s.scope, jsii.String("Alarms"), &awssns.TopicProps{EnforceSSL: jsii.Bool(true)})
	t.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  jsii.Strings(*t.TopicArn()),
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": *awscdk.Aws_ACCOUNT_ID()}},
	}))
	awscdk.NewCfnOutput(s.scope, jsii.String("AlarmTopic"), &awscdk.CfnOutputProps{Value: t.TopicArn(), Description: jsii.String("subscribe to hear of alarms")})
	return t
}
