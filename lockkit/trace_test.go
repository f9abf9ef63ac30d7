package lockkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// logged keeps log lines.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (x *logged) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buf.Write(p)
}

func (x *logged) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(x, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (x *logged) lines() []map[string]any {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []map[string]any
	for d := json.NewDecoder(bytes.NewReader(x.buf.Bytes())); d.More(); {
		var line map[string]any
		if err := d.Decode(&line); err != nil {
			panic(err)
		}
		out = append(out, line)
	}
	return out
}

func (x *logged) ids() []int64 {
	var ids []int64
	for _, line := range x.lines() {
		ids = append(ids, int64(line["event_id"].(float64)))
	}
	return ids
}

// TestLog provokes every event and holds its number, name, level and fields.
func TestLog(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		var log logged
		locks := func() *lockkit.LockTable {
			return w.process(lockkit.WithLogger(log.logger()), lockkit.WithHolderLabel("pod-1"))
		}
		// 41, 42 and 40: a takeover, and a lease that cannot be renewed.
		w.plant(with(holder("dead", "v", "7"), "holder", s("pod-0")))
		l := w.acquire(locks())
		back := w.crash(l)
		<-l.Done()
		back()
		w.release(l)
		// 43: a release without an answer.
		l = w.acquire(locks())
		back = w.db.Inject(locktest.Fault{Kind: locktest.FaultFailBefore, Count: -1})
		_ = l.Release(t.Context())
		back()
		w.release(l)
		// 44, 49, 45, 46, 47, 48: an election.
		w.db.Inject(locktest.Fault{Kind: locktest.FaultFailBefore, Count: 8})
		ctx, cancel := context.WithCancel(t.Context())
		round := 0
		_ = locks().RunAsLeader(ctx, name, lease, func(work context.Context) error {
			if round++; round == 1 {
				w.plant(with(holder("other", "v", "99"), "leaseMs", n("1000")))
			} else {
				cancel()
			}
			<-work.Done()
			return fmt.Errorf("work %d", round)
		})
		want := map[int]string{
			40: "lease_lost WARN detail error reason token", 41: "lock_taken_over INFO former_holder former_token holder token",
			42: "renewal_failed WARN again_in error token", 43: "release_failed WARN error token",
			44: "contend_failed WARN again_in error", 45: "leading INFO holder token", 46: "not_leading INFO holder reason token",
			47: "work_error_after_loss DEBUG error_type", 48: "work_error_after_cancel DEBUG error_type", 49: "contend_recovered INFO after retries",
		}
		for _, line := range log.lines() {
			id := int(line["event_id"].(float64))
			if line["lock"] != name || line["table"] != table {
				t.Errorf("%d: %v does not name lock and table", id, line)
			}
			fields := map[string]bool{}
			for _, f := range strings.Fields(want[id])[2:] {
				fields[f] = true
			}
			for f := range fields {
				if _, ok := line[f]; !ok && (id != 40 || f != "error") {
					t.Errorf("%d has no field %s: %v", id, f, line)
				}
			}
			for f := range line {
				switch f {
				case "time", "level", "msg", "event_id", "event", "lock", "table":
				default:
					if !fields[f] {
						t.Errorf("%d has the field %s", id, f)
					}
				}
			}
			if got := fmt.Sprint(line["event"], " ", line["level"]); !strings.HasPrefix(want[id], got) {
				t.Errorf("%d is %s, want %s", id, got, want[id])
			}
		}
		seen := map[int64]bool{}
		for _, id := range log.ids() {
			seen[id] = true
		}
		for id := range want {
			if !seen[int64(id)] {
				t.Errorf("event %d was not logged", id)
			}
		}
	})
}

// spy is a tracer that notes what it is told, and marks the contexts it returns.
type spy struct {
	lockkit.NoTracer
	terms
}

type markKey struct{}

func (x *spy) TraceStart(ctx context.Context, s lockkit.TraceStart) context.Context {
	line := "start:" + string(s.Operation)
	if s.Acquired != nil {
		line += ":heartbeat-of-" + fmt.Sprint(s.Acquired.Value(markKey{}))
		if ctx.Value(markKey{}) != nil {
			line += "-not-a-root"
		}
	}
	x.note(line)
	return context.WithValue(ctx, markKey{}, string(s.Operation))
}

func (x *spy) TraceEnd(ctx context.Context, e lockkit.TraceEnd) {
	line := "end:" + string(e.Operation)
	if ctx.Value(markKey{}) != string(e.Operation) {
		line += ":foreign-context"
	}
	if e.Err != nil {
		line += ":error"
	}
	if e.Lease != nil {
		line += ":lease"
	}
	x.note(line)
}

func (x *spy) TraceLoss(_ context.Context, l lockkit.Loss) { x.note("loss:" + string(l.Reason)) }

func (x *spy) TraceContentionRetry(context.Context, lockkit.ContentionRetry) { x.note("retry") }

func TestTracer(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		x := &spy{}
		locks := w.process(lockkit.WithTracer(x))
		l := w.acquire(locks)
		time.Sleep(lease/3 + time.Millisecond)
		_ = l.Renew(t.Context())
		w.release(l)
		w.plant(holder("other", "v", "99"))
		_, _ = locks.TryAcquire(t.Context(), name, lease)
		want := "start:Acquire end:Acquire:lease start:Renew:heartbeat-of-Acquire end:Renew start:Renew end:Renew " +
			"start:Release end:Release start:TryAcquire end:TryAcquire:error"
		if got := x.String(); got != want {
			t.Errorf("saw  %s\nwant %s", got, want)
		}
		x.lines = nil
		l = w.acquire(locks)
		_ = w.db.Delete(table, key())
		_ = l.Renew(t.Context())
		if got := x.String(); got != "start:Acquire end:Acquire:lease start:Renew loss:deleted end:Renew:error" {
			t.Errorf("saw %s", got)
		}
		x.lines = nil
		w.db.Inject(locktest.Fault{Kind: locktest.FaultFailBefore, Count: 4})
		_ = locks.RunAsLeader(t.Context(), name, lease, func(context.Context) error { return nil })
		if got := x.String(); got != "start:Acquire end:Acquire:error retry start:Acquire end:Acquire:lease start:Release end:Release" {
			t.Errorf("saw %s", got)
		}
	})
}

// benign notes which errors are outcomes and no failures.
type benign struct {
	lockkit.NoTracer
	terms
}

func (x *benign) TraceEnd(_ context.Context, e lockkit.TraceEnd) {
	if e.Err != nil {
		x.note(fmt.Sprintf("%s:%t", e.Operation, e.Benign))
	}
}

func TestTracerTellsOutcomesFromFailures(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		x := &benign{}
		locks := w.process(lockkit.WithTracer(x))
		l := w.acquire(locks, lockkit.Extend(&ticker{tick: "100"}))
		_, _ = w.process(lockkit.WithTracer(x)).TryAcquire(t.Context(), name, lease) // held
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultBlackHole})
		time.Sleep(lease/3 + time.Millisecond)
		w.release(l) // cuts the heartbeat off
		_, _ = locks.Acquire(t.Context(), name, lease, lockkit.Extend(&ticker{tick: "100"}))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _ = locks.Acquire(ctx, name, lease)
		w.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "AccessDeniedException"})
		_, _ = locks.Acquire(t.Context(), name, lease)
		if got := x.String(); got != "TryAcquire:true Renew:true Acquire:true Acquire:true Acquire:false" {
			t.Errorf("saw %s", got)
		}
	})
}
