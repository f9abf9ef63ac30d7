package locktest

import (
	"maps"
	"slices"
)

// tableDescription is how the service describes a table.
type tableDescription struct {
	TableName                 string
	TableArn                  string
	TableID                   string `json:"TableId"`
	TableStatus               string
	CreationDateTime          float64 // seconds
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keyElement
	ItemCount                 int
	TableSizeBytes            int
	DeletionProtectionEnabled bool
	ProvisionedThroughput     throughput
	BillingModeSummary        *billingMode       `json:",omitempty"`
	GlobalSecondaryIndexes    []indexDescription `json:",omitempty"`
	LocalSecondaryIndexes     []indexDescription `json:",omitempty"`
}

type billingMode struct{ BillingMode string }

type indexDescription struct {
	IndexName   string
	IndexArn    string
	IndexStatus string `json:",omitempty"`
	KeySchema   []keyElement
	Projection  projectionRequest
	ItemCount   int
}

func (t *table) describe(status string) tableDescription {
	d := tableDescription{
		TableName:                 t.name,
		TableArn:                  t.arn(),
		TableID:                   t.id,
		TableStatus:               status,
		CreationDateTime:          float64(t.created.UnixMilli()) / 1000,
		AttributeDefinitions:      t.request.AttributeDefinitions,
		KeySchema:                 t.request.KeySchema,
		ItemCount:                 t.count,
		TableSizeBytes:            t.bytes,
		DeletionProtectionEnabled: t.request.DeletionProtection,
	}
	if t.request.BillingMode == "PAY_PER_REQUEST" {
		d.BillingModeSummary = &billingMode{BillingMode: t.request.BillingMode}
	} else {
		d.ProvisionedThroughput = *t.request.ProvisionedThroughput
	}
	for _, x := range t.request.GlobalSecondaryIndexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, t.describeIndex(x, "ACTIVE"))
	}
	for _, x := range t.request.LocalSecondaryIndexes {
		d.LocalSecondaryIndexes = append(d.LocalSecondaryIndexes, t.describeIndex(x, ""))
	}
	return d
}

func (t *table) describeIndex(x indexRequest, status string) indexDescription {
	count := 0
	if built, err := t.index(x.IndexName); err == nil { // they always are
		for _, group := range built.items.partitions {
			count += len(group)
		}
	}
	return indexDescription{
		IndexName: x.IndexName, IndexArn: t.indexARN(x.IndexName), IndexStatus: status,
		KeySchema: x.KeySchema, Projection: x.Projection, ItemCount: count,
	}
}

func tableAnswer(member string, t *table, status string) any {
	return map[string]tableDescription{member: t.describe(status)}
}

// namedTable finds a table for the calls that name it in their error.
func (db *DB) namedTable(name string) (*table, error) {
	t, ok := db.tables[tableName(name)]
	if !ok {
		return nil, newError(codeNotFound, "Requested resource not found: Table: %s not found", tableName(name))
	}
	return t, nil
}

type describeTableRequest struct{ TableName string }

func (r *describeTableRequest) tableName() string { return tableName(r.TableName) }

func (r *describeTableRequest) run(db *DB) (any, error) {
	t, err := db.namedTable(r.TableName)
	if err != nil {
		return nil, err
	}
	return tableAnswer("Table", t, "ACTIVE"), nil
}

type deleteTableRequest struct{ TableName string }

func (r *deleteTableRequest) tableName() string { return tableName(r.TableName) }

func (r *deleteTableRequest) run(db *DB) (any, error) {
	t, err := db.namedTable(r.TableName)
	if err != nil {
		return nil, err
	}
	if t.request.DeletionProtection {
		return nil, validation("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	delete(db.tables, t.name)
	return tableAnswer("TableDescription", t, "DELETING"), nil
}

// maxListed is how many table names one answer lists.
const maxListed = 100

type listTablesRequest struct {
	ExclusiveStartTableName string
	Limit                   *int
}

func (r *listTablesRequest) tableName() string { return "" }

func (r *listTablesRequest) run(db *DB) (any, error) {
	limit := maxListed
	if r.Limit != nil {
		if limit = *r.Limit; limit < 1 || limit > maxListed {
			return nil, validation("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value between 1 and %d", limit, maxListed)
		}
	}
	names := slices.Sorted(maps.Keys(db.tables))
	from, found := slices.BinarySearch(names, r.ExclusiveStartTableName)
	if found {
		from++
	}
	names = names[from:]
	var out struct {
		TableNames             []string
		LastEvaluatedTableName string `json:",omitempty"`
	}
	if len(names) > limit {
		names = names[:limit]
		out.LastEvaluatedTableName = names[limit-1]
	}
	out.TableNames = names
	return &out, nil
}
