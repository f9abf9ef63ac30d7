// Command solotick runs the whole system on this machine. `solotick help` says
// how.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
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
	out := &output{to: stdout}
	code := command(ctx, args, getenv, out, stderr)
	err := out.failure()
	if err == nil {
		return code
	}
	fmt.Fprintf(stderr, "solotick: cannot write to standard output: %v; direct it to where there is room, for what nobody could read counts for nothing\n", err)
	if code == exitInterrupt {
		return code
	}
	return exitCannot
}

func command(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	fail := func(format string, args ...any) int {
		fmt.Fprintf(stderr, format+"\n", args...)
		return exitCannot
	}
	if len(args) == 0 {
		return fail("%s", strings.TrimSpace(usage))
	}
	text := usage
	switch args[0] {
	case "up":
		return up(ctx, args[1:], getenv, stdout, stderr)
	case "help", "-h", "-help", "--help":
	case "version", "-version", "--version":
		text = "solotick " + version(debug.ReadBuildInfo()) + "\n"
	default:
		return fail("solotick: unknown command %q: expected `solotick up`; `solotick help` explains it", args[0])
	}
	if len(args) > 1 {
		return fail("solotick %s: unexpected argument %q: it takes none; `solotick help` explains all there is", args[0], args[1])
	}
	fmt.Fprint(stdout, text)
	return exitOK
}

// version is that of the module, "devel" for one that was built from its folder.
func version(info *debug.BuildInfo, known bool) string {
	if !known || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// output remembers the first error of a write, and writes nothing after it.
type output struct {
	to  io.Writer
	mu  sync.Mutex
	err error
}

// Write returns the error of the first write that failed, then and ever after.
func (o *output) Write(p []byte) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		n, o.err = o.to.Write(p)
	}
	return n, o.err
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
