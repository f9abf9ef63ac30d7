//go:build bench

package bench

import (
	"fmt"
	"slices"
	"time"
)

// leases are the durations that the goals are measured for.
var leases = []time.Duration{3 * time.Second, 10 * time.Second, 30 * time.Second}

// figures are the median and the largest of some numbers.
type figures struct{ median, max float64 }

func summary(x []float64) figures { return figures{median(x), slices.Max(x)} }

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// tenth is the value that a tenth of some numbers are below.
func tenth(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/10]
}

func (f figures) String() string { return fmt.Sprintf("median %.3f, max %.3f", f.median, f.max) }

// within reports whether the figures, as they are printed, are in the limit.
func (f figures) within(limit figures) bool {
	return f.median <= limit.median && f.max <= limit.max
}

// worst joins the figures of several leases: the largest of each.
func (f figures) worst(g figures) figures { return figures{max(f.median, g.median), max(f.max, g.max)} }

// ratio is a duration as a multiple of another.
func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
