package lockkit_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestNotALock(t *testing.T) {
	for _, c := range []struct {
		name string
		item map[string]types.AttributeValue
		want string
	}{
		{"an item with only its key", nil, "_type is absent, expected the string"},
		{"an entity", map[string]types.AttributeValue{"_type": s("ORDER")}, `_type is another string (5 bytes), expected the string "LOCK"`},
		{"another spelling", map[string]types.AttributeValue{"_type": s("lock")}, "_type is another string (4 bytes)"},
		{"an empty type", map[string]types.AttributeValue{"_type": s("")}, "_type is an empty string"},
		{"an empty owner", with(holder("o", "v", "1"), "owner", s("")), "owner is an empty string, expected a string that is not empty"},
		{"an empty version", with(holder("o", "v", "1"), "rvn", s("")), "rvn is an empty string, expected a string that is not empty"},
		{"a boolean as owner", with(holder("o", "v", "1"), "owner", &types.AttributeValueMemberBOOL{Value: true}), "owner is a boolean"},
		{"null as owner", with(holder("o", "v", "1"), "owner", &types.AttributeValueMemberNULL{Value: true}), "owner is null"},
		{"a list as owner", with(holder("o", "v", "1"), "owner", &types.AttributeValueMemberL{}), "owner is a list"},
		{"a set as owner", with(holder("o", "v", "1"), "owner", &types.AttributeValueMemberSS{Value: []string{"o"}}), "owner is a set"},
		{"bytes as owner", with(holder("o", "v", "1"), "owner", &types.AttributeValueMemberB{Value: []byte("o")}), "owner is binary data"},
		{"a map as lease", with(holder("o", "v", "1"), "leaseMs", &types.AttributeValueMemberM{}), "leaseMs is a map"},
		{"a token of 1e40", with(holder("o", "v", "1"), "fence", n("1e40")), "fence is the number 1"},
		{"a negative token", with(holder("o", "v", "1"), "fence", n("-1")), "fence is the number -1, expected a whole number from 0"},
		{"an owner without a type", map[string]types.AttributeValue{"owner": s("o")}, "_type"},
		{"an owner and no version", map[string]types.AttributeValue{"_type": s("LOCK"), "owner": s("o"), "fence": n("1"), "leaseMs": n("1000")}, "rvn"},
		{"an owner and no lease", map[string]types.AttributeValue{"_type": s("LOCK"), "owner": s("o"), "rvn": s("v"), "fence": n("1")}, "leaseMs"},
		{"an owner and no token", map[string]types.AttributeValue{"_type": s("LOCK"), "owner": s("o"), "rvn": s("v"), "leaseMs": n("1000")}, "fence"},
		{"a number as owner", map[string]types.AttributeValue{"_type": s("LOCK"), "owner": n("5"), "rvn": s("v"), "fence": n("1"), "leaseMs": n("1000")}, "owner is the number 5"},
		{"a lease of 0", with(holder("o", "v", "1"), "leaseMs", n("0")), "leaseMs"},
		{"a negative lease", with(holder("o", "v", "1"), "leaseMs", n("-5")), "leaseMs"},
		{"a lease of 1e18", with(holder("o", "v", "1"), "leaseMs", n("1000000000000000000")), "leaseMs"},
		{"a string as lease", with(holder("o", "v", "1"), "leaseMs", s("30000")), "leaseMs is a string (5 bytes), expected a positive whole number"},
		{"a string as token", map[string]types.AttributeValue{"_type": s("LOCK"), "fence": s("1")}, "fence"},
		{"a fraction as token", with(holder("o", "v", "1"), "fence", n("1.5")), "fence is the number 1.5, expected a whole number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				w.plant(c.item)
				before := w.item()
				for range 2 {
					_, err := w.process().Acquire(t.Context(), name, lease)
					bad, ok := errors.AsType[*lockkit.NotALockError](err)
					if !ok || !errors.Is(err, lockkit.ErrNotALock) || bad.Lock != name || bad.Table != table || !strings.Contains(bad.Why, c.want) {
						t.Fatalf("got %v, want not a lock, naming %s", err, c.want)
					}
				}
				if _, err := w.process().State(t.Context(), name); !errors.Is(err, lockkit.ErrNotALock) {
					t.Errorf("state: %v", err)
				}
				same(t, before, w.item())
			})
		})
	}
}

func with(item map[string]types.AttributeValue, attribute string, v types.AttributeValue) map[string]types.AttributeValue {
	item[attribute] = v
	return item
}

