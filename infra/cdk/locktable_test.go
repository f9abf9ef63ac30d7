package cdk_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/infra/cdk"
)

func TestTheTableIsKeptAndHasOneRegion(t *testing.T) {
	w := newWorld(t)
	w.template().HasResource(jsii.String("AWS::DynamoDB::GlobalTable"), map[string]any{
		"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain",
		"Properties": map[string]any{
			"BillingMode":             "PAY_PER_REQUEST",
			"AttributeDefinitions":    []any{map[string]any{"AttributeName": "pk", "AttributeType": "S"}, map[string]any{"AttributeName": "sk", "AttributeType": "S"}},
			"KeySchema":               []any{map[string]any{"AttributeName": "pk", "KeyType": "HASH"}, map[string]any{"AttributeName": "sk", "KeyType": "RANGE"}},
			"TimeToLiveSpecification": map[string]any{"AttributeName": "expires", "Enabled": true},
			"Replicas": []any{map[string]any{
				"Region": map[string]any{"Ref": "AWS::Region"}, "DeletionProtectionEnabled": true,
				"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": true},
			}},
		},
	})
	for _, r := range w.resources("AWS::DynamoDB::GlobalTable") {
		if name := r["Properties"].(map[string]any)["TableName"]; name != nil {
			t.Errorf("the table has the fixed name %v, so it could not be replaced", name)
		}
	}
}

func TestAnExistingTableIsUsed(t *testing.T) {
	w := newWorld(t)
	var err error
	if w.locks, err = cdk.LockTableFromName(w.stack, "Shop", &cdk.ExistingTable{Name: "shop", PartitionKey: "id"}); err != nil {
		t.Fatal(err)
	}
	w.job(cdk.SingletonJobProps{})
	w.has("AWS::Lambda::Function", map[string]any{"Environment": map[string]any{"Variables": map[string]any{
		"SOLOTICK_LOCK_TABLE": "shop", "SOLOTICK_LOCK_PARTITION_KEY": "id", "SOLOTICK_LOCK_SORT_KEY": "none",
	}}})
	for _, e := range []*cdk.ExistingTable{nil, {}} {
		if _, err := cdk.LockTableFromName(w.stack, "None", e); err == nil || !strings.Contains(err.Error(), "the table has no name") {
			t.Errorf("%+v: %v", e, err)
		}
	}
	if _, err := cdk.NewLockTable(nil, "x", nil); err == nil || !strings.Contains(err.Error(), "NewLockTable: the scope is nil") {
		t.Errorf("no scope: %v", err)
	}
}

func TestAKeyOfTheAccountEncryptsTheTable(t *testing.T) {
	w := newWorld(t)
	agnostic := awskms.NewKey(w.stack, jsii.String("Key"), nil)
	if _, err := cdk.NewLockTable(w.stack, "Secret", &cdk.LockTableProps{EncryptionKey: agnostic}); err == nil || !strings.Contains(err.Error(), "needs a stack that names its Region") {
		t.Errorf("a stack without a Region: %v", err)
	}
	w.stack = awscdk.NewStack(w.stack.Node().Root().(awscdk.App), jsii.String("regional"), &awscdk.StackProps{Env: &awscdk.Environment{Account: jsii.String("123456789012"), Region: jsii.String("eu-central-1")}})
	key := awskms.NewKey(w.stack, jsii.String("Key"), nil)
	var err error
	if w.locks, err = cdk.NewLockTable(w.stack, "Secret", &cdk.LockTableProps{EncryptionKey: key, Removable: true}); err != nil {
		t.Fatal(err)
	}
	w.job(cdk.SingletonJobProps{EncryptionKey: key})
	found := false
	for _, s := range statements(w) {
		actions, ok := s["Action"].([]any)
		found = found || ok && len(actions) > 0 && strings.HasPrefix(actions[0].(string), "kms:")
	}
	if !found {
		t.Error("the function may not use the table's key")
	}
	w.template().HasResource(jsii.String("AWS::DynamoDB::GlobalTable"), map[string]any{"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"})
}
