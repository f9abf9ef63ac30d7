package locktest

import "slices"

// project returns the parts of an item that the paths name; nil paths keep all.
// List elements keep their order and close up.
func project(it item, paths []path) item {
	if paths == nil {
		return it
	}
	picked := make(item)
	for name, group := range byFirst(paths) {
		v, ok := it[name.name]
		if !ok {
			continue
		}
		if part, ok := pick(v, group); ok {
			picked[name.name] = part
		}
	}
	return picked
}

// byFirst groups paths by their first step and cuts it off.
func byFirst(paths []path) map[step][]path {
	groups := make(map[step][]path, len(paths))
	for _, p := range paths {
		groups[p[0]] = append(groups[p[0]], p[1:])
	}
	return groups
}

// pick returns the parts of v at the paths, false if there are none.
func pick(v value, paths []path) (value, bool) {
	if len(paths[0]) == 0 { // paths do not overlap, so this is the only one
		return v, true
	}
	groups := byFirst(paths)
	steps := make([]step, 0, len(groups))
	for s := range groups {
		steps = append(steps, s)
	}
	slices.SortFunc(steps, step.compare)
	part := value{kind: v.kind, fields: map[string]value{}}
	found := false
	for _, s := range steps {
		child, ok := v.child(s)
		if !ok {
			continue
		}
		if child, ok = pick(child, groups[s]); !ok {
			continue
		}
		found = true
		if s.isIndex {
			part.list = append(part.list, child)
		} else {
			part.fields[s.name] = child
		}
	}
	return part, found
}
