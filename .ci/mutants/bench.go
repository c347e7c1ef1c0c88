package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// most is how long a test may take; one that a change makes wait for ever has
// noticed it.
const most = 2 * time.Minute

// bench builds mutants and runs their tests.
type bench struct {
	folder  string // for what it builds
	verbose bool
	until   time.Time // when no more are begun; zero: never

	mu      sync.Mutex
	noticed int
	failed  int
}

// run runs the mutants, so many at a time, those of one package after each other:
// they share what the build cache has.
func (b *bench) run(ctx context.Context, all []*mutant, workers int) {
	byPackage := map[string][]*mutant{}
	var packages []string
	for _, m := range all {
		if byPackage[m.pkg] == nil {
			packages = append(packages, m.pkg)
		}
		byPackage[m.pkg] = append(byPackage[m.pkg], m)
	}
	slices.Sort(packages)
	jobs := make(chan func())
	var pool sync.WaitGroup
	for range workers {
		pool.Go(func() {
			for job := range jobs {
				job()
			}
		})
	}
	serial := 0
	for _, pkg := range packages {
		sound := sync.OnceValue(func() string { return b.unchanged(ctx, byPackage[pkg]) })
		for _, m := range byPackage[pkg] {
			name := fmt.Sprint("m", serial)
			serial++
			jobs <- func() {
				if ctx.Err() == nil && (b.until.IsZero() || time.Now().Before(b.until)) {
					b.try(ctx, m, name, sound)
				}
			}
		}
	}
	close(jobs)
	pool.Wait()
}

// try reports what becomes of one mutant. sound says what is wrong with the tests
// of its package without any change.
func (b *bench) try(ctx context.Context, m *mutant, name string, sound func() string) {
	began := time.Now()
	problem := sound()
	if problem == "" {
		problem = b.survives(ctx, m, name)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if problem == "" {
		b.noticed++
		if b.verbose {
			fmt.Printf("noticed: %s, %d s\n", m, int(time.Since(began).Seconds()))
		}
		return
	}
	b.failed++
	fmt.Printf("%s: %s\n", m, problem)
}

// survives builds a mutant and runs its test; empty: the test noticed.
func (b *bench) survives(ctx context.Context, m *mutant, name string) (problem string) {
	changed, overlay := filepath.Join(b.folder, name+".go"), filepath.Join(b.folder, name+".json")
	original, err := filepath.Abs(m.file)
	if err != nil {
		return err.Error()
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return err.Error()
	}
	if err := os.WriteFile(changed, []byte(m.changed), 0o600); err != nil {
		return err.Error()
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return err.Error()
	}
	binary := filepath.Join(b.folder, name)
	defer func() { _ = os.Remove(binary) }()
	if out, err := build(ctx, m.pkg, binary, "-overlay", overlay); err != nil {
		return "DOES NOT COMPILE: " + out
	}
	out, err := runTests(ctx, m.pkg, binary, m.pattern())
	switch {
	case err != nil:
		return ""
	case strings.Contains(out, "no tests to run"):
		return "HAS NO TEST: " + m.pkg + " " + m.test
	}
	return "SURVIVES " + m.pkg + " " + m.test + ": " + m.before + " -> " + m.after
}

// unchanged says what is wrong with the tests of mutants of one package where
// nothing is changed: a test that fails anyway notices nothing.
func (b *bench) unchanged(ctx context.Context, all []*mutant) (problem string) {
	var tests []string
	for _, m := range all {
		if !slices.Contains(tests, m.pattern()) {
			tests = append(tests, m.pattern())
		}
	}
	binary := filepath.Join(b.folder, "unchanged-"+strings.NewReplacer("/", "-", ".", "").Replace(all[0].pkg))
	defer func() { _ = os.Remove(binary) }()
	if out, err := build(ctx, all[0].pkg, binary); err != nil {
		return "DOES NOT COMPILE UNCHANGED: " + out
	}
	if out, err := runTests(ctx, all[0].pkg, binary, strings.Join(tests, "|")); err != nil {
		return "FAILS UNCHANGED: " + out
	}
	return ""
}

func build(ctx context.Context, pkg, binary string, flags ...string) (out string, err error) {
	args := append([]string{"test", "-c", "-ldflags=-s -w", "-o", binary}, flags...)
	all, err := exec.CommandContext(ctx, "go", append(args, pkg)...).CombinedOutput()
	return string(all), err
}

func runTests(ctx context.Context, pkg, binary, pattern string) (out string, err error) {
	args := []string{"-test.run", pattern, "-test.failfast", "-test.timeout", most.String()}
	if drawsValues(pkg) { // the same in each run, and what fails leaves no file in the tree
		args = append(args, "-rapid.seed=1", "-rapid.nofailfile")
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = pkg
	all, err := cmd.CombinedOutput()
	const end = 3000
	return string(all[max(0, len(all)-end):]), err
}

// drawsValues reports whether tests of a package use rapid.
func drawsValues(pkg string) bool {
	files, _ := filepath.Glob(filepath.Join(pkg, "*_test.go")) // the pattern is sound
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), `"pgregory.net/rapid"`) {
			return true
		}
	}
	return false
}
