package locktest

// putRequest is a put, alone or as an action of a transaction.
type putRequest struct {
	conditional
	Item wireItem
}

func (r *putRequest) change(db *DB) (change, error) {
	c, b, err := r.open(db, false)
	if err != nil {
		return c, err
	}
	if err := b.unused(); err != nil {
		return c, err
	}
	if r.Item == nil {
		return c, validation("The parameter 'Item' is required but was not present in the request")
	}
	it, err := r.Item.decode()
	if err != nil {
		return c, err
	}
	if err := c.table.check(it, putTooLarge); err != nil {
		return c, err
	}
	c.key = c.table.key.of(it)
	c.next = func(item) (item, error) { return it, nil }
	return c, nil
}

type putItemRequest struct {
	putRequest
	capacityRequest
	returnRequest
}

func (r *putItemRequest) run(db *DB) (any, error) {
	return runReplace(db, r, r.capacityRequest, r.returnRequest)
}
