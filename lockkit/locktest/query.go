package locktest

import "slices"

type queryRequest struct {
	readRequest
	KeyConditionExpression *string
	ScanIndexForward       *bool
}

func (r *queryRequest) run(db *DB) (any, error) {
	b, err := r.bind(db, r.KeyConditionExpression != nil)
	if err != nil {
		return nil, err
	}
	if r.KeyConditionExpression == nil {
		return nil, validation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	condition, err := b.condition(keyParameter, r.KeyConditionExpression)
	if err != nil {
		return nil, err
	}
	rd, err := r.open(db, b)
	if err != nil {
		return nil, err
	}
	partition, err := rd.key.checkCondition(condition)
	if err != nil {
		return nil, err
	}
	if err := rd.checkFilter(); err != nil {
		return nil, err
	}
	group := rd.items.group(item{rd.key.partition.name: partition})
	if rd.start != nil && !rd.start[rd.key.partition.name].equal(partition) {
		return nil, validation("The provided starting key is outside query boundaries based on provided conditions")
	}
	inRange := make([]item, 0, len(group))
	for _, it := range group {
		if holds(condition, it) {
			inRange = append(inRange, it)
		}
	}
	backward := r.ScanIndexForward != nil && !*r.ScanIndexForward
	if backward {
		slices.Reverse(inRange)
	}
	if rd.start != nil {
		inRange = slices.DeleteFunc(inRange, func(it item) bool {
			order := rd.items.compare(it, rd.start)
			return backward && order >= 0 || !backward && order <= 0
		})
	}
	return rd.page(r.readRequest, slices.Values(inRange)), nil
}
