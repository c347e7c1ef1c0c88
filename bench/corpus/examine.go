package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

// firstPage is how many tools a client sees first.
const firstPage = 100

// open opens a document and renders its first page.
func open(spec string) (tenon.Features, []*gateway.Tool, error) {
	// Only the tools count here: a document without a server is none the worse.
	offer, err := openapi.New(spec, openapi.Options{BaseURL: "https://api.example.com"}).Load(context.Background())
	if err != nil {
		return tenon.Features{}, nil, err
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "api", Features: offer}}, gateway.BuildOptions{Describe: gateway.ToggleOff})
	tools := catalog.Tools()[:len(offer.Tools)] // what tenon adds stands behind them
	for _, t := range tools[:min(len(tools), firstPage)] {
		t.Definition()
	}
	return offer, tools, nil
}

// smallHeap is GOGC of a server whose heap is small.
const smallHeap = 400

// firstPages is the CPU time that the first pages of all documents take, in
// seconds, before anything else has filled the memory. Of each document the
// quickest of a few counts: on a busy machine the same work takes longer.
// Garbage is collected as rarely as by tenon serve, which lets a small heap
// grow: most documents are small.
func firstPages(dir string, names []string) float64 {
	const rounds = 3
	all := 0.0
	before := debug.SetGCPercent(smallHeap)
	defer debug.SetGCPercent(before)
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		percent := smallHeap
		if info, err := os.Stat(file); err != nil || info.Size() > 1<<20 {
			percent = 100
		}
		debug.SetGCPercent(percent)
		least := math.Inf(1)
		for range rounds {
			began := cpuSeconds()
			_, _, _ = open(file) // what does not open is told later
			least = min(least, cpuSeconds()-began)
		}
		all += least
	}
	return all
}

// examine works one document through.
func examine(dir, name string, v *validators) (r row) {
	r.Name = name
	defer func() {
		if p := recover(); p != nil {
			r.Opened, r.Error = false, fmt.Sprint("panic: ", p)
		}
	}()
	spec := filepath.Join(dir, filepath.FromSlash(name))
	began := cpuSeconds()
	offer, tools, err := open(spec)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	for _, t := range tools {
		t.Definition()
	}
	r.All = cpuSeconds() - began
	r.Opened, r.Tools = true, len(tools)
	for _, f := range offer.Diagnostics {
		if strings.Contains(f.Message, " is skipped: ") {
			r.Skipped++
		}
	}
	for _, t := range tools {
		input, output := t.Schemas()
		for _, doc := range [][]byte{input, output} {
			if doc == nil {
				continue
			}
			r.Schemas++
			fresh, bad := v.check(doc)
			if fresh {
				r.Distinct++
			}
			if bad != "" && len(r.Bad) < 5 {
				r.Bad = append(r.Bad, t.Name()+": "+bad)
			}
		}
	}
	compare(&r, spec, offer.Tools)
	return r
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
