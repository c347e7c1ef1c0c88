package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
	"github.com/tenon-mcp/tenon/internal/yaml"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	Line int // from 1
	What string
}

// FileError is everything that is wrong with a file, in the order of its lines.
type FileError struct {
	Name string
	List []Problem
	More int // that were not kept
}

// Error formats p as one line for each problem, "file:line: what".
func (p *FileError) Error() string {
	lines := make([]string, 0, len(p.List)+1)
	for _, x := range p.List {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", p.Name, x.Line, x.What))
	}
	if p.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", p.More))
	}
	return strings.Join(lines, "\n")
}

// Parse reads a file of the name, which lies in folder: what names other files
// is made relative to it. The error is a *[FileError].
func Parse(name, folder string, text []byte, keys []Key) (*File, error) {
	r := &reader{folder: folder, keys: map[string]*Key{}, problems: FileError{Name: name}}
	for i := range keys {
		r.keys[keys[i].Name] = &keys[i]
	}
	f := r.file(text)
	if len(r.problems.List) > 0 {
		slices.SortStableFunc(r.problems.List, func(a, b Problem) int { return a.Line - b.Line })
		return nil, &r.problems
	}
	return f, nil
}

type reader struct {
	folder   string
	keys     map[string]*Key
	problems FileError
	text     yaml.Result
	doc      *rawjson.Doc
}

func (r *reader) wrong(line int, format string, args ...any) {
	if len(r.problems.List) >= maxProblems {
		r.problems.More++
		return
	}
	r.problems.List = append(r.problems.List, Problem{Line: line, What: fmt.Sprintf(format, args...)})
}

// line is where a value stands; that of a member is where its key does.
func (r *reader) line(n rawjson.Node) int {
	at := r.doc.Offset(n)
	if key := r.doc.RawKey(n); len(key) > 0 {
		at -= len(key) + len(`"":`)
	}
	return r.text.Line(at)
}

func (r *reader) file(text []byte) *File {
	if len(text) > MaxSize {
		r.wrong(1, "a config has at most %d bytes, this one %d", MaxSize, len(text))
		return nil
	}
	var err error
	if r.text, err = yaml.ToJSON(text); err != nil {
		e, _ := errors.AsType[*yaml.Error](err)
		r.wrong(e.Line, "%s", e.Message)
		return nil
	}
	for _, n := range r.text.Notes {
		r.wrong(n.Line, "%s", n.What)
	}
	if r.doc, err = rawjson.Parse(r.text.JSON); err != nil {
		r.wrong(1, "%v", err)
		return nil
	}
	f := &File{}
	f.Settings = r.object(r.doc.Root(), Whole, "a config", map[string]func(rawjson.Node){
		"sources": func(n rawjson.Node) { f.Sources = r.sources(n) },
		"tools":   func(n rawjson.Node) { f.Tools = r.patterns(n) },
	})
	return f
}

// object reads the keys of one place. Those in own are no settings.
func (r *reader) object(n rawjson.Node, at Place, what string, own map[string]func(rawjson.Node)) []Setting {
	if r.doc.Kind(n) != rawjson.Object {
		r.wrong(r.line(n), "%s is an object: lines of key: value", what)
		return nil
	}
	var all []Setting
	for m := r.doc.First(n); m != rawjson.None; m = r.doc.Next(m) {
		name := r.doc.Key(m)
		if read, ok := own[name]; ok {
			read(m)
			continue
		}
		key := r.keys[name]
		if key == nil || key.Places&at == 0 {
			r.unknown(r.line(m), name, at, own)
			continue
		}
		if s := r.setting(key, m); s.Values != nil {
			all = append(all, s)
		}
	}
	return all
}

// unknown tells of a key that may not stand where it does.
func (r *reader) unknown(line int, name string, at Place, own map[string]func(rawjson.Node)) {
	if key := r.keys[name]; key != nil {
		r.wrong(line, "%q does not belong here but %s", name, key.Places.where())
		return
	}
	if name == "sources" {
		r.wrong(line, "%q does not belong here but at the top of the file", name)
		return
	}
	known := slices.Collect(maps.Keys(own))
	for other, key := range r.keys {
		if key.Places&at != 0 {
			known = append(known, other)
		}
	}
	slices.Sort(known)
	if near := suggest.Near(name, known, 1); near != nil {
		r.wrong(line, "there is no key %q; did you mean %q?", name, near[0])
		return
	}
	r.wrong(line, "there is no key %q", name)
}

// where says in words where a key may stand.
func (p Place) where() string {
	var places []string
	for _, x := range []struct {
		place Place
		words string
	}{{Whole, "at the top of the file"}, {Source, "in a source"}, {Tool, "under a tool"}} {
		if p&x.place != 0 {
			places = append(places, x.words)
		}
	}
	return strings.Join(places, " or ")
}

func (r *reader) sources(n rawjson.Node) []Described {
	if r.doc.Kind(n) != rawjson.Object {
		r.wrong(r.line(n), "sources is an object: a line of NAME: SPEC for each source, or NAME: and its keys")
		return nil
	}
	var all []Described
	for m := r.doc.First(n); m != rawjson.None; m = r.doc.Next(m) {
		if len(all) >= maxSources {
			r.wrong(r.line(m), "there are more than %d sources", maxSources)
			break
		}
		all = append(all, r.source(m))
	}
	return all
}

func (r *reader) source(n rawjson.Node) Described {
	d := Described{Name: r.doc.Key(n), Line: r.line(n)}
	if !plainName(d.Name) {
		r.wrong(d.Line, "%q is no name for a source: use letters, digits, _ and -", d.Name)
	}
	spec := func(m rawjson.Node) {
		if d.Spec = r.doc.Str(m); d.Spec == "" || r.doc.Kind(m) != rawjson.String {
			r.wrong(r.line(m), "the spec of %s is a text: a file, a folder or a URL", d.Name)
		}
		d.Spec = Beside(r.folder, d.Spec)
	}
	if r.doc.Kind(n) == rawjson.String {
		spec(n)
		return d
	}
	d.Settings = r.object(n, Source, "source "+d.Name, map[string]func(rawjson.Node){
		"spec":  spec,
		"tools": func(m rawjson.Node) { d.Tools = r.patterns(m) },
	})
	if d.Spec == "" && r.doc.Get(n, "spec") == rawjson.None {
		r.wrong(d.Line, "source %s has no spec: the file, folder or URL that describes it", d.Name)
	}
	return d
}

func (r *reader) patterns(n rawjson.Node) []Pattern {
	if r.doc.Kind(n) != rawjson.Object {
		r.wrong(r.line(n), "tools is an object: names or patterns, and under each its keys")
		return nil
	}
	var all []Pattern
	for m := r.doc.First(n); m != rawjson.None; m = r.doc.Next(m) {
		p := Pattern{Names: r.doc.Key(m), Line: r.line(m)}
		if p.Names == "" || strings.Contains(p.Names, "=") {
			r.wrong(p.Line, "%q is no pattern for tools: use names with * and ?", p.Names)
		}
		p.Settings = r.object(m, Tool, "tool "+p.Names, nil)
		all = append(all, p)
	}
	return all
}

func plainName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}
