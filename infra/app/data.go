package app

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/orders"
)

// data are the tables that the sample jobs work on, and what each job needs.
type data struct{ needs map[string]needs }

// needs is what a job gets beside its lock.
type needs struct {
	environment map[string]string
	statements  []awsiam.PolicyStatement
	disabled    bool
}

// of returns what a job needs; nothing, for one that is not listed.
func (d data) of(job string) needs { return d.needs[job] }

// data makes the sample's tables. A job of yours that works on data gets its entry
// here: the variables that it reads and what its role may do.
func (s *stack) data() data {
	ordersTable := s.ordersTable()
	reports := s.table("Reports", orders.AttrReport)
	cache := map[string]string{"SOLOTICK_CACHE_SOURCE": s.props.CacheSource, "SOLOTICK_CACHE_TARGET": s.props.CacheTarget}
	if s.props.CacheSource == "" {
		cache = nil
	}
	index := func(name string) string { return *ordersTable.TableArn() + "/index/" + name }
	return data{needs: map[string]needs{
		functions.OrderSweeper.Name: {
			environment: map[string]string{"SOLOTICK_ORDERS_TABLE": *ordersTable.TableName()},
			statements:  []awsiam.PolicyStatement{allow(index(orders.IndexByStatus), "dynamodb:Query"), allow(*ordersTable.TableArn(), "dynamodb:UpdateItem")},
		},
		functions.NightlyReport.Name: {
			environment: map[string]string{"SOLOTICK_ORDERS_TABLE": *ordersTable.TableName(), "SOLOTICK_REPORTS_TABLE": *reports.TableName()},
			statements:  []awsiam.PolicyStatement{allow(index(orders.IndexByDay), "dynamodb:Query"), allow(*reports.TableArn(), "dynamodb:GetItem", "dynamodb:PutItem")},
		},
		functions.CacheRefresh.Name: {environment: cache, disabled: cache == nil},
	}}
}

func allow(resource string, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...), Resources: jsii.Strings(resource)})
}

func (s *stack) ordersTable() awsdynamodb.TableV2 {
	t := s.table("Orders", orders.AttrID)
	placedAt := &awsdynamodb.Attribute{Name: jsii.String(orders.AttrPlacedAt), Type: awsdynamodb.AttributeType_NUMBER}
	t.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexPropsV2{
		IndexName:      jsii.String(orders.IndexByStatus),
		PartitionKey:   &awsdynamodb.Attribute{Name: jsii.String(orders.AttrStatus), Type: awsdynamodb.AttributeType_STRING},
		SortKey:        placedAt,
		ProjectionType: awsdynamodb.ProjectionType_KEYS_ONLY,
	})
	t.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexPropsV2{
		IndexName:        jsii.String(orders.IndexByDay),
		PartitionKey:     &awsdynamodb.Attribute{Name: jsii.String(orders.AttrPlacedOn), Type: awsdynamodb.AttributeType_STRING},
		SortKey:          placedAt,
		ProjectionType:   awsdynamodb.ProjectionType_INCLUDE,
		NonKeyAttributes: jsii.Strings(orders.AttrTotal),
	})
	return t
}

func (s *stack) table(id, key string) awsdynamodb.TableV2 {
	return awsdynamodb.NewTableV2(s.scope, jsii.String(id), &awsdynamodb.TablePropsV2{
		PartitionKey:       &awsdynamodb.Attribute{Name: jsii.String(key), Type: awsdynamodb.AttributeType_STRING},
		Billing:            awsdynamodb.Billing_OnDemand(nil),
		DeletionProtection: jsii.Bool(s.production),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		RemovalPolicy: s.removal(),
	})
}
