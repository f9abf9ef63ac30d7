package cdk_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"github.com/solotick/solotick/infra/cdk"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

// TestMain ends the node process of jsii, which would outlive the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// spec is a job that is complete enough to be deployed.
var spec = job.Spec{
	Name: "report", Schedule: "cron(0 2 * * ? *)", TimeZone: "Europe/Berlin", Lease: 30 * time.Second, Timeout: 5 * time.Minute,
	MemoryMB: 256, Retries: 1, MaxAge: 2 * time.Hour, ExpectedInterval: 25 * time.Hour,
}

// world is a stack that is being made.
type world struct {
	*testing.T
	stack awscdk.Stack
	locks *cdk.LockTable
	code  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	// The whole template is validated once, by the application's own test.
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), BuiltinCloudFormationValidation: jsii.Bool(false)})
	w := &world{T: t, stack: awscdk.NewStack(app, jsii.String("stack"), nil), code: t.TempDir()}
	if err := os.WriteFile(filepath.Join(w.code, "bootstrap"), []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.locks, err = cdk.NewLockTable(w.stack, "Locks", nil); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) job(props cdk.SingletonJobProps) *cdk.SingletonJob {
	w.Helper()
	if props.Spec.Name == "" {
		props.Spec = spec
	}
	props.Locks = w.locks
	if props.Function == nil {
		props.Code = w.code
	}
	j, err := cdk.NewSingletonJob(w.stack, props.Spec.Name, &props)
	if err != nil {
		w.Fatal(err)
	}
	return j
}

func (w *world) template() assertions.Template { return assertions.Template_FromStack(w.stack, nil) }

// resources returns all resources of a type, by logical id.
func (w *world) resources(kind string) map[string]map[string]any {
	w.Helper()
	all := map[string]map[string]any{}
	for id, r := range *w.template().FindResources(jsii.String(kind), nil) {
		all[id] = *r
	}
	return all
}

// has fails unless a resource of the type has these properties, among others.
func (w *world) has(kind string, properties map[string]any) {
	w.Helper()
	w.template().HasResourceProperties(jsii.String(kind), properties)
}
