//go:build bench

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root is the folder of the module: the benchmark may be started in another.
func root(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatalf("go env GOMOD: %v", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// buildCommand is the command that the Makefile builds a deployed function by,
// taken from there so that the two cannot differ.
func buildCommand(t *testing.T, root string) string {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	const variable = "FUNCTION := "
	for line := range strings.Lines(string(makefile)) {
		if command, found := strings.CutPrefix(line, variable); found {
			return strings.TrimSpace(command)
		}
	}
	t.Fatalf("no line of the Makefile begins with %q, which says how a function is built", variable)
	return ""
}

// build builds a package of the module as a function is built, and returns the
// bootstrap.
func build(t *testing.T, pkg string) string {
	t.Helper()
	root := root(t)
	bootstrap := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", buildCommand(t, root)+` -o "$0" "$1"`, bootstrap, "./"+pkg)
	cmd.Dir = root
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, said.Bytes())
	}
	return bootstrap
}

// size is that of a file in MiB.
func size(t *testing.T, path string) float64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return float64(info.Size()) / (1 << 20)
}

// deployed are the functions of this module, by their folders.
func deployed(t *testing.T) []string {
	t.Helper()
	mains, err := filepath.Glob(filepath.Join(root(t), "functions", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("functions/*/main.go: %d files, %v", len(mains), err)
	}
	names := make([]string, len(mains))
	for i, path := range mains {
		names[i] = filepath.Base(filepath.Dir(path))
	}
	return names
}

// handler is the package of a program that is only measured.
func handler(name string) string { return fmt.Sprintf("internal/bench/handlers/%s", name) }
