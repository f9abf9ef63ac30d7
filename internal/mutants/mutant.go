package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one planted bug.
type mutant struct {
	name  string
	edits []edit
}

// tests is the package whose simulation must find the bug: that of the file.
func (m mutant) tests() string {
	return "./" + path.Dir("lockkit/"+m.edits[0].file)
}

// edit replaces text that occurs exactly once in a file of lockkit, or of a
// package below it.
type edit struct{ file, old, replacement string }

// apply returns the changed text of each file that the mutant touches, by its
// path below the module's root.
func (m mutant) apply(root string) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range m.edits {
		file := "lockkit/" + e.file
		text, there := changed[file]
		if !there {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if err != nil {
				return nil, fmt.Errorf("mutant %q: %w", m.name, err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("mutant %q: its text occurs %d times in %s, expected once: the code has changed, plant the bug anew:\n%s", m.name, n, file, e.old)
		}
		changed[file] = strings.Replace(text, e.old, e.replacement, 1)
	}
	return changed, nil
}

// one is a mutant of a single edit.
func one(name, file, old, replacement string) mutant {
	return mutant{name, []edit{{file, old, replacement}}}
}

func mutants() []mutant {
	return slices.Concat(holderMutants(), contenderMutants(), jobMutants())
}
