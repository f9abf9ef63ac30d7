package conformance

import (
	"context"
	"fmt"
	"strings"
)

// large are numbers that a float64 cannot hold; the last is the largest token
// that can still be raised.
var large = []string{"9007199254740993", "9223372036854775806"}

func exactNumbers(ctx context.Context, b *bench) {
	for _, v := range append(large, "99999999999999999999999999999999999999", "-0.00000000000000000000000000000000000001") {
		b.put(ctx, with(b.key(v), item{"v": n(v)}))
		b.holds(ctx, "the item", b.key(v), with(b.key(v), item{"v": n(v)}))
	}
}

func arithmetic(ctx context.Context, b *bench) {
	raise := func(base string) expression {
		return expression{
			update: "SET #f = if_not_exists(#f, :base) + :one", names: map[string]string{"#f": "fence"},
			values: item{":base": n(base), ":one": n("1")},
		}
	}
	for suffix, c := range map[string]struct{ base, first, second string }{
		"time":    {"1796000000000", "1796000000001", "1796000000002"},
		"float":   {"9007199254740992", "9007199254740993", "9007199254740994"},
		"largest": {"9223372036854775805", "9223372036854775806", "9223372036854775807"},
	} {
		key := b.key(suffix)
		for _, want := range []string{c.first, c.second} {
			err := b.update(ctx, key, raise(c.base))
			b.ok("UpdateItem", err)
			b.holds(ctx, "the item", key, with(key, item{"fence": n(want)}))
		}
	}
	// What singleton does with its records: the first that is there.
	nested := expression{
		update: "SET #prev = if_not_exists(#run, if_not_exists(#prev, :none)), #run = :run", names: map[string]string{"#run": "run", "#prev": "prev"},
		values: item{":none": s("none"), ":run": s("one")},
	}
	for _, want := range []item{{"prev": s("none"), "run": s("one")}, {"prev": s("one"), "run": s("two")}} {
		err := b.update(ctx, b.key("nested"), nested)
		b.ok("nested if_not_exists", err)
		b.holds(ctx, "the item", b.key("nested"), with(b.key("nested"), want))
		nested.values = item{":none": s("none"), ":run": s("two")}
	}
}

// holdsFor sends an update that does nothing, to see whether its condition holds.
func (b *bench) holdsFor(ctx context.Context, key item, condition string, names map[string]string, values item, want bool) {
	e := expression{condition: condition, names: names, values: values}
	err := b.update(ctx, key, e)
	if want {
		b.ok(condition, err)
	} else {
		b.code(condition, err, refusal)
	}
}

func compareNumbers(ctx context.Context, b *bench) {
	for _, v := range large {
		less := v[:len(v)-1] + string(v[len(v)-1]-1)
		b.put(ctx, with(b.key(v), item{"v": n(v)}))
		for condition, want := range map[string]bool{"#v = :v": false, "#v > :v": true, "#v < :v": false, "#v <= :v": false, "#v <> :v": true} {
			b.holdsFor(ctx, b.key(v), condition, map[string]string{"#v": "v"}, item{":v": n(less)}, want)
		}
	}
	b.put(ctx, with(b.key("ten"), item{"v": n("10"), "s": s("10")}))
	b.holdsFor(ctx, b.key("ten"), "#v > :v", map[string]string{"#v": "v"}, item{":v": n("9")}, true)
	b.holdsFor(ctx, b.key("ten"), "#s = :v", map[string]string{"#s": "s"}, item{":v": n("10")}, false)
	b.holdsFor(ctx, b.key("ten"), "#gone < :v", map[string]string{"#gone": "gone"}, item{":v": n("9")}, false)
}

