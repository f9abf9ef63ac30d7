package readme

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
