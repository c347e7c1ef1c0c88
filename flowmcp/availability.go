package flowmcp

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// Availability reports whether one tool of a schema file was served by the last
// load.
type Availability struct {
	File   string `json:"file"`
	ID     string `json:"id"`   // qualified name
	Name   string `json:"name"` // for clients; where the tool is not served, the name it would have
	Served bool   `json:"served"`
	Needs  []Need `json:"needs,omitempty"` // reasons why it is not served
}

// Reason returns the reason why the tool is not served and a hint what to do; both
// are empty where it is served.
func (s Availability) Reason() (why, do string) {
	var whys, dos []string
	keys := Need{Kind: NeedKey} // are told together
	for _, n := range s.Needs {
		whys = append(whys, n.String())
		switch d := n.Hint(); {
		case n.Kind == NeedKey && keys.Name == "":
			keys.Name = n.Name
		case n.Kind == NeedKey:
			keys.Name += " and " + n.Name
		case d != "":
			dos = append(dos, d)
		}
	}
	if keys.Name != "" {
		dos = append(dos, keys.Hint())
	}
	return strings.Join(whys, ", "), strings.Join(dos, ", ")
}

// Need is one missing condition that keeps a tool from being served.
type Need struct {
	Kind NeedKind `json:"kind"`
	Name string   `json:"name,omitempty"`
}

// NeedKind is the kind of a Need.
type NeedKind string

// The kinds of needs. An operator can provide the first five.
const (
	NeedKey        NeedKind = "key"        // a server parameter
	NeedLibrary    NeedKind = "library"    // a package that is not bundled
	NeedPermission NeedKind = "permission" // permission for a library that is not on the allow-list
	NeedList       NeedKind = "list"       // a shared list
	NeedData       NeedKind = "data"       // a database or a text
	NeedNative     NeedKind = "native"     // a library that is compiled code
	NeedWorkers    NeedKind = "workers"    // a command that starts workers for handlers
	NeedRepair     NeedKind = "repair"     // the file has errors
	NeedSelection  NeedKind = "selection"  // the selection does not name the tool
)

func (n Need) String() string {
	switch n.Kind { //nolint:exhaustive // the others say nothing more
	case NeedKey:
		return n.Name + " is not set"
	case NeedLibrary:
		return n.Name + " is not bundled"
	case NeedPermission:
		return "the library " + n.Name + " is not allowed"
	case NeedList:
		return "the shared list " + n.Name + " cannot be read"
	case NeedNative:
		return n.Name + " is native code, which cannot be run"
	case NeedWorkers:
		return "there are no workers for its handlers"
	case NeedRepair:
		return "it has errors"
	case NeedSelection:
		return "it was not selected"
	}
	return n.Name
}

// Hint returns a hint how to provide it, or "" where an operator cannot.
func (n Need) Hint() string {
	switch n.Kind { //nolint:exhaustive // the others say nothing more
	case NeedKey:
		return "set " + n.Name + " in the environment"
	case NeedLibrary:
		return "tenon flowmcp libs add " + n.Name
	case NeedPermission:
		return "--allow-library " + n.Name
	case NeedList:
		return "--lists-dir names the folder of " + n.Name
	case NeedData:
		return "provide its data"
	case NeedRepair:
		return "see 'tenon flowmcp check'"
	}
	return ""
}

// ByOperator reports whether an operator can provide it.
func (n Need) ByOperator() bool {
	switch n.Kind { //nolint:exhaustive // the others say nothing more
	case NeedKey, NeedLibrary, NeedPermission, NeedList, NeedData:
		return true
	}
	return false
}

// Availability returns the availability of every tool at the last Load, in the
// order of the files.
func (s *Source) Availability() []Availability {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.availability)
}

// ServerParams returns the names of the server parameters that the files of the
// last Load require, set or not, sorted.
func (s *Source) ServerParams() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.params)))
}

// fileNeeds returns the needs of every tool of a file.
func (b *builder) fileNeeds(f *format.File) []Need {
	var all []Need
	if f.Failed && (f.Invalid || f.BlockedLibraries == nil) {
		all = append(all, Need{Kind: NeedRepair})
	}
	for _, name := range f.BlockedLibraries {
		all = append(all, Need{NeedPermission, name})
	}
	for _, name := range f.Main.Get("requiredServerParams").Strings() {
		if _, ok := b.options.Env(name); !ok {
			all = append(all, Need{NeedKey, name})
		}
	}
	return all
}

// toolNeeds returns the needs of one tool beyond those of its file: handlers is its
// member of the factory's object, and handled reports whether it runs one.
func (b *builder) toolNeeds(f *format.File, handlers string, handled, broken bool) []Need {
	var all []Need
	if broken {
		all = append(all, Need{Kind: NeedRepair})
	}
	if !handled {
		return all
	}
	if b.options.Worker == nil {
		all = append(all, Need{Kind: NeedWorkers})
	}
	for _, ref := range slices.Sorted(maps.Keys(f.Lists)) {
		if f.Lists[ref] == nil && f.Handlers.Names[ref] {
			all = append(all, Need{NeedList, ref})
		}
	}
	for _, name := range f.Handlers.Libraries[handlers] {
		switch _, bundled := b.library.Get(name); {
		case bundled || slices.Contains(format.BuiltIn(), name):
		case format.IsNative(name):
			all = append(all, Need{NeedNative, name})
		default:
			all = append(all, Need{NeedLibrary, name})
		}
	}
	return all
}

