package locktest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// step is one part of a document path: a name, or an index into a list.
type step struct {
	name    string // in a parsed expression possibly an alias (#n); in a bound one never
	index   int
	isIndex bool
}

// path is a document path such as a.b[1].c; its first step is a name.
type path []step

// String writes the path as the service's messages do.
func (p path) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.name
		if s.isIndex {
			parts[i] = "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// find looks the path up in the item.
func (p path) find(it item) (value, bool) {
	v, ok := it[p[0].name]
	for _, s := range p[1:] {
		if !ok {
			return value{}, false
		}
		v, ok = v.child(s)
	}
	return v, ok
}

// child is one step down from a map or list.
func (v value) child(s step) (value, bool) {
	if s.isIndex {
		if v.kind != kindList || s.index >= len(v.list) {
			return value{}, false
		}
		return v.list[s.index], true
	}
	if v.kind != kindMap {
		return value{}, false
	}
	c, ok := v.fields[s.name]
	return c, ok
}

func (s step) compare(t step) int {
	if s.isIndex != t.isIndex {
		if s.isIndex {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(s.index, t.index), strings.Compare(s.name, t.name))
}

func (p path) compare(q path) int { return slices.CompareFunc(p, q, step.compare) }

// checkApart refuses paths of which one is, or leads to, another, and paths that
// treat one place both as a map and as a list.
func checkApart(paths []path) error {
	for i, p := range paths {
		for _, q := range paths[:i] {
			if word := clash(p, q); word != "" {
				return validation("Two document paths %s with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", word, q, p)
			}
		}
	}
	return nil
}

// clash names what is wrong between two paths, or is "".
func clash(p, q path) string {
	for i := range min(len(p), len(q)) {
		if p[i].isIndex != q[i].isIndex {
			return "conflict"
		}
		if p[i] != q[i] {
			return ""
		}
	}
	return "overlap"
}
