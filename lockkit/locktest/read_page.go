package locktest

import (
	"iter"
	"maps"
	"slices"
)

// maxPage is how many bytes of items a query or scan goes through at most.
const maxPage = 1 << 20

// readRequest are the parameters that Query and Scan share.
type readRequest struct {
	TableName            string
	IndexName            string
	ConsistentRead       bool
	ExclusiveStartKey    wireItem
	FilterExpression     *string
	ProjectionExpression *string
	Limit                *int
	Select               string
	placeholders
	capacityRequest
	legacy
}

func (r *readRequest) tableName() string { return tableName(r.TableName) }

// reading is a query or scan with everything found and bound.
type reading struct {
	table  *table
	key    keySchema
	items  *collection
	start  item // exclusive; nil: from the beginning
	filter expr
	paths  []path
}

func (r *readRequest) bind(db *DB, otherExpression bool) (*binder, error) {
	if err := r.refuseLegacy(); err != nil {
		return nil, err
	}
	if err := r.checkCapacity(); err != nil {
		return nil, err
	}
	if err := oneOf("select", r.Select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"); err != nil {
		return nil, err
	}
	if r.Limit != nil && *r.Limit < 1 {
		return nil, validation("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *r.Limit)
	}
	return newBinder(&db.parsed, r.placeholders, otherExpression || r.FilterExpression != nil || r.ProjectionExpression != nil)
}

// open binds the rest, finds table and index and checks how they are read.
func (r *readRequest) open(db *DB, b *binder) (*reading, error) {
	filter, err := b.condition(filterParameter, r.FilterExpression)
	if err != nil {
		return nil, err
	}
	paths, err := b.projection(r.ProjectionExpression)
	if err != nil {
		return nil, err
	}
	if err := b.unused(); err != nil {
		return nil, err
	}
	if err := r.checkSelect(); err != nil {
		return nil, err
	}
	t, err := db.table(r.TableName)
	if err != nil {
		return nil, err
	}
	rd := &reading{table: t, key: t.key, items: t.items, filter: filter, paths: paths}
	if r.IndexName != "" {
		if err := r.useIndex(rd); err != nil {
			return nil, err
		}
	}
	return rd, r.readStart(rd)
}

func (r *readRequest) checkSelect() error {
	switch {
	case r.ProjectionExpression != nil && r.Select != "" && r.Select != "SPECIFIC_ATTRIBUTES":
		return validation("Cannot specify the ProjectionExpression when choosing to get %s", r.Select)
	case r.ProjectionExpression == nil && r.Select == "SPECIFIC_ATTRIBUTES":
		return validation("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case r.IndexName == "" && r.Select == "ALL_PROJECTED_ATTRIBUTES":
		return validation("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	default:
		return nil
	}
}

// useIndex turns the reading to an index and to what that projects.
func (r *readRequest) useIndex(rd *reading) error {
	x, err := rd.table.index(r.IndexName)
	if err != nil {
		return err
	}
	if r.ConsistentRead && !x.local {
		return validation("Consistent reads are not supported on global secondary indexes")
	}
	rd.key, rd.items = x.key, x.items
	// A local index fetches from the table what it does not project.
	if x.local && (r.Select == "ALL_ATTRIBUTES" || rd.paths != nil) || x.project == nil {
		return nil
	}
	if r.Select == "ALL_ATTRIBUTES" {
		return invalidParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", x.name)
	}
	if rd.paths == nil {
		rd.paths = x.project
		return nil
	}
	for _, p := range rd.paths {
		if !slices.ContainsFunc(x.project, func(q path) bool { return q[0] == p[0] }) {
			return invalidParameter("Global secondary index %s does not project %s", x.name, p)
		}
	}
	return nil
}

func (r *readRequest) readStart(rd *reading) error {
	if r.ExclusiveStartKey == nil {
		return nil
	}
	start, err := r.ExclusiveStartKey.decode()
	if err != nil {
		return err
	}
	want := rd.place(start)
	if len(want) != len(start) || len(want) != len(rd.placeAttributes()) || !wellTyped(want, rd.placeAttributes()) {
		return validation("The provided starting key is invalid")
	}
	rd.start = start
	return nil
}

func wellTyped(key item, attributes map[string]kind) bool {
	for name, k := range attributes {
		if key[name].kind != k {
			return false
		}
	}
	return true
}

// placeAttributes are the attributes that tell a place in the order of reading.
func (rd *reading) placeAttributes() map[string]kind {
	kinds := make(map[string]kind, 4)
	for _, a := range slices.Concat(rd.key.attributes(), rd.table.key.attributes()) {
		kinds[a.name] = a.kind
	}
	return kinds
}

// place returns the attributes of an item that a later page can start after.
func (rd *reading) place(it item) item {
	place := make(item, 4)
	maps.Copy(place, rd.key.of(it))
	maps.Copy(place, rd.table.key.of(it))
	return place
}

// checkFilter refuses key attributes in the filter of a query.
func (rd *reading) checkFilter() error {
	for name := range mentioned(rd.filter) {
		if rd.key.has(name) {
			return validation("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
		}
	}
	return nil
}

// pageAnswer is the answer to a query or scan.
type pageAnswer struct {
	Items            []item            `json:",omitzero"`
	Count            int               `json:"Count"`
	ScannedCount     int               `json:"ScannedCount"`
	LastEvaluatedKey item              `json:",omitempty"`
	ConsumedCapacity *consumedCapacity `json:",omitempty"`
}

// page goes through items up to the limits and builds the answer. Limit and
// size count what was gone through, not what the filter let pass.
func (rd *reading) page(r readRequest, items iter.Seq[item]) *pageAnswer {
	out := &pageAnswer{Items: []item{}}
	bytes := 0
	for it := range items {
		out.ScannedCount++
		bytes += it.size()
		if holds(rd.filter, it) {
			out.Count++
			out.Items = append(out.Items, project(it, rd.paths))
		}
		if r.Limit != nil && out.ScannedCount >= *r.Limit || bytes > maxPage {
			out.LastEvaluatedKey = rd.place(it)
			break
		}
	}
	if r.Select == "COUNT" {
		out.Items = nil
	}
	out.ConsumedCapacity = r.report(rd.table.name, readUnits(bytes, r.ConsistentRead), 0)
	return out
}
