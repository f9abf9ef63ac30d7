package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutant is one planted bug.
type mutant struct {
	name  string
	edits []edit
}

// edit replaces text that occurs exactly once in a file of lockkit.
type edit struct{ file, old, replacement string }

// apply returns the changed text of each file that the mutant touches, by its
// path below the module's root.
func (m mutant) apply(root string) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range m.edits {
		path := "lockkit/" + e.file
		text, there := changed[path]
		if !there {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
			if err != nil {
				return nil, fmt.Errorf("mutant %q: %w", m.name, err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("mutant %q: its text occurs %d times in %s, expected once: the code has changed, plant the bug anew:\n%s", m.name, n, path, e.old)
		}
		changed[path] = strings.Replace(text, e.old, e.replacement, 1)
	}
	return changed, nil
}

// one is a mutant of a single edit.
func one(name, file, old, replacement string) mutant {
	return mutant{name, []edit{{file, old, replacement}}}
}

func mutants() []mutant { return append(holderMutants(), contenderMutants()...) }