// addAvailability records the availability of a tool and its test cases.
func (b *builder) addAvailability(t *format.Tool, name string, needs []Need) {
	s := Availability{File: t.File.Path, ID: t.ID(), Name: name, Served: needs == nil, Needs: needs}
	b.availability = append(b.availability, s)
	why, do := s.Reason()
	if do != "" {
		why += " (" + do + ")"
	}
	for _, c := range testCases(t, name) {
		c.Reason = why
		b.cases = append(b.cases, c)
	}
}

// addUnserved records every tool of a file that is not served.
func (b *builder) addUnserved(f *format.File, more []Need) {
	for _, t := range f.Tools {
		b.addAvailability(t, format.WireName(t.Name, f.Namespace), append(slices.Clone(more), b.toolNeeds(f, t.Name, t.Handled, t.Broken)...))
	}
	for _, r := range f.Resources {
		b.addUnservedResource(r, more)
	}
}

func (b *builder) addUnservedResource(r *format.Resource, more []Need) {
	f := r.File
	needs := append(slices.Clone(more), b.toolNeeds(f, r.Name, f.Handlers.Needs(r.Name), r.Broken)...)
	if len(needs) == 0 || r.Hidden {
		return
	}
	if r.Source == "markdown" {
		b.availability = append(b.availability, Availability{File: f.Path, ID: r.ID(), Name: tenon.ToolName(r.Name + "_" + f.Namespace), Needs: needs})
	}
	for _, q := range r.Queries {
		if q.Hidden {
			continue
		}
		b.addAvailability(q.Tool, tenon.ToolName(q.Key+"_"+f.Namespace), needs)
	}
}

// selectTools drops the tools of a file that the operator excluded and hides those of
// its resources, which handlers may still query. It reports whether any tool is
// left.
func (b *builder) selectTools(f *format.File) bool {
	if b.options.Selects == nil || len(f.Tools)+len(f.Resources) == 0 {
		return true
	}
	left := func(id, name string) {
		b.availability = append(b.availability, Availability{File: f.Path, ID: id, Name: name, Needs: []Need{{Kind: NeedSelection}}})
	}
	f.Tools = slices.DeleteFunc(f.Tools, func(t *format.Tool) bool {
		if b.selects((tool{Tool: t}).labels()) {
			return false
		}
		left(t.ID(), format.WireName(t.Name, f.Namespace))
		return true
	})
	wanted := len(f.Tools)
	for _, r := range f.Resources {
		takes := func(id, name string) bool {
			if b.selects(labels(f, "resource", r.Name, id, name)) {
				wanted++
				return true
			}
			left(id, name)
			return false
		}
		if r.Source == "markdown" {
			r.Hidden = !takes(r.ID(), tenon.ToolName(r.Name+"_"+f.Namespace))
		}
		for _, q := range r.Queries {
			q.Hidden = !takes(q.ID(), tenon.ToolName(q.Key+"_"+f.Namespace))
		}
	}
	return wanted > 0
}

func (b *builder) selects(l tenon.Labels) bool {
	return b.options.Selects(l.Method, l.Path, l.IDs, l.Tags)
}

// overridesMethod reports whether only the MCP block claims that no confirmation is
// needed, against the method. The operator's guards (confirmation, read-only)
// ignore such claims unless the files are trusted.
func (t tool) overridesMethod(o *Options, c tenon.ConfirmRule) bool {
	return !o.TrustMarks && c.Action == "" && t.Meta != nil && t.Method != http.MethodGet && t.Method != http.MethodHead
}

// reportTrustMarks reports once which tools the operator's guards treat as unsafe
// against the claim of a schema file.
func (b *builder) reportTrustMarks() {
	const shown = 3
	var names []string
	for _, t := range b.features.Tools {
		if t.Confirmation.Marked {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	n := len(names)
	text := strings.Join(names[:min(n, shown)], ", ")
	if n > shown {
		text += fmt.Sprintf(" and %d more", n-shown)
	}
	what := "only meta, not the method, marks these tools as harmless; --read-only and --confirm ignore it: " + text
	b.features.Diagnostics = append(b.features.Diagnostics, tenon.Diagnostic{Message: what, Hint: "--trust-marks trusts the schema files"})
}

// maxSuggestions limits the suggestions for a misspelled name.
const maxSuggestions = 3

// unmatched reports names in the options that match nothing in the files: the
// operator expects them to allow or guard something.
func (b *builder) unmatched(files []*format.File) {
	named, libraries := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		named[f.Namespace] = true
		for _, t := range f.Tools {
			of, _, _ := strings.Cut(t.ID(), "::")
			named[of], named[t.ID()] = true, true
		}
		named[f.Namespace+"/"+strings.TrimSuffix(filepath.Base(f.Path), ".mjs")] = true
		for _, name := range requiredLibraries(f) {
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
		{"--handler-reads", o.HandlerReads, named, "matches no tool, file or namespace"},
		{"--handler-writes", o.HandlerWrites, named, "matches no tool, file or namespace"},
		{"--handler-secrets", o.HandlerSecrets, wholes, "matches no file or namespace"},
		{"--allow-library", o.Libraries, libraries, "no file requires this library"},
	} {
		for _, name := range option.given {
			if option.known[name] {
				continue
			}
			do := ""
			if near := suggest.Near(name, slices.Sorted(maps.Keys(option.known)), maxSuggestions); near != nil {
				do = "did you mean " + strings.Join(near, ", ") + "?"
			}
			b.features.Diagnostics = append(b.features.Diagnostics, tenon.Diagnostic{File: b.spec, Message: option.flag + " " + name + ": " + option.what, Hint: do, Kind: tenon.DiagnosticSelector})
		}
	}
}
