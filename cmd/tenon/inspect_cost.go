package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/clients"
)

// saving is what a setting would take from a list.
type saving struct {
	Flag  string `json:"flag"`
	Tools int    `json:"tool_count"` // whose schemas get smaller
	Bytes int    `json:"bytes"`      // at least
}

// smallerSchemas are the values of --max-output-schema whose effect is told, in bytes.
func smallerSchemas() []int { return []int{8192, 4096, 2048} }

// addCosts adds what the parts of a tool's schemas cost.
func (in *inspection) addCosts(w *weight, t *gateway.Tool, input, output []byte) {
	costs := clients.CostOf(input, "")
	w.InputCosts = &costs
	in.InputCosts.Add(&costs)
	if output == nil {
		return
	}
	within, data := "", []byte(nil)
	if d, err := t.Declared(); err == nil && !t.BuiltIn() {
		within, data = d.Within, d.Data
	}
	costs = clients.CostOf(output, within)
	w.OutputCosts = &costs
	in.OutputCosts.Add(&costs)
	if t.Tool().Fixed || t.BuiltIn() {
		return
	}
	for i, most := range smallerSchemas() {
		in.Savings[i].count(len(data) - most)
	}
	in.Savings[len(in.Savings)-1].count(len(output))
}

// noSavings are the settings whose effect is told.
func noSavings() (all []saving) {
	for _, most := range smallerSchemas() {
		all = append(all, saving{Flag: fmt.Sprintf("--max-output-schema %d", most)})
	}
	return append(all, saving{Flag: "--output-schemas off"})
}

// count counts a tool whose schema has so many bytes less.
func (s *saving) count(bytes int) {
	if bytes > 0 {
		s.Tools++
		s.Bytes += bytes
	}
}

// printCosts prints what schemas weigh by what is in them, and what settings save.
func (in *inspection) printCosts(w io.Writer) {
	whole := in.OutputCosts.Sum()
	fmt.Fprint(w, "\nSCHEMAS\tINPUT\tTOKENS\tOUTPUT\tTOKENS\tOF OUTPUT\n")
	line := func(name string, input, output clients.Cost) {
		part := "-"
		if whole.Bytes > 0 {
			part = share(int64(output.Bytes), int64(whole.Bytes))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", name, size(input.Bytes), roughly(input.Tokens), size(output.Bytes), roughly(output.Tokens), part)
	}
	input := in.InputCosts.Parts()
	for i, p := range in.OutputCosts.Parts() {
		if p.Cost.Bytes+input[i].Cost.Bytes > 0 {
			line(p.Name, input[i].Cost, p.Cost)
		}
	}
	line("all", in.InputCosts.Sum(), whole)
	line("  of it in definitions", in.InputCosts.Definitions, in.OutputCosts.Definitions)
	if whole.Bytes == 0 {
		return
	}
	fmt.Fprint(w, "\nWOULD SAVE\tTOOLS\tBYTES\n")
	for _, s := range in.Savings {
		if s.Tools > 0 {
			fmt.Fprintf(w, "%s\t%d\tat least %s\n", s.Flag, s.Tools, size(s.Bytes))
		}
	}
}

// largest names the two parts that cost most.
func largest(c *clients.SchemaCosts) string {
	if c == nil {
		return "-"
	}
	parts, whole := c.Parts(), c.Sum()
	slices.SortStableFunc(parts, func(a, b clients.Part) int { return cmp.Compare(b.Cost.Bytes, a.Cost.Bytes) })
	var text []string
	for _, p := range parts[:2] {
		if p.Cost.Bytes > 0 {
			text = append(text, p.Name+" "+share(int64(p.Cost.Bytes), int64(whole.Bytes)))
		}
	}
	return strings.Join(text, ", ")
}
