package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"

	"github.com/solotick/solotick/internal/scenario"
)

const usage = `solotick runs the whole system on this machine, with real function processes.

usage: solotick up --scenario [flags]
       solotick version

  --scenario         play what can happen to the three jobs' functions (normal runs,
                     a tick delivered twice, an overlap, kill -9, a frozen holder),
                     check the result in the tables, and end
  --without-fencing  the same with a job that writes without the held check and a
                     target that ignores tokens; it must end in a failed verdict
  --functions DIR    folder with <job>/bootstrap built for this machine
                     (default dist/local, which ` + "`make functions-local`" + ` builds)
  --listen ADDR      loopback address of the DynamoDB endpoint (default 127.0.0.1:0,
                     a free port)
  --keep-logs DIR    write every event and every request to DIR, as JSON lines

environment: DYNAMODB_ENDPOINT, the URL of a DynamoDB to use in place of the one in
memory (DynamoDB Local, for example). Tables of their own are made there and
deleted at the end. Requests are counted on the way to it.

exit codes: 0 every check passed; 1 a check failed; 2 bad usage, or it cannot run
here; 130 interrupted (everything that was started is stopped).
`

// up starts the system. So far it knows the scenario only.
func up(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	fail := func(format string, args ...any) int {
		fmt.Fprintf(stderr, "solotick up: "+format+"\n", args...)
		return exitCannot
	}
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // its words come without what to do
	play := flags.Bool("scenario", false, "")
	o := scenario.Options{Endpoint: getenv("DYNAMODB_ENDPOINT"), Out: stdout}
	flags.BoolVar(&o.WithoutFencing, "without-fencing", false, "")
	flags.StringVar(&o.Functions, "functions", "dist/local", "")
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:0", "")
	flags.StringVar(&o.KeepLogs, "keep-logs", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return exitOK
	case err != nil:
		return fail("%v; `solotick help` lists the flags", err)
	case flags.NArg() > 0:
		return fail("unexpected argument %q: it takes flags only; `solotick help` lists them", flags.Arg(0))
	case !*play:
		return fail("only the scenario can be run so far: add --scenario")
	case runtime.GOOS != "linux" && runtime.GOOS != "darwin":
		return fail("%s is not supported: the local Lambda needs the signals of Linux or macOS", runtime.GOOS)
	}
	ok, err := scenario.Run(ctx, o)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "solotick up: interrupted; everything that was started is stopped")
		return exitInterrupt
	case err != nil:
		return fail("%v", err)
	case !ok:
		return exitFailed
	default:
		return exitOK
	}
}
