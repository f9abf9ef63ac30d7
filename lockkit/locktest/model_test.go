package locktest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestIndexesAgreeWithTheTable makes random writes and compares table and index
// with a plain list of the items.
func TestIndexesAgreeWithTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := keySchema{partition: keyAttribute{"pk", kindString}, sort: keyAttribute{"sk", kindNumber}}
		byG := &index{name: "by-g", key: keySchema{partition: keyAttribute{"g", kindString}, sort: keyAttribute{"h", kindNumber}}}
		byG.items = newCollection(byG.key, key.attributes()...)
		tab := &table{name: "t", key: key, items: newCollection(key), indexes: []*index{byG}}
		model := map[string]item{}
		small := func(name string) value {
			n, err := parseNumber(strconv.Itoa(rapid.IntRange(-3, 3).Draw(t, name)))
			if err != nil {
				t.Fatal(err)
			}
			return numberValue(n)
		}
		word := rapid.SampledFrom([]string{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				it := item{"pk": stringValue(word.Draw(t, "pk")), "sk": small("sk")}
				if rapid.Bool().Draw(t, "has g") {
					it["g"] = stringValue(word.Draw(t, "g"))
				}
				if rapid.Bool().Draw(t, "has h") {
					it["h"] = small("h")
				}
				tab.put(it)
				model[tab.identity(it)] = it
			},
			"remove": func(t *rapid.T) {
				k := item{"pk": stringValue(word.Draw(t, "pk")), "sk": small("sk")}
				tab.remove(k)
				delete(model, tab.identity(k))
			},
			"": func(t *rapid.T) {
				var all, indexed []item
				bytes := 0
				for _, it := range model {
					all = append(all, it)
					bytes += it.size()
					if got := tab.get(it); !got.equal(it) {
						t.Fatalf("get returns %v for %v", got, it)
					}
					if byG.key.covers(it) {
						indexed = append(indexed, it)
					}
				}
				sameItems(t, tab.items, all)
				sameItems(t, byG.items, indexed)
				if tab.count != len(all) || tab.bytes != bytes {
					t.Fatalf("counts %d items of %d bytes, want %d of %d", tab.count, tab.bytes, len(all), bytes)
				}
			},
		})
	})
}

// sameItems checks that a collection holds exactly these items, each group in
// order, and that a scan meets every group once.
func sameItems(t *rapid.T, c *collection, want []item) {
	var got []string
	for _, id := range c.scanned() {
		group := c.partitions[id]
		if !slices.IsSortedFunc(group, c.compare) {
			t.Fatalf("group %s is out of order: %v", id, group)
		}
		for _, it := range group {
			got = append(got, describeItem(it))
		}
	}
	var wanted []string
	for _, it := range want {
		wanted = append(wanted, describeItem(it))
	}
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		t.Fatalf("holds %v, want %v", got, wanted)
	}
}

func describeItem(it item) string {
	return fmt.Sprintf("%s/%s/%s/%s", it["pk"].scalarText(), it["sk"].scalarText(), it["g"].scalarText(), it["h"].scalarText())
}
