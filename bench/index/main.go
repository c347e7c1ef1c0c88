// Command index measures how long tenon takes to load and index a document —
// parse it, find every operation, name every tool — and what that allocates,
// beside the floor: checking in the same process that the bytes are JSON.
//
//	index DOCUMENT OUT
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/tenon-mcp/tenon/openapi"
)

const rounds = 15

// report is what OUT holds. Times are milliseconds.
type report struct {
	Document    string  `json:"document"`
	Tools       int     `json:"tools"`
	LoadMS      float64 `json:"loadMS"`
	FloorMS     float64 `json:"floorMS"`
	Ratio       float64 `json:"ratio"`
	Allocations uint64  `json:"allocations"`
	AllocatedMB float64 `json:"allocatedMB"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: index DOCUMENT OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "index:", err)
		os.Exit(1)
	}
}

func run(document, out string) error {
	doc, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	r := report{Document: document, LoadMS: 1e9, FloorMS: 1e9}
	for range rounds {
		began := time.Now()
		if !json.Valid(doc) {
			return fmt.Errorf("%s is no JSON", document)
		}
		r.FloorMS = min(r.FloorMS, ms(time.Since(began)))
		if err := r.load(document, doc); err != nil {
			return err
		}
	}
	r.Ratio = r.LoadMS / r.FloorMS
	fmt.Printf("load and index: %d tools in %.1f ms; json.Valid alone %.1f ms, ratio %.2f; %d allocations, %.1f MB\n",
		r.Tools, r.LoadMS, r.FloorMS, r.Ratio, r.Allocations, r.AllocatedMB)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func (r *report) load(name string, doc []byte) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	offer, err := openapi.Parse(name, doc, openapi.Options{})
	if err != nil {
		return err
	}
	r.LoadMS = min(r.LoadMS, ms(time.Since(began)))
	runtime.ReadMemStats(&after)
	r.Tools = len(offer.Tools)
	r.Allocations = after.Mallocs - before.Mallocs
	r.AllocatedMB = float64(after.TotalAlloc-before.TotalAlloc) / 1e6
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
