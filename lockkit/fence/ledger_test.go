package fence_test

import (
	"fmt"
	"math"
	"sync"

	"pgregory.net/rapid"
)

// exact are tokens that a float64 cannot tell from their neighbours.
const (
	exact    = int64(9007199254740993)
	greatest = int64(math.MaxInt64)
)

// ledger records the writes that landed on one resource, in the order in which
// they did, and finds what a guard must not let through.
type ledger struct {
	mu      sync.Mutex
	open    int
	landed  []int64
	refused []int64
	faults  []string
}

// begin and land are called around an effect that must have the resource alone.
func (l *ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open++; l.open > 1 {
		l.faults = append(l.faults, fmt.Sprintf("%d effects at once", l.open))
	}
}

func (l *ledger) land(token int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	l.landed = append(l.landed, token)
}

func (l *ledger) refuse(token int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = append(l.refused, token)
}

func (l *ledger) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// check compares what happened with what was sent. left is the token that the
// resource shows in the end.
func (l *ledger) check(sent []int64, left int64) []string {
	faults := l.faults
	highest := int64(0)
	for _, token := range l.landed {
		if token < highest {
			faults = append(faults, fmt.Sprintf("a write of token %d landed after one of %d: %v", token, highest, l.landed))
		}
		highest = max(highest, token)
	}
	top := int64(0)
	for _, token := range sent {
		top = max(top, token)
	}
	if left != top {
		faults = append(faults, fmt.Sprintf("the resource shows token %d in the end, expected %d", left, top))
	}
	for _, token := range l.refused {
		if token == top {
			faults = append(faults, fmt.Sprintf("a write of the highest token %d was refused", token))
		}
	}
	if n := len(l.landed) + len(l.refused); n != len(sent) {
		faults = append(faults, fmt.Sprintf("%d writes were answered of %d", n, len(sent)))
	}
	return faults
}

// tokens draws tokens of a few holders: neighbours, so that a guard that loses
// digits confuses them.
func tokens() *rapid.Generator[int64] {
	return rapid.SampledFrom([]int64{1, 2, 3, exact - 1, exact, exact + 1, greatest - 1, greatest})
}
