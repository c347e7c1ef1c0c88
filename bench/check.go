// Command bench reads the reports of the last benchmark run and fails where
// one is under its budget.
//
//	bench OUTDIR
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// budget is one promise: a figure of one report, and what it must not exceed.
type budget struct {
	report string
	what   string
	most   float64
	figure func(map[string]any) (float64, bool)
}

func budgets() []budget {
	return []budget{
		{"startup-github.json", "exec to the first page of GitHub's tools, ms (fastest run)", 100, member("firstPageMS", "Min")},
		{"startup-github.json", "peak memory of the whole process, MB", 80, member("peakMB")},
		{"index-github.json", "load and index of GitHub's document, ms (fastest run)", 30, member("loadMS")},
	}
}

// member reads a number at a path of members.
func member(path ...string) func(map[string]any) (float64, bool) {
	return func(report map[string]any) (float64, bool) {
		var v any = report
		for _, name := range path {
			m, ok := v.(map[string]any)
			if !ok {
				return 0, false
			}
			v = m[name]
		}
		f, ok := v.(float64)
		return f, ok
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bench OUTDIR")
		os.Exit(2)
	}
	failed := false
	for _, b := range budgets() {
		got, err := read(filepath.Join(os.Args[1], b.report), b.figure)
		switch {
		case err != nil:
			fmt.Printf("MISSING  %s: %v\n", b.what, err)
			failed = true
		case got > b.most:
			fmt.Printf("OVER     %s: %.1f, budget %.1f\n", b.what, got, b.most)
			failed = true
		default:
			fmt.Printf("ok       %s: %.1f, budget %.1f\n", b.what, got, b.most)
		}
	}
	if failed {
		os.Exit(1)
	}
}

func read(file string, figure func(map[string]any) (float64, bool)) (float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var report map[string]any
	if err := json.Unmarshal(text, &report); err != nil {
		return 0, err
	}
	if f, ok := figure(report); ok {
		return f, nil
	}
	return 0, fmt.Errorf("%s has no such figure", file)
}
