package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// firstPage is how many tools a client sees first.
const firstPage = 100

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
	// Only the tools count here: a document without a server is none the worse.
	offer, err := openapi.New(spec, openapi.Options{BaseURL: "https://api.example.com"}).Load(context.Background())
	if err != nil {
		r.Error = err.Error()
		return r
	}
	catalog := tenon.Build([]tenon.Named{{Name: "api", Offer: offer}}, tenon.BuildOptions{Describe: tenon.BuiltInOff})
	tools := catalog.Tools()[:len(offer.Tools)] // what tenon adds stands behind them
	for _, t := range tools[:min(len(tools), firstPage)] {
		t.Definition()
	}
	r.FirstPage = cpuSeconds() - began
	began = cpuSeconds()
	for _, t := range tools {
		t.Definition()
	}
	r.All = r.FirstPage + cpuSeconds() - began
	r.Opened, r.Tools = true, len(tools)
	for _, f := range offer.Faults {
		if strings.Contains(f.What, " is skipped: ") {
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
