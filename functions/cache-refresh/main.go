// Command cache-refresh is the Lambda function of the job cache-refresh: it
// pulls a document from an HTTP source and puts it where it is served from, under
// the run's fencing token.
//
// Besides the environment of package wiring it reads SOLOTICK_CACHE_SOURCE, the
// URL to get the document from, and SOLOTICK_CACHE_TARGET, the URL to put it to.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/functions/internal/demo"
	"github.com/solotick/solotick/functions/internal/wiring"
	"github.com/solotick/solotick/lockkit/singleton"
)

const (
	sourceVariable = "SOLOTICK_CACHE_SOURCE"
	targetVariable = "SOLOTICK_CACHE_TARGET"
)

func main() {
	var from, to string
	var switches demo.Switches
	app, err := wiring.Load(append(switches.Variables(),
		wiring.URL(sourceVariable, "to get the document from", &from),
		wiring.URL(targetVariable, "to put the document to", &to))...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cache-refresh:", err)
		os.Exit(1)
	}
	r := &refresher{
		source: source{client: newClient(), url: from},
		target: newFenced(newClient(), to),
		logger: app.Logger,
	}
	demonstrate(&switches, r)
	spec := switches.Apply(functions.CacheRefresh, app.Logger)
	lambda.Start(singleton.Handler(app.Locks, spec, r.work, singleton.WithLogger(app.Logger)))
}
