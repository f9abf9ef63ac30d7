package cdk

import (
	"errors"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// The names of the attributes of a table that NewLockTable makes. Renaming a key
// attribute replaces the table, so they never change.
const (
	PartitionKey = "pk"
	SortKey      = "sk"
	TTLAttribute = "expires"
)

// LockTableProps are what a lock table may differ in. The zero value is a table
// for production.
type LockTableProps struct {
	// Removable: the table goes away with the stack, and nothing protects it. For
	// a development stack. Otherwise it is kept and protected from deletion.
	Removable bool
	// EncryptionKey encrypts the table; nil: a key that AWS owns. The stack must then
	// name its Region.
	EncryptionKey awskms.IKey
}

// LockTable is the table that holds the locks of jobs and their history.
type LockTable struct {
	Construct constructs.Construct // the scope of its parts
	Table     awsdynamodb.ITableV2
	// The names of its attributes; no SortKey: "", no time to live: "".
	PartitionKey, SortKey, TTLAttribute string
}

// NewLockTable makes a table: billed on demand, with string keys, time to live and
// point-in-time recovery. It has no fixed name, so that it can be replaced. nil
// props are the zero value.
func NewLockTable(scope constructs.Construct, id string, props *LockTableProps) (*LockTable, error) {
	if err := checkScope("NewLockTable", scope, id); err != nil {
		return nil, err
	}
	p := LockTableProps{}
	if props != nil {
		p = *props
	}
	policy := awscdk.RemovalPolicy_RETAIN
	if p.Removable {
		policy = awscdk.RemovalPolicy_DESTROY
	}
	encryption := awsdynamodb.TableEncryptionV2_DynamoOwnedKey()
	if p.EncryptionKey != nil {
		if *awscdk.Token_IsUnresolved(awscdk.Stack_Of(scope).Region()) {
			return nil, errors.New("cdk: NewLockTable: a table with an EncryptionKey needs a stack that names its Region, because the key is told to the table's replica there: set Env in the stack's props, or leave the key out")
		}
		encryption = awsdynamodb.TableEncryptionV2_CustomerManagedKey(p.EncryptionKey, nil)
	}
	this := &LockTable{Construct: constructs.NewConstruct(scope, jsii.String(id)), PartitionKey: PartitionKey, SortKey: SortKey, TTLAttribute: TTLAttribute}
	// A single Region: it never gets replicas.
	this.Table = awsdynamodb.NewTableV2(this.Construct, jsii.String("Table"), &awsdynamodb.TablePropsV2{
		PartitionKey:        &awsdynamodb.Attribute{Name: jsii.String(PartitionKey), Type: awsdynamodb.AttributeType_STRING},
		SortKey:             &awsdynamodb.Attribute{Name: jsii.String(SortKey), Type: awsdynamodb.AttributeType_STRING},
		TimeToLiveAttribute: jsii.String(TTLAttribute),
		Billing:             awsdynamodb.Billing_OnDemand(nil),
		Encryption:          encryption,
		DeletionProtection:  jsii.Bool(!p.Removable),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		RemovalPolicy: policy,
	})
	return this, nil
}

// ExistingTable names a table that another stack or somebody's hand made.
type ExistingTable struct {
	Name         string
	PartitionKey string // a string; "": PartitionKey
	SortKey      string // a string; "": the table has none
	TTLAttribute string // "": the table has none
	// EncryptionKey is the table's own, where it has one that the account manages.
	EncryptionKey awskms.IKey
}

// LockTableFromName uses a table of the same account and Region that exists. It
// must not have a replica that is written in another Region.
func LockTableFromName(scope constructs.Construct, id string, existing *ExistingTable) (*LockTable, error) {
	if err := checkScope("LockTableFromName", scope, id); err != nil {
		return nil, err
	}
	if existing == nil || existing.Name == "" {
		return nil, errors.New("cdk: LockTableFromName: the table has no name: pass an ExistingTable with its Name and its key attributes")
	}
	e := *existing
	if e.PartitionKey == "" {
		e.PartitionKey = PartitionKey
	}
	this := &LockTable{Construct: constructs.NewConstruct(scope, jsii.String(id)), PartitionKey: e.PartitionKey, SortKey: e.SortKey, TTLAttribute: e.TTLAttribute}
	this.Table = awsdynamodb.TableV2_FromTableAttributes(this.Construct, jsii.String("Table"), &awsdynamodb.TableAttributesV2{
		TableName: jsii.String(e.Name), EncryptionKey: e.EncryptionKey,
	})
	return this, nil
}

// Environment is what a function must know of the table, in the variables that
// the functions of this project read.
func (t *LockTable) Environment() map[string]string {
	env := map[string]string{"SOLOTICK_LOCK_TABLE": *t.Table.TableName(), "SOLOTICK_LOCK_PARTITION_KEY": t.PartitionKey, "SOLOTICK_LOCK_SORT_KEY": t.SortKey}
	if t.SortKey == "" {
		env["SOLOTICK_LOCK_SORT_KEY"] = "none"
	}
	if t.TTLAttribute != "" {
		env["SOLOTICK_LOCK_TTL_ATTRIBUTE"] = t.TTLAttribute
	}
	return env
}

func checkScope(what string, scope constructs.Construct, id string) error {
	switch {
	case scope == nil:
		return fmt.Errorf("cdk: %s: the scope is nil: pass the stack", what)
	case id == "":
		return fmt.Errorf("cdk: %s: the id is empty: give the construct a name that is unique in its scope", what)
	}
	return nil
}
