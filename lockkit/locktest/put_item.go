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
	ReturnValues string
}

func (r *putItemRequest) run(db *DB) (any, error) {
	if err := r.capacityRequest.check(); err != nil {
		return nil, err
	}
	if err := oneOf("returnValues", r.ReturnValues, "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"); err != nil {
		return nil, err
	}
	if r.ReturnValues != "" && r.ReturnValues != "NONE" && r.ReturnValues != "ALL_OLD" {
		return nil, validation("ReturnValues can only be ALL_OLD or NONE")
	}
	c, err := r.change(db)
	if err != nil {
		return nil, err
	}
	before, _, out, err := c.carryOut(r.capacityRequest)
	if err != nil {
		return nil, err
	}
	if r.ReturnValues == "ALL_OLD" {
		out.Attributes = before
	}
	return out, nil
}
