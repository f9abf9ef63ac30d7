//go:build bench && !unix

package bench

import "time"

var start = time.Now()

// cpu is the time of day where the processor time is not to be had so simply:
// measure on a machine that does nothing else.
func cpu() time.Duration { return time.Since(start) }
