package gateway_test

import (
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
)

func TestArgumentHeaders(t *testing.T) {
	const input = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"_c":{"$ref":"#/$defs/C"},"d":{"$ref":"#/$defs/C"},"n":{"type":"number"},` +
		`"nil":{"type":["string","null"]},"l":{"type":"array"},"own":{"type":"string","x-mcp-header":"Own"},"loop":{"$ref":"#/$defs/L"},"e":{}},` +
		`"$defs":{"C":{"type":"boolean"},"L":{"$ref":"#/$defs/L"}}}`
	for name, c := range map[string]struct {
		headers []tenon.ArgumentHeader
		marked  string
		wrong   string
	}{
		"several":                     {pairs("b", "B", "a", "A"), `"a":{"x-mcp-header":"A","type":"string"},"b":{"x-mcp-header":"B","type":"integer"}`, ""},
		"published under other names": {pairs("_c", "C"), `"c":{"type":"boolean","x-mcp-header":"C","description":`, ""},
		"by the published name":       {pairs("c", "C"), `"c":{"type":"boolean","x-mcp-header":"C","description":`, ""},
		"no such argument":            {pairs("A", "A"), "", "no such argument; there is a, b, c, d"},
		"a number":                    {pairs("n", "N"), "", "only string, integer and boolean"},
		"perhaps null":                {pairs("nil", "N"), "", "only string"},
		"a list":                      {pairs("l", "L"), "", "only string"},
		"no type":                     {pairs("e", "E"), "", "only string"},
		"a reference to itself":       {pairs("loop", "L"), "", "only string"},
		"twice":                       {pairs("a", "X", "b", "x"), `"a":{"x-mcp-header":"X"`, `it repeats "a"`},
		"taken by the description":    {pairs("a", "own"), "", `it repeats "own"`},
		"has one":                     {pairs("own", "Other"), "", "the argument has a header"},
	} {
		g := one(tenon.Tool{Contract: tenon.Contract{Input: []byte(input)}, ArgumentHeaders: c.headers}, answer(tenon.Response{}))
		e := g.Catalog().Tools()[0]
		got, _ := e.Schemas()
		if !strings.Contains(string(got), c.marked) || c.marked == "" && strings.Count(string(got), "x-mcp-header") != 1 {
			t.Errorf("%s: %s", name, got)
		}
		var told []string
		for _, d := range e.Diagnostics() {
			if d.Kind == tenon.DiagnosticHeader {
				told = append(told, d.Message)
			}
		}
		if all := strings.Join(told, "\n"); !strings.Contains(all, c.wrong) || (c.wrong == "") != (all == "") {
			t.Errorf("%s: %q", name, all)
		}
	}
}

func pairs(texts ...string) (all []tenon.ArgumentHeader) {
	for i := 0; i < len(texts); i += 2 {
		all = append(all, tenon.ArgumentHeader{Argument: texts[i], Header: texts[i+1]})
	}
	return all
}
