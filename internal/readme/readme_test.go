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

// blocks are the Go blocks of a Markdown text.
func blocks(markdown string) []string {
	var all []string
	for _, block := range strings.Split(markdown, "```go\n")[1:] {
		code, _, _ := strings.Cut(block, "```")
		all = append(all, code)
	}
	return all
}

// The Go in the README compiles as it stands: the job's numbers in package
// functions, and the programs beside the functions, because one of them uses
// what only they may. All of it is laid over the tree, which stays as it is.
func TestGoCompiles(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	lay := func(place, code string) {
		t.Helper()
		file := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, place)] = file
	}
	var programs []string
	for i, code := range blocks(string(text)) {
		switch {
		case strings.Contains(code, "package main\n"):
			programs = append(programs, "./functions/readme"+strconv.Itoa(i))
			lay("functions/readme"+strconv.Itoa(i)+"/main.go", code)
		case strings.Contains(code, "job.Spec{"):
			const imports = "import (\n\"time\"\n\n\"github.com/solotick/solotick/lockkit/singleton/job\"\n)\n"
			const valid = "\nvar Valid = InvoiceReminder.Validate()\n"
			lay("functions/readme.go", "package functions\n"+imports+code+valid)
		default:
			t.Errorf("block %d is neither a program nor a job's numbers:\n%s", i+1, code)
		}
	}
	if len(programs) != 2 || len(replace) != 3 {
		t.Fatalf("%d programs and %d blocks, expected 2 and 3", len(programs), len(replace))
	}
	// What the numbers say is checked by a program of ours.
	lay("functions/readme/main.go", "package main\nimport \"github.com/solotick/solotick/functions\"\nfunc main() {\nif functions.Valid != nil {\npanic(functions.Valid)\n}\n}\n")
	overlay := filepath.Join(dir, "overlay.json")
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, content, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(command string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", append(append([]string{command, "-overlay", overlay}, flags...), args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s %v: %v\n%s", command, args, err, out)
		}
	}
	for i, program := range programs {
		run("build", "-o", filepath.Join(dir, "program"+strconv.Itoa(i)), program)
	}
	run("run", "./functions/readme")
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
	for _, path := range append(documents, filepath.Join(root, "README.md"), filepath.Join(root, "lockkit", "doc.go"), filepath.Join(root, "lockkit", "fence", "doc.go"), filepath.Join(root, "lockkit", "singleton", "doc.go"), filepath.Join(root, "lockkit", "singleton", "control", "doc.go")) {
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
