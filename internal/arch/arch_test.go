package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/solotick/solotick"

// pkg is what `go list` says of a package; the tests' imports are not in it.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// load lists the module's packages and everything they need.
func load(t *testing.T) map[string]pkg {
	t.Helper()
	walk(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// walk looks at every folder of the module. What `go list` reads is unknown to
// go test, which would go on to report a result from its cache; the folders that
// the test itself has opened are compared with what they were.
func walk(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// under reports whether a path is one of the roots or below it.
func under(path string, roots ...string) bool {
	for _, root := range roots {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}

// A rule says what the packages of one place may have among their imports.
type rule struct {
	name  string
	of    func(path string) bool
	deps  bool // all dependencies, not only what is imported directly
	allow func(p pkg) bool
}

func ours(path string) string { return module + "/" + path }

// aws is the SDK and what it stands on.
func aws(path string) bool {
	return under(path, "github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go")
}

func rules() []rule {
	only := func(paths ...string) func(string) bool {
		return func(p string) bool { return under(p, paths...) }
	}
	exactly := func(path string) func(string) bool {
		return func(p string) bool { return p == path }
	}
	not := func(paths ...string) func(pkg) bool {
		return func(p pkg) bool { return !under(p.ImportPath, paths...) }
	}
	return []rule{
		{
			name: "lockkit stands alone: the standard library and the AWS SDK", of: exactly(ours("lockkit")), deps: true,
			allow: func(p pkg) bool { return p.Standard || aws(p.ImportPath) },
		},
		{
			name: "fence brings no driver and no lock: the standard library and the AWS SDK", of: exactly(ours("lockkit/fence")), deps: true,
			allow: func(p pkg) bool { return p.Standard || p.ImportPath == ours("lockkit/fence") || aws(p.ImportPath) },
		},
		{
			name: "events holds types only", of: exactly(ours("events")), deps: true,
			allow: func(p pkg) bool { return p.Standard },
		},
		{
			name: "a job's numbers are pure data", of: exactly(ours("lockkit/singleton/job")), deps: true,
			allow: func(p pkg) bool { return p.Standard },
		},
		{
			name: "singleton knows lockkit, events and a job's numbers, and nothing else of ours", of: exactly(ours("lockkit/singleton")),
			allow: func(p pkg) bool {
				return !under(p.ImportPath, module) || p.ImportPath == ours("lockkit") || p.ImportPath == ours("events") || under(p.ImportPath, ours("lockkit/singleton"))
			},
		},
		{
			name: "the bus is EventBridge's client and the types of the events", of: exactly(ours("events/bus")), deps: true,
			allow: func(p pkg) bool { return p.Standard || aws(p.ImportPath) || p.ImportPath == ours("events") },
		},
		{
			name: "control writes to the lock's item and knows no runner", of: exactly(ours("lockkit/singleton/control")),
			allow: func(p pkg) bool {
				return !under(p.ImportPath, module) || p.ImportPath == ours("lockkit") || under(p.ImportPath, ours("lockkit/singleton/internal"))
			},
		},
		{
			name: "lockotel adapts lockkit to the OpenTelemetry API and knows no SDK", of: exactly(ours("lockkit/lockotel")),
			allow: func(p pkg) bool {
				return p.Standard || p.ImportPath == ours("lockkit") ||
					under(p.ImportPath, "go.opentelemetry.io/otel") && !under(p.ImportPath, "go.opentelemetry.io/otel/sdk")
			},
		},
		{
			name: "the library knows nothing of the application", of: only(ours("lockkit")), deps: true,
			allow: not(ours("functions"), ours("internal"), ours("cmd"), ours("infra")),
		},
		{
			name: "no function carries the test kit", of: only(ours("functions")), deps: true,
			allow: not(ours("lockkit/locktest"), ours("internal"), ours("cmd")),
		},
		{
			name: "what is measured as a function carries what a function may", of: only(ours("internal/bench/handlers")), deps: true,
			allow: func(p pkg) bool {
				return !under(p.ImportPath, ours("lockkit/locktest"), ours("internal"), ours("cmd"), ours("functions")) || under(p.ImportPath, ours("internal/bench/handlers"))
			},
		},
		{
			name: "no cold start compiles a regular expression of ours", of: only(ours("lockkit"), ours("events"), ours("functions")),
			allow: not("regexp"),
		},
		{
			name: "no program carries package testing", of: only(ours("cmd"), ours("functions"), ours("internal/bench/handlers")), deps: true,
			allow: not("testing"),
		},
		{
			name: "no job relies on a signal: Lambda ends a process without one", of: only(ours("lockkit"), ours("functions")),
			allow: not("os/signal"),
		},
		{
			name: "nothing imports the command", of: only(module), deps: true,
			allow: not(ours("cmd")),
		},
		{
			name: "the CDK belongs to infra", of: only(module), deps: true,
			allow: not("github.com/aws/aws-cdk-go", "github.com/aws/jsii-runtime-go", "github.com/aws/constructs-go"),
		},
	}
}

// broken returns the imports that a rule does not allow.
func broken(r rule, all map[string]pkg) []string {
	var faults []string
	for path, p := range all {
		if !under(path, module) || !r.of(path) {
			continue
		}
		imports := p.Imports
		if r.deps {
			imports = p.Deps
		}
		for _, dep := range imports {
			d, known := all[dep]
			if !known {
				d = pkg{ImportPath: dep, Standard: true} // such as "C"
			}
			if !r.allow(d) {
				faults = append(faults, path+" imports "+dep)
			}
		}
	}
	return faults
}

func TestImports(t *testing.T) {
	all := load(t)
	if _, ok := all[ours("lockkit")]; !ok {
		t.Fatal("lockkit is not among the packages listed")
	}
	for _, r := range rules() {
		for _, fault := range broken(r, all) {
			t.Errorf("%s: %s", r.name, fault)
		}
	}
}

// Each rule must be able to fail: a planted violation breaks it.
func TestRulesCatchViolations(t *testing.T) {
	for _, plant := range []struct{ path, dep string }{
		{ours("lockkit"), "github.com/someone/else"},
		{ours("lockkit/fence"), "modernc.org/sqlite"},
		{ours("events"), "github.com/aws/aws-sdk-go-v2/aws"},
		{ours("lockkit/singleton/job"), ours("lockkit")},
		{ours("lockkit/singleton"), ours("functions")},
		{ours("lockkit/singleton/control"), ours("lockkit/singleton")},
		{ours("lockkit/locktest"), ours("internal/lambda")},
		{ours("functions/order-sweeper"), ours("lockkit/locktest")},
		{ours("internal/bench/handlers/locked"), ours("internal/lambda")},
		{ours("internal/bench/handlers/plain"), ours("functions")},
		{ours("events"), "regexp"},
		{ours("functions/internal/wiring"), "regexp"},
		{ours("internal/scenario"), ours("cmd/solotick")},
		{ours("cmd/solotick"), "testing"},
		{ours("lockkit/lockotel"), "go.opentelemetry.io/otel/sdk/trace"},
		{ours("lockkit/lockotel"), ours("lockkit/locktest")},
		{ours("functions/order-sweeper"), "os/signal"},
		{ours("functions"), "github.com/aws/aws-cdk-go/awscdk/v2"},
	} {
		all := map[string]pkg{
			plant.path: {ImportPath: plant.path, Imports: []string{plant.dep}, Deps: []string{plant.dep}},
			plant.dep:  {ImportPath: plant.dep},
		}
		caught := 0
		for _, r := range rules() {
			caught += len(broken(r, all))
		}
		if caught == 0 {
			t.Errorf("no rule catches that %s imports %s", plant.path, plant.dep)
		}
	}
}
