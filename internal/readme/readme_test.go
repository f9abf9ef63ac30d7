package readme

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// programs are the Go blocks of a Markdown text that are whole programs.
func programs(markdown string) []string {
	var all []string
	for _, block := range strings.Split(markdown, "```go\n")[1:] {
		code, _, _ := strings.Cut(block, "```")
		if strings.HasPrefix(code, "package main\n") {
			all = append(all, code)
		}
	}
	return all
}

// Every program in the README compiles as it stands. It is laid over the tree as
// a package beside the functions, because one of them uses what only they may.
func TestProgramsCompile(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := programs(string(text))
	if len(all) != 2 {
		t.Fatalf("%d programs in the README, expected 2", len(all))
	}
	for i, code := range all {
		dir := t.TempDir()
		file, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
		place := filepath.Join("functions", "readme"+strconv.Itoa(i))
		replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, place, "main.go"): file}})
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{file: []byte(code), overlay: replace} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", filepath.Join(dir, "program"), "./"+place)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("program %d: %v\n%s", i+1, err, out)
		}
	}
}

// Every test that a document names exists.
func TestNamedTestsExist(t *testing.T) {
	root := filepath.Join("..", "..")
	known := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			known[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(documents) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, path := range append(documents, filepath.Join(root, "README.md"), filepath.Join(root, "lockkit", "doc.go")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range testName.FindAllString(string(text), -1) {
			if !known[name] {
				t.Errorf("%s names %s, which does not exist", path, name)
			}
		}
	}
}

var (
	testFunc = regexp.MustCompile(`(?m)^func (Test[A-Z]\w+)\(t \*testing\.T\)`)
	testName = regexp.MustCompile(`\bTest[A-Z]\w+`)
)
