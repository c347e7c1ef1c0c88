package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/typedecl"
)

// coverage is how much of its data a tool describes, in places for values.
type coverage struct {
	Exact  int      `json:"exact_count"`     // with a type
	Record int      `json:"record_count"`    // maps, whose values have a type
	Blob   int      `json:"blob_count"`      // of which nothing is said
	Blobs  []string `json:"blobs,omitempty"` // the first of them; not of all tools together
}

func (c *coverage) sites() int { return c.Exact + c.Record + c.Blob }

// addCoverage adds that of the tools of a catalog. published: what was added before,
// of the same tools with schemas within bounds.
func (in *inspection) addCoverage(c *gateway.Catalog, published *coverage) {
	set := typedecl.NewSet(false)
	var names []string
	for _, t := range c.Tools() {
		if t.BuiltIn() {
			continue
		}
		d, err := t.Declared()
		if err != nil {
			d.Data = nil
		}
		names = append(names, t.Name())
		set.Add(typedecl.Tool{Name: t.Name(), Data: d.Data})
	}
	all, of := &coverage{}, make(map[string]*coverage, len(names))
	for i, one := range set.Coverage() {
		of[names[i]] = &coverage{one.Exact, one.Record, one.Blob, one.Blobs}
		all.Exact += one.Exact
		all.Record += one.Record
		all.Blob += one.Blob
	}
	if in.Coverage = all; published != nil && published.Blob != all.Blob {
		in.Published = published
	}
	for i := range in.Heaviest {
		in.Heaviest[i].Coverage = of[in.Heaviest[i].Tool]
	}
}

// printCoverage prints the coverage of all tools, and those with the most blobs.
func (in *inspection) printCoverage(w io.Writer, top int) {
	if in.Coverage.sites() == 0 {
		return
	}
	fmt.Fprint(w, "\nCOVERAGE\tPLACES\tEXACT\tRECORD\tBLOB\n")
	line := func(name string, c *coverage) {
		share := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(c.sites())) }
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", name, c.sites(), share(c.Exact), share(c.Record), share(c.Blob))
	}
	line("responses", in.Coverage)
	if in.Published != nil {
		line("  as published, within --max-output-schema", in.Published)
	}
	open := slices.DeleteFunc(slices.Clone(in.Heaviest), func(w weight) bool { return w.Coverage == nil || w.Coverage.Blob == 0 })
	slices.SortStableFunc(open, func(a, b weight) int { return b.Coverage.Blob - a.Coverage.Blob })
	if open = open[:min(max(top, 0), len(open))]; len(open) == 0 {
		return
	}
	fmt.Fprint(w, "\nMOST BLOBS\tPLACES\tBLOBS\tONE OF THEM\n")
	for _, t := range open {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", t.Tool, t.Coverage.sites(), t.Coverage.Blob, onlyPrinting(t.Coverage.Blobs[0]))
	}
	fmt.Fprintln(w, "'tenon lint' names what lowers the coverage of an OpenAPI document")
}
