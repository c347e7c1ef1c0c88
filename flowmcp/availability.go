package flowmcp

import (
	"maps"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// Availability says what became of one tool of a schema file when it was loaded.
type Availability struct {
	File   string `json:"file"`
	ID     string `json:"id"`   // its name in full
	Name   string `json:"name"` // for clients; where it is not served, the one that it would have
	Served bool   `json:"served"`
	Needs  []Need `json:"needs,omitempty"` // for want of which it is not served
}

// Why says for want of what the tool is not served, and what to do about it;
// both are empty where it is served.
func (s Availability) Why() (why, do string) {
	var whys, dos []string
	for _, n := range s.Needs {
		whys = append(whys, n.String())
		if d := n.Do(); d != "" {
			dos = append(dos, d)
		}
	}
	return strings.Join(whys, ", "), strings.Join(dos, ", ")
}

// Need is one thing for want of which a tool is not served.
type Need struct {
	Kind NeedKind `json:"kind"`
	Name string   `json:"name,omitempty"`
}

// NeedKind says what is needed.
type NeedKind string

// What a tool can need. An operator can give the first five.
const (
	NeedKey     NeedKind = "key"     // a server parameter
	NeedLibrary NeedKind = "library" // a package that is not bundled
	NeedLeave   NeedKind = "leave"   // to use a library that is not on the allow-list
	NeedList    NeedKind = "list"    // a shared list
	NeedData    NeedKind = "data"    // a database or a text
	NeedNative  NeedKind = "native"  // a library that is compiled code
	NeedWorkers NeedKind = "workers" // a command that runs handlers
	NeedRepair  NeedKind = "repair"  // the file has errors
	NeedChoice  NeedKind = "choice"  // the selection does not name the tool
)

func (n Need) String() string {
	switch n.Kind { //nolint:exhaustive // the others say nothing more
	case NeedKey:
		return n.Name + " is not set"
	case NeedLibrary:
		return n.Name + " is not bundled"
	case NeedLeave:
		return "the library " + n.Name + " is not allowed"
	case NeedList:
		return "the shared list " + n.Name + " cannot be read"
	case NeedNative:
		return n.Name + " is native code, which cannot be run"
	case NeedWorkers:
		return "its handlers run nowhere here"
	case NeedRepair:
		return "it has errors"
	case NeedChoice:
		return "it was not chosen"
	}
	return n.Name
}

// Do says what gives it; empty: nothing that an operator can do.
func (n Need) Do() string {
	switch n.Kind { //nolint:exhaustive // the others say nothing more
	case NeedKey:
		return "set " + n.Name + " in the environment"
	case NeedLibrary:
		return "tenon flowmcp libs add " + n.Name
	case NeedLeave:
		return "--allow-library " + n.Name
	case NeedList:
		return "--lists names the folder of " + n.Name
	case NeedData:
		return "give it its data"
	case NeedRepair:
		return "see 'tenon flowmcp check'"
	}
	return ""
}

// Given reports whether an operator can give it.
func (n Need) Given() bool {
	switch n.Kind { //nolint:exhaustive // the others say nothing more
	case NeedKey, NeedLibrary, NeedLeave, NeedList, NeedData:
		return true
	}
	return false
}

// Standings returns what became of every tool at the last Load, in the order of
// the files.
func (s *Source) Standings() []Availability {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.standings)
}

// ofFile is what every tool of a file needs.
func (b *offerer) ofFile(f *file) []Need {
	var all []Need
	if f.failed && (f.wrong || f.refused == nil) {
		all = append(all, Need{Kind: NeedRepair})
	}
	for _, name := range f.refused {
		all = append(all, Need{NeedLeave, name})
	}
	for _, name := range f.main.get("requiredServerParams").strs() {
		if _, ok := b.options.Env(name); !ok {
			all = append(all, Need{NeedKey, name})
		}
	}
	return all
}

// needs is what a tool needs beside what its whole file does: handlers is the
// member of the factory's object that it has, and handled whether it runs one.
func (b *offerer) needs(f *file, handlers string, handled, broken bool) []Need {
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
	for _, ref := range slices.Sorted(maps.Keys(f.lists)) {
		if f.lists[ref] == nil && f.handlers.names[ref] {
			all = append(all, Need{NeedList, ref})
		}
	}
	for _, name := range f.handlers.libraries[handlers] {
		switch _, bundled := b.library.get(name); {
		case bundled || slices.Contains(builtIn(), name):
		case isNative(name):
			all = append(all, Need{NeedNative, name})
		default:
			all = append(all, Need{NeedLibrary, name})
		}
	}
	return all
}

// stands notes what becomes of a tool, and its test cases.
func (b *offerer) stands(t *route, name string, needs []Need) {
	s := Availability{File: t.file.path, ID: t.id(), Name: name, Served: needs == nil, Needs: needs}
	b.standings = append(b.standings, s)
	why, do := s.Why()
	if do != "" {
		why += " (" + do + ")"
	}
	for _, c := range casesOf(t, name) {
		c.Why = why
		b.cases = append(b.cases, c)
	}
}

// unserved notes every tool of a file, or of a database, that is not served.
func (b *offerer) unserved(f *file, more []Need) {
	for _, t := range f.routes {
		b.stands(t, wireName(t.name, f.namespace), append(slices.Clone(more), b.needs(f, t.name, t.handled, t.broken)...))
	}
	for _, r := range f.resources {
		b.unservedData(r, more)
	}
}

func (b *offerer) unservedData(r *resource, more []Need) {
	f := r.file
	needs := append(slices.Clone(more), b.needs(f, r.name, f.handlers.needs(r.name), r.broken)...)
	if len(needs) == 0 || r.hidden {
		return
	}
	if r.source == "markdown" {
		b.standings = append(b.standings, Availability{File: f.path, ID: r.id(), Name: tenon.ToolName(r.name + "_" + f.namespace), Needs: needs})
	}
	for _, q := range r.queries {
		if q.hidden {
			continue
		}
		b.stands(q.route, tenon.ToolName(q.key+"_"+f.namespace), needs)
	}
}

// take leaves the tools in a file that the operator wants, and hides the others
// of its resources, which handlers may ask anyway. A file without any of
// them is not looked at further.
func (b *offerer) take(f *file) bool {
	if b.options.Takes == nil || len(f.routes)+len(f.resources) == 0 {
		return true
	}
	tags := f.main.get("tags").strs()
	left := func(id, name string) {
		b.standings = append(b.standings, Availability{File: f.path, ID: id, Name: name, Needs: []Need{{Kind: NeedChoice}}})
	}
	f.routes = slices.DeleteFunc(f.routes, func(t *route) bool {
		name := wireName(t.name, f.namespace)
		if b.options.Takes(t.method, t.path, []string{t.id(), name, t.name, f.namespace + "/tool/" + t.name}, tags) {
			return false
		}
		left(t.id(), name)
		return true
	})
	wanted := len(f.routes)
	for _, r := range f.resources {
		takes := func(id, name string) bool {
			if b.options.Takes("", "", []string{id, name, r.name, f.namespace + "/resource/" + r.name}, tags) {
				wanted++
				return true
			}
			left(id, name)
			return false
		}
		if r.source == "markdown" {
			r.hidden = !takes(r.id(), tenon.ToolName(r.name+"_"+f.namespace))
		}
		for _, q := range r.queries {
			q.hidden = !takes(q.id(), tenon.ToolName(q.key+"_"+f.namespace))
		}
	}
	return wanted > 0
}
