package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Code that changes must take its mutants along: each has its place, once.
func TestEveryMutantHasItsPlace(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants() {
		if names[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		names[m.name] = true
		if _, err := m.apply(filepath.Join("..", "..")); err != nil {
			t.Error(err)
		}
	}
}

func TestApplyRefusesTextThatIsNotThereOnce(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "lockkit"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "lockkit", "a.go"), []byte("one two two"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed, err := one("good", "a.go", "one", "1").apply(root)
	if err != nil || changed["lockkit/a.go"] != "1 two two" {
		t.Errorf("%v, %v", changed, err)
	}
	for old, want := range map[string]string{"two": "2 times", "three": "0 times"} {
		if _, err := one("bad", "a.go", old, "").apply(root); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", old, err, want)
		}
	}
}
