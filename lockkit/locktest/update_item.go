package locktest

import "slices"

// updateRequest is an update, alone or as an action of a transaction.
type updateRequest struct {
	conditional
	Key              wireItem
	UpdateExpression *string
}

// change returns the bound change and the update it makes.
func (r *updateRequest) change(db *DB) (change, updateExpr, error) {
	c, b, err := r.open(db, r.UpdateExpression != nil)
	if err != nil {
		return c, updateExpr{}, err
	}
	u, err := b.update(r.UpdateExpression)
	if err != nil {
		return c, u, err
	}
	if err := b.unused(); err != nil {
		return c, u, err
	}
	if c.key, err = r.Key.decodeKey(c.table); err != nil {
		return c, u, err
	}
	for _, a := range u.actions {
		if name := a.target[0].name; c.table.key.has(name) {
			return c, u, invalidParameter("Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	c.next = func(old item) (item, error) {
		switch {
		case old == nil && u.onlyTakes():
			return nil, nil //nolint:nilnil // there is nothing to take from, and no item comes of it
		case old == nil:
			old = c.key
		}
		updated, err := applyUpdate(u, old)
		if err != nil {
			return nil, err
		}
		return updated, c.table.check(updated, updateTooLarge)
	}
	return c, u, nil
}

type updateItemRequest struct {
	updateRequest
	capacityRequest
	returnRequest
}

func (r *updateItemRequest) run(db *DB) (any, error) {
	if err := r.checkCapacity(); err != nil {
		return nil, err
	}
	if err := r.checkReturn(); err != nil {
		return nil, err
	}
	c, u, err := r.change(db)
	if err != nil {
		return nil, err
	}
	before, after, out, err := c.carryOut(r.capacityRequest)
	if err != nil {
		return nil, err
	}
	switch r.ReturnValues {
	case "ALL_OLD":
		out.Attributes = before
	case "ALL_NEW":
		out.Attributes = after
	case "UPDATED_OLD":
		out.Attributes = project(before, u.targets())
	case "UPDATED_NEW":
		out.Attributes = project(after, u.targets())
	}
	return out, nil
}

// onlyTakes reports whether the update has nothing but REMOVE and DELETE. An
// update without any action is not such a one: it creates a bare item.
func (u updateExpr) onlyTakes() bool {
	return len(u.actions) > 0 && !slices.ContainsFunc(u.actions, func(a action) bool {
		return a.verb == "SET" || a.verb == "ADD"
	})
}

// targets returns the paths that the update writes.
func (u updateExpr) targets() []path {
	paths := make([]path, len(u.actions))
	for i, a := range u.actions {
		paths[i] = a.target
	}
	return paths
}
