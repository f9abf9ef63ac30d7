package locktest

import "slices"

type transactGetRequest struct {
	capacityRequest
	TransactItems []struct{ Get *getRequest }
}

func (r *transactGetRequest) tableName() string {
	if len(r.TransactItems) == 0 || r.TransactItems[0].Get == nil {
		return ""
	}
	return r.TransactItems[0].Get.tableName()
}

func (r *transactGetRequest) actions() int { return len(r.TransactItems) }

func (r *transactGetRequest) run(db *DB) (any, error) {
	if err := r.checkCapacity(); err != nil {
		return nil, err
	}
	if err := checkActions(len(r.TransactItems)); err != nil {
		return nil, err
	}
	var out struct {
		Responses        []itemAnswer
		ConsumedCapacity []consumedCapacity `json:",omitempty"`
	}
	read := make(map[string]float64)
	var tables []string
	seen := make(map[string]bool, len(r.TransactItems))
	for _, a := range r.TransactItems {
		if a.Get == nil {
			return nil, validation("The parameter 'Get' is required but was not present in the request")
		}
		a.Get.dropIdle(a.Get.ProjectionExpression)
		t, key, whole, part, err := a.Get.lookup(db)
		if err != nil {
			return nil, err
		}
		id := t.identity(key)
		if seen[id] {
			return nil, validation("Transaction request cannot include multiple operations on one item")
		}
		seen[id] = true
		out.Responses = append(out.Responses, itemAnswer{Item: part})
		if !slices.Contains(tables, t.name) {
			tables = append(tables, t.name)
		}
		read[t.name] += 2 * readUnits(whole.size(), true)
	}
	out.ConsumedCapacity = r.reports(tables, read, nil)
	return &out, nil
}
