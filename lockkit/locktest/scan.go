package locktest

import "slices"

// maxSegments is how many parts a parallel scan may have.
const maxSegments = 1_000_000

type scanRequest struct {
	readRequest
	Segment       *int
	TotalSegments *int
}

func (r *scanRequest) run(db *DB) (any, error) {
	b, err := r.bind(db, false)
	if err != nil {
		return nil, err
	}
	if err := r.checkSegments(); err != nil {
		return nil, err
	}
	rd, err := r.open(db, b)
	if err != nil {
		return nil, err
	}
	return rd.page(r.readRequest, func(yield func(item) bool) { r.each(rd, yield) }), nil
}

func (r *scanRequest) checkSegments() error {
	switch {
	case r.Segment == nil && r.TotalSegments == nil:
		return nil
	case r.Segment == nil:
		return validation("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case r.TotalSegments == nil:
		return validation("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case *r.TotalSegments < 1 || *r.TotalSegments > maxSegments:
		return validation("1 validation error detected: Value '%d' at 'totalSegments' failed to satisfy constraint: Member must have value between 1 and %d", *r.TotalSegments, maxSegments)
	case *r.Segment < 0 || *r.Segment >= *r.TotalSegments:
		return validation("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d", *r.Segment, *r.TotalSegments)
	default:
		return nil
	}
}

// each yields the items after the start key, in the order of the scan.
func (r *scanRequest) each(rd *reading, yield func(item) bool) {
	order := rd.items.scanned()
	startID := ""
	if rd.start != nil {
		startID = rd.start[rd.key.partition.name].scalarText()
		from, _ := slices.BinarySearchFunc(order, startID, compareScan)
		order = order[from:]
	}
	for _, id := range order {
		if r.Segment != nil && int(scanHash(id)%uint32(*r.TotalSegments)) != *r.Segment { //nolint:gosec // checked to be at most a million
			continue
		}
		group := rd.items.partitions[id]
		if rd.start != nil && id == startID {
			from, found := rd.items.search(group, rd.start)
			if found {
				from++
			}
			group = group[from:]
		}
		for _, it := range group {
			if !yield(it) {
				return
			}
		}
	}
}
