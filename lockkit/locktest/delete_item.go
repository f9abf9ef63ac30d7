package locktest

// deleteRequest is a delete, alone or as an action of a transaction.
type deleteRequest struct {
	conditional
	Key wireItem
}

func (r *deleteRequest) change(db *DB) (change, error) {
	c, b, err := r.open(db, false)
	if err != nil {
		return c, err
	}
	if err := b.unused(); err != nil {
		return c, err
	}
	c.key, err = r.Key.decodeKey(c.table)
	c.next = func(item) (item, error) { return nil, nil } //nolint:nilnil // a nil item is how a change says delete
	return c, err
}

// decodeKey reads and checks a key of a table.
func (w wireItem) decodeKey(t *table) (item, error) {
	if w == nil {
		return nil, validation("The parameter 'Key' is required but was not present in the request")
	}
	key, err := w.decode()
	if err != nil {
		return nil, err
	}
	return key, t.key.checkKey(key)
}

type deleteItemRequest struct {
	deleteRequest
	capacityRequest
	returnRequest
}

func (r *deleteItemRequest) run(db *DB) (any, error) {
	return runReplace(db, r, r.capacityRequest, r.returnRequest)
}
