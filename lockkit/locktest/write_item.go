package locktest

// change is a write of one item, checked and bound, but not yet carried out.
// PutItem, UpdateItem and DeleteItem are one change each, a transaction is many.
type change struct {
	table     *table
	key       item
	condition expr
	// next computes the new image of the item from the old one; nil deletes it.
	next func(old item) (item, error)
	// returnOld: a refused condition hands out the item.
	returnOld bool
}

// try computes the new image without storing it. The error is what refuses it.
func (c change) try() (before, after item, err error) {
	before = c.table.get(c.key)
	if !holds(c.condition, before) {
		if c.returnOld {
			return before, before, conditionFailed(before)
		}
		return before, before, conditionFailed(nil)
	}
	after, err = c.next(before)
	return before, after, err
}

// refusalRequest is the parameter that asks for the item of a refused condition.
type refusalRequest struct {
	ReturnValuesOnConditionCheckFailure string `json:",omitempty"`
}

func (r refusalRequest) checkRefusal() error {
	return oneOf("returnValuesOnConditionCheckFailure", r.ReturnValuesOnConditionCheckFailure, "ALL_OLD", "NONE")
}

func (r refusalRequest) wantsItem() bool { return r.ReturnValuesOnConditionCheckFailure == "ALL_OLD" }

// conditional are the parameters that every kind of write has.
type conditional struct {
	TableName           string
	ConditionExpression *string `json:",omitempty"`
	placeholders
	refusalRequest
	legacy
}

func (c *conditional) tableName() string { return tableName(c.TableName) }

func (c *conditional) writes() {}

// open checks the common parameters, finds the table and binds the condition.
func (c *conditional) open(db *DB, otherExpression bool) (change, *binder, error) {
	if err := c.refuseLegacy(); err != nil {
		return change{}, nil, err
	}
	if err := c.checkRefusal(); err != nil {
		return change{}, nil, err
	}
	b, err := newBinder(&db.parsed, c.placeholders, otherExpression || c.ConditionExpression != nil)
	if err != nil {
		return change{}, nil, err
	}
	condition, err := b.condition(conditionParameter, c.ConditionExpression)
	if err != nil {
		return change{}, nil, err
	}
	t, err := db.table(c.TableName)
	return change{table: t, condition: condition, returnOld: c.wantsItem()}, b, err
}

// returnRequest is the parameter that asks for the item before or after a write.
type returnRequest struct {
	ReturnValues string
}

func (r returnRequest) checkReturn() error {
	return oneOf("returnValues", r.ReturnValues, "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
}

// writeAnswer is the answer to a write of one item.
type writeAnswer struct {
	Attributes       item              `json:",omitempty"`
	ConsumedCapacity *consumedCapacity `json:",omitempty"`
}

// replace carries out a put or delete, which return the old item at most.
func (c change) replace(capacity capacityRequest, r returnRequest) (any, error) {
	before, _, out, err := c.carryOut(capacity)
	if err != nil {
		return nil, err
	}
	if r.ReturnValues == "ALL_OLD" {
		out.Attributes = before
	}
	return out, nil
}

// checkReplace checks what the answer to a put or delete is to hold.
func checkReplace(capacity capacityRequest, r returnRequest) error {
	if err := capacity.checkCapacity(); err != nil {
		return err
	}
	if err := r.checkReturn(); err != nil {
		return err
	}
	if r.ReturnValues != "" && r.ReturnValues != "NONE" && r.ReturnValues != "ALL_OLD" {
		return validation("ReturnValues can only be ALL_OLD or NONE")
	}
	return nil
}

// carryOut tries a change and stores what comes out.
func (c change) carryOut(capacity capacityRequest) (before, after item, out *writeAnswer, err error) {
	before, after, err = c.try()
	if err != nil {
		return nil, nil, nil, err
	}
	c.table.apply(c.key, after)
	return before, after, &writeAnswer{ConsumedCapacity: capacity.report(c.table.name, 0, writeUnits(before, after))}, nil
}

// runReplace runs a request that replaces or removes a whole item.
func runReplace(db *DB, r interface{ change(*DB) (change, error) }, capacity capacityRequest, returns returnRequest) (any, error) {
	if err := checkReplace(capacity, returns); err != nil {
		return nil, err
	}
	c, err := r.change(db)
	if err != nil {
		return nil, err
	}
	return c.replace(capacity, returns)
}