func TestBadInput(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks := w.process()
		for _, c := range []struct {
			name  string
			lock  string
			lease time.Duration
			want  string
		}{
			{"empty name", "", lease, "empty"},
			{"name too long", strings.Repeat("x", 2044), lease, "2044 bytes"},
			{"name that is not UTF-8", "a\xffb", lease, "UTF-8"},
			{"short lease", name, 500 * time.Millisecond, "lease of 500ms: expected 1s to 24h"},
			{"long lease", name, 25 * time.Hour, "25h"},
			{"no lease", name, 0, "lease of 0s"},
			{"negative lease", name, -time.Second, "-1s"},
			{"lease in nanoseconds", name, time.Second + 1, "milliseconds"},
		} {
			if _, err := locks.Acquire(t.Context(), c.lock, c.lease); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
			}
			if _, err := locks.TryAcquire(t.Context(), c.lock, c.lease); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: try got %v, want an error with %q", c.name, err, c.want)
			}
		}
		if got := len(w.db.Requests()); got != 0 {
			t.Errorf("bad input cost %d requests", got)
		}
		for _, ok := range []string{"a", strings.Repeat("x", 2043), "日本/ü#:.", "a b", "a#b", "nul\x00byte"} {
			l, err := locks.Acquire(t.Context(), ok, lease)
			if err != nil {
				t.Errorf("%.20q: %v", ok, err)
				continue
			}
			w.release(l)
		}
	})
}

func TestMissingTable(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		locks, err := lockkit.New(w.client, "nowhere")
		if err != nil {
			t.Fatal(err)
		}
		_, err = locks.Acquire(t.Context(), name, lease)
		if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok || !strings.Contains(err.Error(), `"nowhere"`) || !strings.Contains(err.Error(), "create it") {
			t.Errorf("got %v, want an error that names the table and what to do", err)
		}
	})
}

// A table with other keys than the options say is the likeliest first mistake.
func TestOtherKeysAreNamed(t *testing.T) {
	for _, c := range []struct {
		option lockkit.Option
		want   string
	}{
		{lockkit.WithKeys("PK", "SK"), `the string keys "PK" and "SK"`},
		{lockkit.WithKeys("pk", ""), `the string key "pk" and no sort key`},
	} {
		inWorld(t, func(w *world) {
			t := w.t
			locks := w.process(c.option)
			_, acquire := locks.Acquire(t.Context(), name, lease)
			_, state := locks.State(t.Context(), name)
			for _, err := range []error{acquire, state} {
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "WithKeys") {
					t.Errorf("got %v, want the keys that were sent and what to do", err)
				}
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	client := locktest.New().Client()
	for _, c := range []struct {
		name   string
		option lockkit.Option
		want   string
	}{
		{"no partition key", lockkit.WithKeys("", "sk"), "partition key"},
		{"same keys", lockkit.WithKeys("a", "a"), `"a"`},
		{"a lock attribute as key", lockkit.WithKeys("owner", ""), `"owner"`},
		{"a long label", lockkit.WithHolderLabel(strings.Repeat("ü", 257)), "257"},
		{"a key as TTL", lockkit.WithTTL("pk", 0), `"pk"`},
		{"a lock attribute as TTL", lockkit.WithTTL("cursor", 0), `"cursor"`},
		{"a short retention", lockkit.WithTTL("expires", time.Hour), "1h0m0s"},
		{"a negative delay", lockkit.WithTakeoverDelay(-1), "takeover delay"},
		{"half a lease of margin", lockkit.WithSafetyMargin(0.5), "0.5"},
		{"a margin that is no number", lockkit.WithSafetyMargin(math.NaN()), "NaN"},
		{"a tiny interval", lockkit.WithPollInterval(time.Millisecond), "1ms"},
	} {
		if _, err := lockkit.New(client, table, c.option); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	for _, bad := range []string{"lo ck", "ab", "a/b"} {
		if _, err := lockkit.New(client, bad); err == nil || !strings.Contains(err.Error(), strconv.Quote(bad)) {
			t.Errorf("table %q: %v", bad, err)
		}
	}
	if _, err := lockkit.New(client, "arn:aws:dynamodb:eu-west-1:123456789012:table/locks"); err != nil {
		t.Error(err)
	}
	if _, err := lockkit.New(nil, ""); err == nil || !strings.Contains(err.Error(), "client is nil") || !strings.Contains(err.Error(), "table name is empty") {
		t.Errorf("got %v, want both faults", err)
	}
}