func reservedWords(ctx context.Context, b *bench) {
	e := expression{names: map[string]string{}, values: item{}}
	want := b.key("")
	for _, word := range []string{"owner", "token", "ttl", "at", "until", "run", "prev", "tick", "step", "cursor", "stop", "status", "_type"} {
		if e.update == "" {
			e.update = "SET "
		} else {
			e.update += ", "
		}
		e.update += "#" + word + " = :" + word
		e.names["#"+word], e.values[":"+word], want[word] = word, s(word), s(word)
	}
	err := b.update(ctx, b.key(""), e)
	b.ok("reserved words behind aliases", err)
	b.holds(ctx, "the item", b.key(""), want)
	err = b.update(ctx, b.key(""), expression{update: "SET token = :v", values: item{":v": s("x")}})
	b.code("a reserved word without an alias", err, invalid)
}

// AND binds tighter than OR, and NOT tighter than both.
func precedence(ctx context.Context, b *bench) {
	b.put(ctx, with(b.key(""), item{"v": n("1")}))
	names, values := map[string]string{"#v": "v"}, item{":one": n("1"), ":two": n("2")}
	b.holdsFor(ctx, b.key(""), "#v = :one OR #v = :one AND #v = :two", names, values, true)
	b.holdsFor(ctx, b.key(""), "(#v = :one OR #v = :one) AND #v = :two", names, values, false)
	b.holdsFor(ctx, b.key(""), "NOT #v = :two AND #v = :one", names, values, true)
	b.holdsFor(ctx, b.key(""), "NOT (#v = :two OR #v = :one)", names, values, false)
	// The condition of every acquire.
	b.holdsFor(ctx, b.key("new"), "attribute_not_exists(#v) OR #v = :one AND #v = :two", names, values, true)
}

func manyOperands(ctx context.Context, b *bench) {
	const operands = 95
	var list []string
	values := item{}
	for i := range operands {
		p := fmt.Sprintf(":v%02d", i)
		list, values[p] = append(list, p), s(fmt.Sprint("version-", i))
	}
	condition := "#v IN (" + strings.Join(list, ", ") + ")"
	for version, want := range map[string]bool{"version-0": true, "version-94": true, "version-95": false} {
		b.put(ctx, with(b.key(version), item{"v": s(version)}))
		b.holdsFor(ctx, b.key(version), condition, map[string]string{"#v": "v"}, values, want)
	}
}

func nestedPaths(ctx context.Context, b *bench) {
	b.put(ctx, with(b.key(""), item{"owner": s("a"), "until": m(item{"owner": s("a"), "ms": n("5")})}))
	names := map[string]string{"#u": "until", "#o": "owner"}
	b.holdsFor(ctx, b.key(""), "#u.#o = :o", names, item{":o": s("a")}, true)
	b.holdsFor(ctx, b.key(""), "#u.#o = :o", names, item{":o": s("b")}, false)
	b.holdsFor(ctx, b.key(""), "#u.#o = #o", names, nil, true)
	b.holdsFor(ctx, b.key("none"), "attribute_exists(#u.#o)", names, nil, false)
	b.holdsFor(ctx, b.key(""), "attribute_type(#u, :m)", map[string]string{"#u": "until"}, item{":m": s("M")}, true)
}

func removal(ctx context.Context, b *bench) {
	b.put(ctx, with(b.key(""), item{"owner": s("a"), "at": m(item{"ms": n("5")}), "v": s("stays")}))
	remove := expression{update: "SET #v = #v REMOVE #o, #a, #never", names: map[string]string{"#o": "owner", "#a": "at", "#never": "never", "#v": "v"}}
	for range 2 { // the second removes what is not there
		err := b.update(ctx, b.key(""), remove)
		b.ok("REMOVE", err)
		b.holds(ctx, "the item", b.key(""), with(b.key(""), item{"v": s("stays")}))
	}
	_, err := b.client.DeleteItem(ctx, deleteOf(b.table, b.key("")))
	b.ok("DeleteItem", err)
	b.holds(ctx, "the deleted item", b.key(""), nil)
	_, err = b.client.DeleteItem(ctx, deleteOf(b.table, b.key("")))
	b.ok("DeleteItem of what is not there", err)
}
