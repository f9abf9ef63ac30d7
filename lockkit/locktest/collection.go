package locktest

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// collection holds the items of a table or an index, grouped by partition key
// and ordered within each group.
type collection struct {
	partition  string   // attribute
	order      []string // attributes that order a group; with partition they tell items apart
	partitions map[string][]item
	scanOrder  []string // of the partitions, built when needed
}

// newCollection makes the collection of a table's key, or of an index whose
// items the table's own key tells apart.
func newCollection(key keySchema, table ...keyAttribute) *collection {
	c := &collection{partition: key.partition.name, partitions: make(map[string][]item)}
	for _, a := range append(key.attributes()[1:], table...) {
		if a.name != c.partition && !slices.Contains(c.order, a.name) {
			c.order = append(c.order, a.name)
		}
	}
	return c
}

// group returns the items that share key's partition, in order.
func (c *collection) group(key item) []item {
	return c.partitions[key[c.partition].scalarText()]
}

// search returns where in its group an item with this key is, or would be.
func (c *collection) search(group []item, key item) (int, bool) {
	return slices.BinarySearchFunc(group, key, c.compare)
}

func (c *collection) compare(a, b item) int {
	for _, name := range c.order {
		if order, _ := a[name].compare(b[name]); order != 0 {
			return order
		}
	}
	return 0
}

func (c *collection) get(key item) (item, bool) {
	group := c.group(key)
	i, ok := c.search(group, key)
	if !ok {
		return nil, false
	}
	return group[i], true
}

func (c *collection) put(it item) {
	id := it[c.partition].scalarText()
	group, known := c.partitions[id]
	if !known {
		c.scanOrder = nil
	}
	if i, ok := c.search(group, it); ok {
		group[i] = it
	} else {
		c.partitions[id] = slices.Insert(group, i, it)
	}
}

func (c *collection) remove(key item) {
	id := key[c.partition].scalarText()
	group := c.partitions[id]
	i, ok := c.search(group, key)
	if !ok {
		return
	}
	if len(group) == 1 {
		delete(c.partitions, id)
		c.scanOrder = nil
		return
	}
	c.partitions[id] = slices.Delete(group, i, i+1)
}

// scanned returns the partitions in the order a scan meets them: by a hash, so
// that no program comes to rely on the order of keys, which the service does
// not keep either.
func (c *collection) scanned() []string {
	if c.scanOrder == nil {
		c.scanOrder = slices.SortedFunc(maps.Keys(c.partitions), compareScan)
	}
	return c.scanOrder
}

func compareScan(a, b string) int {
	return cmp.Or(cmp.Compare(scanHash(a), scanHash(b)), strings.Compare(a, b))
}

func scanHash(id string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return h.Sum32()
}
