package singleton_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// meter is a client that counts what its requests cost, by the rules of DynamoDB:
// a write costs a unit for each KB of the item begun, also when it is refused, and
// a strongly consistent read one for each 4 KB. What is answered is counted by the
// in-memory DynamoDB, what is refused by the item that the refusal brings.
type meter struct {
	lockkit.Client
	requests      int
	writes, reads float64
}

func (m *meter) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	counted := *in
	counted.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.UpdateItem(ctx, &counted, o...)
	m.requests++
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		m.writes += math.Ceil(float64(size(refused.Item)) / 1024)
	} else if err == nil {
		m.writes += *out.ConsumedCapacity.CapacityUnits
	}
	return out, err
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	counted := *in
	counted.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.GetItem(ctx, &counted, o...)
	m.requests++
	if err == nil {
		m.reads += *out.ConsumedCapacity.CapacityUnits
	}
	return out, err
}

// sample is what one run cost that met a holder.
type sample struct {
	outcome                 singleton.Outcome
	requests, writes, reads float64
	waited                  float64 // in leases of the holder
}

// meet measures a run under a policy that meets a holder, at a moment between two
// renewals of that holder.
func meet(w *world, p job.Policy, holder string, phase time.Duration) sample {
	j := with(p)
	_, _ = w.invoke(w.process("before"), j, w.scheduled(-time.Minute), does(0))
	var result <-chan singleton.Result
	measured := make(chan struct{})
	switch holder {
	case "alive": // for ten minutes, or until there is nothing left to measure
		result = w.holdFor("pod-1", j, w.scheduled(0), func(ctx context.Context, run *singleton.Run) error {
			select {
			case <-measured:
				return nil
			case <-time.After(10 * time.Minute):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		time.Sleep(phase)
	case "dead":
		w.crash("pod-1", j, w.scheduled(0))
		time.Sleep(spec.Lease + phase)
	case "just gone":
		<-w.holdFor("pod-1", j, w.scheduled(0), does(phase))
	}
	m := &meter{Client: w.db.Client()}
	locks, err := lockkit.New(m, table)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.Context(), j.Timeout)
	defer cancel()
	res, _ := singleton.Do(ctx, locks, j, w.scheduled(time.Minute), does(0))
	if res.Requests != m.requests {
		w.Errorf("%d requests in the result, %d were sent", res.Requests, m.requests)
	}
	close(measured)
	if result != nil {
		<-result
	}
	return sample{res.Outcome, float64(m.requests), m.writes, m.reads, float64(res.WaitedMS) / float64(spec.Lease.Milliseconds())}
}

// spread is a value's median and highest over all moments.
type spread struct{ median, most float64 }

func over(all []sample, of func(sample) float64) spread {
	values := make([]float64, 0, len(all))
	for _, s := range all {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return spread{values[len(values)/2], values[len(values)-1]}
}

// TestPoliciesCostWhatTheirTableSays measures the table in docs/policies.md: each
// policy against a live holder, a dead one and one that has just released, at 20
// moments between two renewals of it, or 4. Where a waiter looks is random within bounds, so
// what is compared has a little room.
func TestPoliciesCostWhatTheirTableSays(t *testing.T) {
	rows := documented(t)
	for _, p := range []job.Policy{job.SkipWhenAlive, job.SkipAtOnce, job.Wait, job.Queue, job.Supersede} {
		for _, holder := range []string{"alive", "dead", "just gone"} {
			t.Run(string(p)+", "+holder, func(t *testing.T) {
				var all []sample
				moments := 20
				if holder != "alive" {
					moments = 4 // it renews nothing, so they hardly differ
				}
				for i := range moments {
					inWorld(t, func(w *world) {
						all = append(all, meet(w, p, holder, time.Duration(i)*spec.Lease/3/time.Duration(moments)+time.Millisecond))
					})
				}
				outcome := all[0].outcome
				for _, s := range all {
					if s.outcome != outcome {
						t.Fatalf("outcomes differ: %v", all)
					}
				}
				requests := over(all, func(s sample) float64 { return s.requests })
				writes := over(all, func(s sample) float64 { return s.writes })
				reads := over(all, func(s sample) float64 { return s.reads })
				waited := over(all, func(s sample) float64 { return s.waited })
				measured := fmt.Sprintf("| `%s` | %s | `%s` | %g, %g | %g, %g | %g, %g | %.2f, %.2f |", p, holder, outcome,
					requests.median, requests.most, writes.median, writes.most, reads.median, reads.most, waited.median, waited.most)
				t.Log(measured)
				row, ok := rows[string(p)+" "+holder]
				if !ok {
					t.Fatalf("docs/policies.md has no row for it; measured:\n%s", measured)
				}
				if row.outcome != string(outcome) || row.writes != writes || !near(row.requests, requests, 1) || !near(row.reads, reads, 1) || !near(row.waited, waited, 0.04) {
					t.Errorf("docs/policies.md says %+v; measured:\n%s", row, measured)
				}
			})
		}
	}
}

func near(a, b spread, room float64) bool {
	return math.Abs(a.median-b.median) <= room && math.Abs(a.most-b.most) <= room
}

// row is one of the table's.
type row struct {
	outcome                         string
	requests, writes, reads, waited spread
}

// documented reads the table in docs/policies.md.
func documented(t *testing.T) map[string]row {
	t.Helper()
	text, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 7 {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		var r row
		r.outcome = cells[2]
		ok := true
		for i, s := range []*spread{&r.requests, &r.writes, &r.reads, &r.waited} {
			n, _ := fmt.Sscanf(cells[i+3], "%g, %g", &s.median, &s.most)
			ok = ok && n == 2
		}
		if ok {
			rows[cells[0]+" "+cells[1]] = r
		}
	}
	if len(rows) == 0 {
		t.Fatal("docs/policies.md has no table")
	}
	return rows
}
