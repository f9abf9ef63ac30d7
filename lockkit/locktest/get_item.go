package locktest

// getRequest is a get, alone or as an action of a transaction.
type getRequest struct {
	TableName            string
	Key                  wireItem
	ProjectionExpression *string
	placeholders
}

func (r *getRequest) tableName() string { return tableName(r.TableName) }

// lookup returns the whole item, the part of it asked for, and the key.
func (r *getRequest) lookup(db *DB) (t *table, key, whole, part item, err error) {
	b, err := newBinder(&db.parsed, r.placeholders, r.ProjectionExpression != nil)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	paths, err := b.projection(r.ProjectionExpression)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if err := b.unused(); err != nil {
		return nil, nil, nil, nil, err
	}
	if t, err = db.table(r.TableName); err != nil {
		return nil, nil, nil, nil, err
	}
	if key, err = r.Key.decodeKey(t); err != nil {
		return nil, nil, nil, nil, err
	}
	if whole = t.get(key); whole != nil {
		part = project(whole, paths)
	}
	return t, key, whole, part, nil
}

type getItemRequest struct {
	getRequest
	capacityRequest
	legacy
	ConsistentRead bool
}

// itemAnswer is the answer to a get; a missing item leaves Item out, an item of
// which nothing was asked for is an empty one.
type itemAnswer struct {
	Item             item              `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitempty"`
}

func (r *getItemRequest) run(db *DB) (any, error) {
	if err := r.checkCapacity(); err != nil {
		return nil, err
	}
	if err := r.refuseLegacy(); err != nil {
		return nil, err
	}
	t, _, whole, part, err := r.lookup(db)
	if err != nil {
		return nil, err
	}
	cost := readUnits(whole.size(), r.ConsistentRead)
	return &itemAnswer{Item: part, ConsumedCapacity: r.report(t.name, cost, 0)}, nil
}
