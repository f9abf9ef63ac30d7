package lockkit_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

func attributes(item map[string]types.AttributeValue) string {
	var names []string
	for k := range item {
		names = append(names, k)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// The form of the item is what other clients and older items rely on.
func TestWireForm(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process(lockkit.WithHolderLabel("pod-1"), lockkit.WithTTL("expires", 48*time.Hour)))
		item := w.item()
		if got := attributes(item); got != "_type at expires fence holder leaseMs owner pk rvn sk" {
			t.Errorf("a held lock has %s", got)
		}
		for name, want := range map[string]string{"pk": "LOCK#nightly-report", "sk": "LOCK", "_type": "LOCK", "owner": l.Owner(), "holder": "pod-1"} {
			if got, ok := item[name].(*types.AttributeValueMemberS); !ok || got.Value != want {
				t.Errorf("%s is %v, want the string %q", name, item[name], want)
			}
		}
		now := time.Now()
		for name, want := range map[string]int64{"fence": l.Token(), "leaseMs": 30000, "expires": now.Add(48 * time.Hour).Unix()} {
			if got, ok := item[name].(*types.AttributeValueMemberN); !ok || got.Value != strconv.FormatInt(want, 10) {
				t.Errorf("%s is %v, want the number %d", name, item[name], want)
			}
		}
		at := item["at"].(*types.AttributeValueMemberM).Value
		if at["owner"].(*types.AttributeValueMemberS).Value != l.Owner() || at["ms"].(*types.AttributeValueMemberN).Value != strconv.FormatInt(now.UnixMilli(), 10) {
			t.Errorf("at is %v", at)
		}
		w.release(l)
		if got := attributes(w.item()); got != "_type expires fence pk rvn sk" {
			t.Errorf("a free lock has %s", got)
		}
	})
}

// What others put on the item stays; what describes a former holder goes.
func TestForeignAttributesStay(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		item := holder("a .NET process", "v", "41")
		for _, name := range []string{"tick", "pending", "step"} {
			item[name] = n("5")
		}
		m := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"owner": s("older")}}
		for _, name := range []string{"cursor", "stop", "paused", "prev", "at", "until", "run"} {
			item[name] = m
		}
		item["holder"], item["note"] = s("pod-9"), s("mine")
		w.plant(item)
		l := w.acquire(w.process())
		if l.Token() != 42 {
			t.Errorf("token %d, want 42", l.Token())
		}
		if got := attributes(w.item()); got != "_type at cursor fence leaseMs note owner paused pending pk prev rvn sk step stop tick" {
			t.Errorf("after the acquire: %s", got)
		}
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.release(l)
		if got := attributes(w.item()); got != "_type cursor fence note paused pending pk prev rvn sk step stop tick" {
			t.Errorf("after the release: %s", got)
		}
	})
}

func TestTokensAreExact(t *testing.T) {
	for _, c := range []struct {
		stored string
		want   int64 // 0: refused
	}{
		{"9007199254740992", 9007199254740993},
		{"9007199254740993", 9007199254740994},
		{"9223372036854775805", 9223372036854775806}, // the largest but one
		{"9223372036854775806", 9223372036854775807},
		{"9223372036854775807", 0},
		{"9223372036854775808", 0},
		{"0", 1},
	} {
		t.Run(c.stored, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				w.plant(map[string]types.AttributeValue{"_type": s("LOCK"), "fence": n(c.stored)})
				l, err := w.process().Acquire(t.Context(), name, lease)
				if c.want == 0 {
					if err == nil || !strings.Contains(err.Error(), c.stored) {
						t.Fatalf("got %v, want an error that names %s", err, c.stored)
					}
					if got := w.item()["fence"].(*types.AttributeValueMemberN).Value; got != c.stored {
						t.Errorf("the token is %s now", got)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := w.item()["fence"].(*types.AttributeValueMemberN).Value; l.Token() != c.want || got != strconv.FormatInt(c.want, 10) {
					t.Errorf("token %d, stored %s, want %d", l.Token(), got, c.want)
				}
				if err := w.write(l, "x"); err != nil {
					t.Errorf("held check: %v", err)
				}
				w.release(l)
			})
		})
	}
}

func TestState(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process(lockkit.WithHolderLabel("pod-1"))
		state := func() lockkit.State {
			st, err := locks.State(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			return st
		}
		if got := state(); got != (lockkit.State{}) {
			t.Errorf("without an item: %+v", got)
		}
		l := w.acquire(locks)
		version := state().Version
		if got := state(); version == "" || got != (lockkit.State{Exists: true, Held: true, Holder: "pod-1", Lease: lease, Token: l.Token(), Version: version}) {
			t.Errorf("held: %+v", got)
		}
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state().Version == version {
			t.Error("a renewal left the record version")
		}
		version = state().Version
		w.release(l)
		if got := state(); got != (lockkit.State{Exists: true, Token: l.Token(), Version: version}) {
			t.Errorf("free: %+v", got)
		}
	})
}

func TestTableWithoutSortKeyAndOtherNames(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		if err := locktest.CreateTable(t.Context(), w.client, "single", "id", ""); err != nil {
			t.Fatal(err)
		}
		locks, err := lockkit.New(w.client, "single", lockkit.WithKeys("id", ""))
		if err != nil {
			t.Fatal(err)
		}
		a, err := locks.Acquire(t.Context(), "a", lease)
		if err != nil {
			t.Fatal(err)
		}
		b, err := locks.Acquire(t.Context(), "a#b", lease) // no collision
		if err != nil {
			t.Fatal(err)
		}
		if w.db.Item("single", map[string]types.AttributeValue{"id": s("LOCK#a#b")}) == nil {
			t.Error("no item at LOCK#a#b")
		}
		w.release(a)
		w.release(b)
	})
}

func TestTTL(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process(lockkit.WithTTL("expires", 0))
		due := func() time.Duration {
			v, ok := w.item()["expires"].(*types.AttributeValueMemberN)
			if !ok {
				return 0
			}
			sec, _ := strconv.ParseInt(v.Value, 10, 64)
			return time.Until(time.Unix(sec, 0))
		}
		const month = 30 * 24 * time.Hour
		near := func(when string) {
			t.Helper()
			if d := due(); d > month || d < month-time.Second {
				t.Errorf("%s: due in %s, want 30 days", when, d)
			}
		}
		l := w.acquire(locks)
		near("acquired")
		time.Sleep(time.Hour)
		if d := due(); d < month-lease/3-time.Second {
			t.Errorf("renewed: due in %s", d)
		}
		w.release(l)
		near("released")
		l = w.acquire(locks, lockkit.WithoutTTL())
		if due() != 0 {
			t.Error("WithoutTTL left the attribute")
		}
		w.release(l)
		if due() != 0 {
			t.Error("the release of a lease WithoutTTL set the attribute")
		}
	})
}
