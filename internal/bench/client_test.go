//go:build bench

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/internal/bench/handlers/raw"
	"github.com/solotick/solotick/lockkit"
)

// cycle is one acquire and one release.
type cycle func(context.Context) error

func newCycles(t *testing.T, client *dynamodb.Client) (ours, sdk cycle) {
	t.Helper()
	locks, err := lockkit.New(client, lockTable)
	if err != nil {
		t.Fatal(err)
	}
	ours = func(ctx context.Context) error {
		l, err := locks.Acquire(ctx, lockName, lockLease)
		if err != nil {
			return err
		}
		return l.Release(ctx)
	}
	r := raw.Lock{Client: client, Table: lockTable, Name: lockName, Lease: lockLease}
	sdk = func(ctx context.Context) error {
		held, err := r.Acquire(ctx)
		if err != nil {
			return err
		}
		return r.Release(ctx, held)
	}
	return ours, sdk
}

// TestClientCost compares the client's cost of an acquire and a release with two
// calls of the SDK that do the same.
func TestClientCost(t *testing.T) {
	sameRequests(t)
	ours, sdk := newCycles(t, clientOf(&canned{}))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const cycles, rounds = 400, 60
	// In each round all three run, one after the other, each of them first, second
	// and last in turn, and in either direction: what the machine does meanwhile
	// meets them alike.
	runs := []cycle{ours, sdk, sdk}
	var samples [3][]spent
	for i := range rounds + 1 {
		var got [3]spent
		for j := range runs {
			k := (i + j) % len(runs)
			if i/len(runs)%2 == 1 {
				k = len(runs) - 1 - k
			}
			got[k] = measure(t, cycles, runs[k])
		}
		if i == 0 {
			continue // the SDK fills its caches
		}
		for k := range got {
			samples[k] = append(samples[k], got[k])
		}
	}
	for _, part := range []struct {
		name string
		of   func(spent) float64
		unit string
		goal float64
	}{
		{"CPU", func(s spent) float64 { return float64(s.cpu) / 1e3 }, "µs", 1.05},
		{"bytes", func(s spent) float64 { return float64(s.bytes) }, "B", 1.03},
		{"allocations", func(s spent) float64 { return float64(s.allocs) }, "", 1.03},
	} {
		ratio, base := compare(samples[0], samples[1], part.of), middle(samples[1], part.of)/cycles
		report(t, row{
			8, "client cost of acquire + release against the SDK: " + part.name, fmt.Sprintf("≤ %.2f", part.goal),
			fmt.Sprintf("%.3f (of %.0f %s)", ratio, base, part.unit), check(ratio <= part.goal),
		})
		report(t, row{8, "  control: the SDK against itself", "", fmt.Sprintf("%.3f", compare(samples[2], samples[1], part.of)), control})
	}
}

// spent is what some cycles took.
type spent struct {
	cpu           time.Duration
	bytes, allocs uint64
}

func measure(t *testing.T, cycles int, f cycle) spent {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC() // nobody pays for another's garbage
	runtime.ReadMemStats(&before)
	start := cpu()
	for range cycles {
		if err := f(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d := cpu() - start
	runtime.ReadMemStats(&after)
	return spent{d, after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs}
}

// compare is the median over the rounds of the ratio within a round.
func compare(a, b []spent, of func(spent) float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = of(a[i]) / of(b[i])
	}
	return median(ratios)
}

func middle(s []spent, of func(spent) float64) float64 {
	x := make([]float64, len(s))
	for i := range s {
		x[i] = of(s[i])
	}
	return median(x)
}

// bodies keeps what is sent.
type bodies struct {
	canned
	sent []map[string]any
}

func (b *bodies) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var decoded map[string]any
	if err := json.Unmarshal(body, &decoded); err != nil {
		return nil, err
	}
	b.sent = append(b.sent, decoded)
	req.Body = io.NopCloser(bytes.NewReader(body))
	return b.canned.Do(req)
}

// sameRequests fails when the two sides do not send the same: then the comparison
// would compare nothing.
func sameRequests(t *testing.T) {
	t.Helper()
	b := &bodies{}
	ours, sdk := newCycles(t, clientOf(b))
	for _, f := range []cycle{ours, sdk} {
		if err := f(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.sent) != 4 {
		t.Fatalf("%d requests, want 2 and 2", len(b.sent))
	}
	for i, what := range []string{"acquire", "release"} {
		a, b := b.sent[i], b.sent[i+2]
		for _, side := range []map[string]any{a, b} {
			values, ok := side["ExpressionAttributeValues"].(map[string]any)
			if !ok {
				t.Fatalf("%s without values", what)
			}
			side["ExpressionAttributeValues"] = slices.Sorted(maps.Keys(values)) // ids and times differ
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: lockkit sends\n%v\nand the calls it is compared with\n%v\nbring handlers/raw up to date", what, a, b)
		}
	}
}
