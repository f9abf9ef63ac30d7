//go:build bench && unix

package bench

import (
	"syscall"
	"time"
)

// cpu is the processor time of this process so far: unlike the time of day it
// does not grow while other processes have the processor.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other way to fail than a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
