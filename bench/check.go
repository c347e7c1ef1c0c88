// Command bench reads the reports of the last benchmark run and fails where
// one is under its budget.
//
//	bench OUTDIR
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// budget is one limit: a figure of one report, and what it must not exceed
// or, where atLeast is set, fall below.
type budget struct {
	report  string
	what    string
	limit   float64
	figure  func(map[string]any) (float64, bool)
	atLeast bool
	needs   string // what must be set for there to be a report; empty: nothing
}

func budgets() []budget {
	return []budget{
		atMost("startup-github.json", "exec to the first page of GitHub's tools, ms (fastest run)", 100, "firstPageMS", "Min"),
		atMost("startup-github.json", "peak memory of the whole process, MB", 80, "peakMB"),
		where("CORPUS", atMost("startup-graph.json", "exec to the first page of MS Graph beta's tools, ms (fastest run)", 250, "firstPageMS", "Min")),
		where("CORPUS", atMost("corpus.json", "processor time of the first pages of all public documents, s", 10, "firstPages")),
		where("CORPUS", atMost("corpus.json", "public documents that do not open", 0, "unopened")),
		where("CORPUS", atMost("corpus.json", "schemas of theirs that a foreign compiler refuses", 0, "refused")),
		where("CORPUS", atMost("corpus.json", "documents whose operations or arguments others count differently", 0, "differing")),
		atMost("index-github.json", "load and index of GitHub's document, ms (fastest run)", 30, "loadMS"),
		atMost("telemetry.json", "metrics, of a call, ns", 500, "metricsMoreNS"),
		atMost("telemetry.json", "metrics, allocations of a call", 0.01, "metricsMoreAllocs"),
		atMost("telemetry.json", "traces at 1 %, of a call, ns more", 400, "tracesMoreNS"),
		atMost("evidence.json", "evidence, of a call, ns", 250, "moreNS"),
		atMost("evidence.json", "evidence, allocations of a call", 0.01, "moreAllocs"),
		atMost("idle.json", "memory of its own, idle with a hundred tools, MB", 12, "ownMB"),
		atMost("limits.json", "p99 of fifteen callers beside one above its limit, to theirs alone (median of rounds)", 1.5, "rounds"),
		where("redis-server", budget{report: "replicas.json", what: "calls of two replicas on two cores, to one on one", limit: 1.7, figure: member("ratio"), atLeast: true}),
		where("redis-server", atMost("replicas.json", "round trips to the store, of a call that is counted", 1, "limit", "roundTrips")),
		where("redis-server", atMost("replicas.json", "round trips to the store, of a call that is confirmed", 2, "argument", "roundTrips")),
		ratio("an upstream's 200 B, to a bare handler", 0.8, "limit-small"),
		ratio("an upstream's 50 KB, to a bare handler", 0.8, "limit-big"),
		ratio("a function's 200 B, to a bare handler", 1, "floor-small"),
		ratio("a function's 1 KB both ways, to a bare handler", 0.9, "floor-echo"),
		ratio("a function's 50 KB, to a bare handler", 0.85, "floor-big"),
		ratio("a function's 200 B, to go-sdk", 6, "go-sdk-small"),
		ratio("a function's 200 B, to mcp-go", 2.5, "mcp-go-small"),
		ratio("a function's 1 KB both ways, to go-sdk", 4.5, "go-sdk-echo"),
		ratio("a function's 1 KB both ways, to mcp-go", 2.5, "mcp-go-echo"),
		ratio("a function's 50 KB, to go-sdk", 10, "go-sdk-big"),
		ratio("a function's 50 KB, to mcp-go", 6, "mcp-go-big"),
		atMost("functions.json", "a thousand functions to register, ms (fastest run)", 100, "registerThousandMS"),
		atMost("functions.json", "a function's call with 1 KB both ways, to encoding/json alone", 1.5, "small", "ratio"),
		atMost("functions.json", "a function's call with 50 KB both ways, to encoding/json alone", 1.5, "big", "ratio"),
		atMost("functions.json", "allocations more than encoding/json, 1 KB", 16, "small", "moreAllocs"),
		atMost("functions.json", "allocations more than encoding/json, 50 KB", 16, "big", "moreAllocs"),
		atMost("host.json", "a function app's call with 1 KB, more than its worker alone, µs (median)", 150, "more_us"),
		atMost("contract.json", "processor of a call with 50 KB under enforce, to policy off", 1.25, "ratio"),
		atMost("contract.json", "the same with a projection, whose part is validated, too", 1.25, "selectRatio"),
		atMost("contract.json", "what cutting 10 MB allocates, to its size", 2, "cutAllocated"),
		handlers("2", "processor of a schema file's call with handlers, 10 KB, to the format's reference", 0.75, "smallCPU"),
		handlers("1", "time of such a call with 1 MB, to the reference, on one core", 1, "large"),
		handlers("2", "the same on two, where the reference compiles beside the calls", 1, "large"),
		handlers("2", "its processor time", 1.25, "largeCPU"),
		handlers("2", "a cold call of such a file, to the reference", 0.25, "cold"),
		handlers("2", "memory of all processes for them, to the reference", 0.6, "memory"),
		ratio("stdio, 200 B, to a bare loop", 0.75, "stdio-floor-small"),
	}
}

func atMost(report, what string, limit float64, path ...string) budget {
	return budget{report: report, what: what, limit: limit, figure: member(path...)}
}

// handlers is a limit for so many cores beside the format's reference.
func handlers(cores, what string, limit float64, figure string) budget {
	return where("REFERENCE", atMost("handlers.json", what, limit, cores, "ratio", figure))
}

// where is a budget whose report is only written where something is set.
func where(needs string, b budget) budget {
	b.needs = needs
	return b
}

// ratio is a limit of processor time: how many calls are made of the time of
// one call of the other server. It is the median of the rounds, at the number
// of clients where it is worst. docs/decisions/0058 tells why these figures.
func ratio(what string, limit float64, key string) budget {
	return budget{report: "calls.json", what: "calls of the same time, " + what, limit: limit, figure: member("leastCPU", key), atLeast: true}
}

func (b budget) broken(got float64) bool {
	if b.atLeast {
		return got < b.limit
	}
	return got > b.limit
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
		case b.needs != "" && errors.Is(err, fs.ErrNotExist):
			fmt.Printf("LEFT OUT %s: %s was not set\n", b.what, b.needs)
		case err != nil:
			fmt.Printf("MISSING  %s: %v\n", b.what, err)
			failed = true
		case b.broken(got):
			fmt.Printf("BROKEN   %s: %.2f, budget %.2f\n", b.what, got, b.limit)
			failed = true
		default:
			fmt.Printf("ok       %s: %.2f, budget %.2f\n", b.what, got, b.limit)
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
