package flowmcp

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// maxMeant is the most names in the question what may have been meant.
const maxMeant = 3

// unmatched tells the names in the options that stand for nothing in the files:
// whoever wrote one believes that something is allowed, or guarded, that is not.
func (b *offerer) unmatched(files []*file) {
	named, libraries := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		named[f.namespace] = true
		for _, t := range f.routes {
			of, _, _ := strings.Cut(t.id(), "::")
			named[of], named[t.id()] = true, true
		}
		named[f.namespace+"/"+strings.TrimSuffix(filepath.Base(f.path), ".mjs")] = true
		for _, name := range f.wanted() {
			libraries[name] = true
		}
	}
	wholes := maps.Clone(named)
	maps.DeleteFunc(wholes, func(name string, _ bool) bool { return strings.Contains(name, "::") })
	o := b.options
	for _, option := range []struct {
		flag  string
		given []string
		known map[string]bool
		what  string
	}{
		{"--handler-reads", o.HandlerReads, named, "no tool, file or namespace is called so"},
		{"--handler-writes", o.HandlerWrites, named, "no tool, file or namespace is called so"},
		{"--handler-secrets", o.HandlerSecrets, wholes, "no file or namespace is called so"},
		{"--allow-library", o.Libraries, libraries, "no file needs such a library"},
	} {
		for _, name := range option.given {
			if option.known[name] {
				continue
			}
			do := ""
			if near := suggest.Near(name, slices.Sorted(maps.Keys(option.known)), maxMeant); near != nil {
				do = "did you mean " + strings.Join(near, ", ") + "?"
			}
			b.offer.Diagnostics = append(b.offer.Diagnostics, tenon.Diagnostic{File: b.spec, Message: option.flag + " " + name + ": " + option.what, Hint: do, Kind: tenon.DiagnosticSelector})
		}
	}
}
