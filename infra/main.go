// Command infra is the CDK app of this repository. Run it by the CDK's command
// line (npx cdk deploy), which reads cdk.json, or by itself, which synthesises
// into cdk.out.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/infra/app"
)

func main() {
	code := 0
	if err := synth(); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		code = 1
	}
	jsii.Close() // or the exit leaves the node process behind
	os.Exit(code)
}

func synth() error {
	props := &awscdk.AppProps{}
	if os.Getenv("CDK_OUTDIR") == "" { // not under the CDK's command line, which passes cdk.json's context
		context, err := context("cdk.json")
		if err != nil {
			return err
		}
		props.Outdir, props.Context = jsii.String("cdk.out"), &context
	}
	a := awscdk.NewApp(props)
	value := func(key string) string {
		s, _ := a.Node().TryGetContext(jsii.String(key)).(string)
		return s
	}
	stage := value("stage")
	if stage == "" {
		stage = app.Dev
	}
	_, err := app.NewStack(a, "solotick-"+stage, app.Props{
		Stage: stage, Functions: "dist/lambda", Architecture: value("architecture"),
		CacheSource: value("cacheSource"), CacheTarget: value("cacheTarget"),
	})
	if err != nil {
		return err
	}
	a.Synth(nil)
	return nil
}

// context reads the context of a cdk.json.
func context(file string) (map[string]any, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: run it in the folder that has cdk.json", err)
	}
	var c struct {
		Context map[string]any `json:"context"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c.Context, nil
}
