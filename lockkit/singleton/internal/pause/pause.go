// Package pause is the wait between two tries of a request.
package pause

import (
	"context"
	"time"
)

// For waits for d, and reports whether ctx goes on; at its end it returns at once.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
