package locktest

import (
	"slices"
	"strings"
	"time"
)

type createTableRequest struct {
	TableName              string
	AttributeDefinitions   []attributeDefinition
	KeySchema              []keyElement
	BillingMode            string         `json:",omitempty"`
	ProvisionedThroughput  *throughput    `json:",omitempty"`
	GlobalSecondaryIndexes []indexRequest `json:",omitempty"`
	LocalSecondaryIndexes  []indexRequest `json:",omitempty"`
	TableClass             string         `json:",omitempty"`
	DeletionProtection     bool           `json:"DeletionProtectionEnabled,omitempty"`
}

type attributeDefinition struct {
	AttributeName string
	AttributeType kind
}

type keyElement struct {
	AttributeName string
	KeyType       string
}

type throughput struct {
	ReadCapacityUnits  int64
	WriteCapacityUnits int64
}

type indexRequest struct {
	IndexName             string
	KeySchema             []keyElement
	Projection            projectionRequest
	ProvisionedThroughput *throughput `json:",omitempty"`
}

type projectionRequest struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

func (r *createTableRequest) tableName() string { return tableName(r.TableName) }

func (r *createTableRequest) run(db *DB) (any, error) {
	name := r.tableName()
	if err := checkTableName(name); err != nil {
		return nil, err
	}
	if err := oneOf("billingMode", r.BillingMode, "PROVISIONED", "PAY_PER_REQUEST"); err != nil {
		return nil, err
	}
	if r.BillingMode != "PAY_PER_REQUEST" && r.ProvisionedThroughput == nil {
		return nil, invalidParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	}
	key, err := r.key(r.KeySchema)
	if err != nil {
		return nil, err
	}
	t := &table{name: name, id: requestID(), created: time.Now(), key: key, items: newCollection(key), request: r}
	if err := r.addIndexes(t); err != nil {
		return nil, err
	}
	if err := r.checkDefinitions(t); err != nil {
		return nil, err
	}
	if _, exists := db.tables[name]; exists {
		return nil, newError(codeInUse, "Table already exists: %s", name)
	}
	db.tables[name] = t
	return tableAnswer("TableDescription", t, "CREATING"), nil
}

func checkTableName(name string) error {
	bad := func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", c)
	}
	switch {
	case len(name) < 3 || len(name) > 255:
		return validation("TableName must be at least 3 characters long and at most 255 characters long")
	case strings.ContainsFunc(name, bad):
		return validation("1 validation error detected: Value '%s' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+", name)
	default:
		return nil
	}
}

// key reads the key schema of the table or of an index.
func (r *createTableRequest) key(elements []keyElement) (keySchema, error) {
	var k keySchema
	if len(elements) == 0 || len(elements) > 2 || elements[0].KeyType != "HASH" || len(elements) == 2 && elements[1].KeyType != "RANGE" {
		return k, validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type, or the second is not a RANGE key type")
	}
	for i, e := range elements {
		at := slices.IndexFunc(r.AttributeDefinitions, func(d attributeDefinition) bool { return d.AttributeName == e.AttributeName })
		if at < 0 {
			return k, invalidParameter("Some index key attributes are not defined in AttributeDefinitions. Keys: [%s]", e.AttributeName)
		}
		d := r.AttributeDefinitions[at]
		if d.AttributeType != kindString && d.AttributeType != kindNumber && d.AttributeType != kindBinary {
			return k, validation("1 validation error detected: Value '%s' at 'attributeDefinitions.%d.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]", d.AttributeType, at+1)
		}
		attribute := keyAttribute{name: d.AttributeName, kind: d.AttributeType}
		if i == 0 {
			k.partition = attribute
		} else {
			k.sort = attribute
		}
	}
	if k.partition == k.sort {
		return k, validation("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	return k, nil
}

// checkDefinitions refuses attribute definitions that no key uses.
func (r *createTableRequest) checkDefinitions(t *table) error {
	for _, d := range r.AttributeDefinitions {
		used := t.key.has(d.AttributeName)
		for _, x := range t.indexes {
			used = used || x.key.has(d.AttributeName)
		}
		if !used {
			return invalidParameter("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
		}
	}
	return nil
}

func (r *createTableRequest) addIndexes(t *table) error {
	for _, x := range r.GlobalSecondaryIndexes {
		if err := r.addIndex(t, x, false); err != nil {
			return err
		}
	}
	for _, x := range r.LocalSecondaryIndexes {
		if err := r.addIndex(t, x, true); err != nil {
			return err
		}
	}
	return nil
}

func (r *createTableRequest) addIndex(t *table, x indexRequest, local bool) error {
	if _, err := t.index(x.IndexName); err == nil {
		return invalidParameter("Duplicate index name: %s", x.IndexName)
	}
	if err := checkTableName(x.IndexName); err != nil { // the same rules
		return err
	}
	key, err := r.key(x.KeySchema)
	if err != nil {
		return err
	}
	if local && (key.partition != t.key.partition || !key.hasSort()) {
		return invalidParameter("Index KeySchema does not have the same leading hash key as table KeySchema for index: %s", x.IndexName)
	}
	if x.Projection.ProjectionType == "" {
		return invalidParameter("Unknown ProjectionType: null")
	}
	if err := oneOf("projectionType", x.Projection.ProjectionType, "ALL", "INCLUDE", "KEYS_ONLY"); err != nil {
		return err
	}
	if (x.Projection.ProjectionType == "INCLUDE") != (len(x.Projection.NonKeyAttributes) > 0) {
		return invalidParameter("ProjectionType is %s, but NonKeyAttributes does not go with it", x.Projection.ProjectionType)
	}
	t.indexes = append(t.indexes, &index{
		name:    x.IndexName,
		local:   local,
		key:     key,
		project: x.Projection.paths(key, t.key),
		items:   newCollection(key, t.key.attributes()...),
	})
	return nil
}

// paths returns what an index keeps of an item; nil stands for all.
func (p projectionRequest) paths(keys ...keySchema) []path {
	if p.ProjectionType == "ALL" {
		return nil
	}
	names := slices.Clone(p.NonKeyAttributes)
	for _, k := range keys {
		for _, a := range k.attributes() {
			names = append(names, a.name)
		}
	}
	slices.Sort(names)
	var paths []path
	for _, name := range slices.Compact(names) {
		paths = append(paths, path{{name: name}})
	}
	return paths
}
