package locktest

import "slices"

const (
	maxPartitionKey = 2048
	maxSortKey      = 1024
)

// keyAttribute is one attribute of a key and the type it must have.
type keyAttribute struct {
	name string
	kind kind
}

// keySchema is the key of a table or an index.
type keySchema struct {
	partition keyAttribute
	sort      keyAttribute // without a name: there is none
}

func (k keySchema) hasSort() bool { return k.sort.name != "" }

// attributes returns the one or two attributes of the key.
func (k keySchema) attributes() []keyAttribute {
	if k.hasSort() {
		return []keyAttribute{k.partition, k.sort}
	}
	return []keyAttribute{k.partition}
}

// has reports whether an attribute is part of the key.
func (k keySchema) has(name string) bool {
	return name == k.partition.name || k.hasSort() && name == k.sort.name
}

// of returns the key of an item.
func (k keySchema) of(it item) item {
	key := make(item, 2)
	for _, a := range k.attributes() {
		if v, ok := it[a.name]; ok {
			key[a.name] = v
		}
	}
	return key
}

// checkItem checks the key inside an item that is to be stored.
func (k keySchema) checkItem(it item) error {
	for _, a := range k.attributes() {
		v, ok := it[a.name]
		if !ok {
			return invalidParameter("Missing the key %s in the item", a.name)
		}
		if v.kind != a.kind {
			return invalidParameter("Type mismatch for key %s expected: %s actual: %s", a.name, a.kind, v.kind)
		}
	}
	return k.checkSizes(it)
}

// checkKey checks a key that is to be looked up.
func (k keySchema) checkKey(key item) error {
	attributes := k.attributes()
	fits := len(key) == len(attributes) && !slices.ContainsFunc(attributes, func(a keyAttribute) bool {
		return key[a.name].kind != a.kind
	})
	if !fits {
		return validation("The provided key element does not match the schema")
	}
	return k.checkSizes(key)
}

func (k keySchema) checkSizes(it item) error {
	for _, a := range k.attributes() {
		v := it[a.name]
		switch {
		case v.kind == kindNumber || v.text != "":
		case v.kind == kindString:
			return validation("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", a.name)
		default:
			return validation("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty binary value. Key: %s", a.name)
		}
	}
	if it[k.partition.name].size() > maxPartitionKey {
		return invalidParameter("Size of hashkey has exceeded the maximum size limit of%d bytes", maxPartitionKey)
	}
	if k.hasSort() && it[k.sort.name].size() > maxSortKey {
		return invalidParameter("Aggregated size of all range keys has exceeded the size limit of %d bytes", maxSortKey)
	}
	return nil
}

// checkIndexed checks the attributes of an item that are a key of index name.
// An item without them is simply not in the index.
func (k keySchema) checkIndexed(it item, name string) error {
	for _, a := range k.attributes() {
		v, ok := it[a.name]
		switch {
		case !ok:
		case v.kind != a.kind:
			return invalidParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", a.name, a.kind, v.kind, name)
		case v.kind != kindNumber && v.text == "":
			word := "string"
			if v.kind == kindBinary {
				word = "binary"
			}
			return validation("One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", word, name, a.name)
		case a == k.partition && v.size() > maxPartitionKey:
			return invalidParameter("Size of hashkey has exceeded the maximum size limit of%d bytes", maxPartitionKey)
		case a != k.partition && v.size() > maxSortKey:
			return invalidParameter("Aggregated size of all range keys has exceeded the size limit of %d bytes", maxSortKey)
		}
	}
	return nil
}

// covers reports whether an item has every attribute of the key.
func (k keySchema) covers(it item) bool {
	return !slices.ContainsFunc(k.attributes(), func(a keyAttribute) bool {
		_, ok := it[a.name]
		return !ok
	})
}
