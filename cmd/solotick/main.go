// Command solotick runs the whole system on this machine. `solotick help` says
// how.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := interruptible()
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitOK        = 0
	exitFailed    = 1   // a check failed
	exitCannot    = 2   // bad usage, or it cannot run here
	exitInterrupt = 130 // Ctrl-C or SIGTERM; everything that was started is stopped
)

// interruptible returns a context that ends with Ctrl-C or SIGTERM. A second one
// ends the program at once.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	say := func(text string) { _, _ = io.WriteString(stderr, text) } // nobody to tell
	if len(args) == 0 {
		say(usage)
		return exitCannot
	}
	switch args[0] {
	case "up":
		return up(ctx, args[1:], getenv, stdout, stderr)
	case "help", "-h", "-help", "--help":
		_, _ = io.WriteString(stdout, usage) // nobody to tell
		return exitOK
	default:
		say("solotick: unknown command " + quoted(args[0]) + ": the only one is `solotick up`; `solotick help` explains it\n")
		return exitCannot
	}
}
