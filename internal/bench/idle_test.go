//go:build bench

package bench

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/solotick/solotick/lockkit"
)

// TestIdleLease weighs leases that are held and wait for their next renewal, and
// whose owners have asked for the loss signal. Everything that belongs to them
// counts, the client's share included; the locks' names are the caller's.
func TestIdleLease(t *testing.T) {
	const many = 10_000
	locks, err := lockkit.New(clientOf(&canned{}), lockTable)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("idle-%d", i)
	}
	held, signals := make([]*lockkit.Lease, many), make([]<-chan struct{}, many)
	hold := func(name string) *lockkit.Lease {
		l, err := locks.Acquire(t.Context(), name, lockkit.MaxLease)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if err := hold("warm").Release(t.Context()); err != nil { // what the SDK keeps for all
		t.Fatal(err)
	}
	heap, goroutines := inUse()
	for i, name := range names {
		held[i] = hold(name)
		signals[i] = held[i].Done()
	}
	more, running := inUse()
	each := float64(more-heap) / many
	report(t, row{
		9, fmt.Sprintf("a held, idle lease with loss signal, of %d", many), "≤ 1024 B heap, 0 goroutines",
		fmt.Sprintf("%.0f B heap, %d goroutines in all", each, running-goroutines), check(each <= 1024 && running == goroutines),
	})
	for _, l := range held {
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.KeepAlive(signals)
}

// inUse is the live heap and the goroutines of this process.
func inUse() (heap int64, goroutines int) {
	runtime.GC()
	runtime.GC() // what the first one only queued for clearing
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), runtime.NumGoroutine()
}
