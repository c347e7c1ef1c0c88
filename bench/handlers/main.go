// Command handlers measures calls of a schema file's tool with a postRequest
// handler, upstream and all, beside the format's reference on Node: cold (from
// exec to the first answer) and warm, on answers of 10 KB and 1 MB, on one core
// and on two. Two callers at a time tell what a second core brings. Beside the
// time of a call stands the processor time of all processes of a side, which
// says the same on a machine that others use, too.
//
//	handlers REFERENCE OUT
//
// REFERENCE is a folder with flowmcp-core and its packages. It writes one JSON
// object to OUT and a line for people per figure. Both sides run as processes
// of their own, against one upstream, and take turns every few calls, so that
// what slows the machine slows both. A figure is the median over all turns, a
// ratio that of the ratios of turns that follow each other; beside it stand the
// quartiles. Each core count has several pairs of processes.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenon-mcp/tenon/flowmcp"
)

//go:embed Coins.mjs
var schemaFile []byte

//go:embed reference.mjs
var reference []byte

const (
	smallSize = 10_000
	largeSize = 1_000_000

	processes = 10 // pairs of them
	turns     = 8  // of each
)

// kinds are what is measured warm. Before its turns a process makes as many
// calls as in four of them.
func kinds() map[string]order {
	return map[string]order{
		"small": {Size: smallSize, Calls: 100, Callers: 1},
		"pair":  {Size: smallSize, Calls: 100, Callers: 2},
		"large": {Size: largeSize, Calls: 12, Callers: 1},
	}
}

func main() {
	worker := flowmcp.WorkerMain()
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == "tenon":
		err = ours(worker, os.Args[2], os.Args[3], os.Args[4] == "once")
	case len(os.Args) == 3:
		err = compare(os.Args[1], os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: handlers REFERENCE OUT")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "handlers:", err)
		os.Exit(1)
	}
}

func compare(core, out string) error {
	address, stop, err := upstream()
	if err != nil {
		return err
	}
	defer stop()
	dir, err := os.MkdirTemp("", "bench-handlers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, script := filepath.Join(dir, "Coins.mjs"), filepath.Join(dir, "reference.mjs")
	if err := os.WriteFile(file, schemaFile, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(script, reference, 0o600); err != nil {
		return err
	}
	if core, err = filepath.Abs(core); err != nil {
		return err
	}
	report := map[string]*match{} // by the number of cores
	for _, cores := range []string{"1", "2"} {
		pinned := []string{"taskset", "-c", map[string]string{"1": "0", "2": "0,1"}[cores]}
		m := &match{commands: [2][]string{
			append(slices.Clone(pinned), os.Args[0], "tenon", file, address),
			append(slices.Clone(pinned), "node", script, core, file, address),
		}}
		report[cores] = m
		for range processes {
			if err := m.round(); err != nil {
				return err
			}
		}
		m.sum()
		m.print(cores)
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o600)
}
