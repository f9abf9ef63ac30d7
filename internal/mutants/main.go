package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func start() error {
	worlds := flag.Int("worlds", 10000, "how many worlds a mutant may survive before it counts as missed")
	only := flag.String("only", "", "run only the mutants whose package and name contain this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return run(ctx, os.Stdout, *worlds, *only)
}

// run tries the mutants and prints a line for each.
func run(ctx context.Context, out io.Writer, worlds int, only string) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is temporary anyway
	s := simulation{root: root, dir: dir, worlds: worlds}
	sound := map[string]bool{} // packages whose simulation passes as they are
	caught, all := 0, 0
	var missed []error
	for _, m := range mutants() {
		if !strings.Contains(m.tests()+" "+m.name, only) {
			continue
		}
		all++
		if !sound[m.tests()] {
			if r := s.run(ctx, m.tests(), nil); r.err != nil || r.broke != "" {
				return fmt.Errorf("without any mutant the simulation in %s must pass: %s%w", m.tests(), r.broke, errors.Join(r.err, r.output()))
			}
			sound[m.tests()] = true
		}
		began := time.Now()
		changed, err := m.apply(root)
		if err != nil {
			return err // the table is out of date: nothing that follows would mean anything
		}
		r := s.run(ctx, m.tests(), changed)
		switch {
		case r.err != nil:
			missed = append(missed, fmt.Errorf("%s: %w", m.name, errors.Join(r.err, r.output())))
			fmt.Fprintf(out, "ERROR   %-64s %v\n", m.name, r.err)
		case r.broke == "":
			missed = append(missed, fmt.Errorf("%s: survived %d worlds", m.name, worlds))
			fmt.Fprintf(out, "MISSED  %-64s after %d worlds\n", m.name, worlds)
		default:
			caught++
			fmt.Fprintf(out, "caught  %-64s by %q after %s worlds, %s\n", m.name, r.broke, r.after, time.Since(began).Round(time.Second))
		}
	}
	fmt.Fprintf(out, "caught %d of %d mutants\n", caught, all)
	return errors.Join(missed...)
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// simulation runs the simulation of a package against changed code.
type simulation struct {
	root, dir string
	worlds    int
}

// result is how a run of the simulation ended.
type result struct {
	broke string // the invariant that failed, "" for none
	after string // worlds that passed before
	err   error  // it did not run to an end at all
	text  []byte
}

// output is the last part of what the run printed, as an error.
func (r result) output() error {
	if len(r.text) == 0 {
		return nil
	}
	return errors.New(string(r.text[max(0, len(r.text)-2000):]))
}

var (
	broken = regexp.MustCompile(`broken: ([^)\n]+)`)
	passed = regexp.MustCompile(`(?:after|OK, passed) (\d+) tests`)
)

func (s simulation) run(ctx context.Context, tests string, changed map[string]string) result {
	overlay, err := s.overlay(changed)
	if err != nil {
		return result{err: err}
	}
	worlds := s.worlds
	if changed == nil {
		worlds = 100
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-run", "^TestSimulation$", "-count=1", "-timeout=30m", tests,
		"-rapid.checks="+strconv.Itoa(worlds), "-rapid.nofailfile", "-rapid.shrinktime=0s")
	cmd.Dir = s.root
	text, err := cmd.CombinedOutput()
	r := result{text: text}
	if m := broken.FindSubmatch(text); m != nil {
		r.broke = string(m[1])
	}
	if m := passed.FindSubmatch(text); m != nil {
		r.after = string(m[1])
	}
	if err != nil && r.broke == "" {
		r.err = fmt.Errorf("the simulation did not run: %w", err)
	}
	return r
}

// overlay writes the changed files and the file that tells the go command to
// read them instead.
func (s simulation) overlay(changed map[string]string) (string, error) {
	replace := map[string]string{}
	for file, text := range changed {
		path := filepath.Join(s.dir, filepath.Base(file))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(s.root, file)] = path
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}
