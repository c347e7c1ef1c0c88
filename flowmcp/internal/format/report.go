package format

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tenon-mcp/tenon"
)

// Report is the result of Check for one schema file.
type Report struct {
	File      string       `json:"file"`
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name,omitempty"`
	Kind      string       `json:"kind,omitempty"`       // skill, prompt, agent, selection or list; empty: a schema file
	Hash      string       `json:"schemaHash,omitempty"` // empty: main is not pure data
	Loads     bool         `json:"loads"`                // in the chosen mode
	Tools     []ToolReport `json:"tools"`
	Findings  []Finding    `json:"issues"`

	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Missing     []string `json:"missing,omitempty"` // unset server parameters, for which the tools are not served
}

// ToolReport is the result of Check for one tool.
type ToolReport struct {
	ID       string `json:"id"`       // namespace/schemaFile::routeName
	Name     string `json:"name"`     // for clients, before it is made unique
	Handlers bool   `json:"handlers"` // runs the file's JavaScript
	Loads    bool   `json:"loads"`

	Description string `json:"description,omitempty"`
	// Libraries are the npm packages that its handlers use, without the
	// built-in ones.
	Libraries []string `json:"libraries,omitempty"`
}

// Check reads the file or the folder at spec and reports on every schema file
// in the order of their paths, then on the files beside them: skills and
// prompts and, in a catalog, its lists, agents and selections. Names that refer
// to other folders are looked up there. It runs no code. The error means that
// nothing could be read.
func Check(ctx context.Context, spec string, o Options) ([]Report, error) {
	if kind := KindOf(spec); kind != "" {
		return []Report{checkOtherFile(ctx, spec, kind, o)}, nil
	}
	if others := otherFilesIn(spec); others != nil {
		var reports []Report
		for _, path := range others {
			reports = append(reports, checkOtherFile(ctx, path, KindOf(path), o))
		}
		return reports, nil
	}
	files, err := ReadFiles(ctx, spec, o, true)
	if err != nil {
		return nil, err
	}
	guides := ReadGuides(files, o)
	near := newResolver(spec, files, guides, o) // names may refer to other files
	near.Resolve(ctx, guides)
	reports := make([]Report, len(files))
	for i, f := range files {
		f.lookForData(&o)
		reports[i] = f.report(o.Env)
	}
	reports = append(reports, guideReports(guides)...)
	reports = append(reports, checkLists(spec, o)...)
	for _, path := range selectionsAndAgents(spec) {
		reports = append(reports, checkSelectionFile(ctx, path, near))
	}
	return reports, nil
}

func (f *File) report(env func(string) (string, bool)) Report {
	r := Report{File: f.Path, Namespace: f.Namespace, Name: f.Name, Hash: f.Hash, Loads: !f.Failed, Tools: []ToolReport{}, Findings: f.Findings}
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	r.Description, r.Tags = f.Main.Get("description").Str(), f.Main.Get("tags").Strings()
	for _, name := range f.Main.Get("requiredServerParams").Strings() {
		if _, ok := envOr(env, name); !ok {
			r.Missing = append(r.Missing, name)
		}
	}
	add := func(t *Tool, name string, broken bool) {
		r.Tools = append(r.Tools, ToolReport{ID: t.ID(), Name: name, Handlers: t.Handled, Loads: !f.Failed && !broken, Description: t.Description, Libraries: t.packages()})
	}
	for _, t := range f.Tools {
		add(t, WireName(t.Name, f.Namespace), t.Broken)
	}
	for _, x := range f.Resources {
		for _, q := range x.Queries {
			add(q.Tool, tenon.ToolName(q.Key+"_"+f.Namespace), x.Broken || q.Broken)
		}
	}
	return r
}

// lookForData reports missing files of resources, for origins whose folder is
// known.
func (f *File) lookForData(o *Options) {
	for _, r := range f.Resources {
		if r.Broken || r.Source == "http" || r.Folder(o) == "" {
			continue
		}
		if _, err := r.Find(o); err != nil {
			f.Findings = append(f.Findings, Finding{Code: "RES020", Severity: Warning, Path: "main.resources." + r.Name, Line: r.Line, Message: err.Error()})
		}
	}
}

func envOr(env func(string) (string, bool), name string) (string, bool) {
	if env == nil {
		return "", false
	}
	return env(name)
}

// packages returns the libraries of the tool's handlers that have to be
// bundled.
func (t *Tool) packages() []string {
	var all []string
	for _, name := range t.File.Handlers.Libraries[t.Name] {
		if !slices.Contains(BuiltIn(), name) {
			all = append(all, name)
		}
	}
	return all
}

// KindOf returns the kind of a file that is not a schema file, or "" for schema
// files and unknown contents.
func KindOf(path string) string {
	if filepath.Ext(path) != ".mjs" || exports(path, "main") && filepath.Base(path) != agentFile {
		return ""
	}
	if dir := filepath.Base(filepath.Dir(path)); dir == "_lists" || dir == "_shared" {
		return "list"
	}
	for _, kind := range []string{"agent", "selection", "skill", "prompt", "list", "content"} {
		if exports(path, kind) {
			return kind
		}
	}
	if filepath.Base(path) == agentFile {
		return "agent"
	}
	return ""
}

// otherFilesIn returns the files of a folder that contains lists, skills and the
// like but no schema file, or nil.
func otherFilesIn(spec string) []string {
	if !IsFolder(spec) {
		return nil
	}
	paths, err := SchemaFiles(spec)
	if err != nil {
		return nil
	}
	for _, path := range paths {
		if KindOf(path) == "" {
			return nil
		}
	}
	return paths
}

// checkOtherFile reports on a file of another kind than a schema file.
func checkOtherFile(ctx context.Context, path, kind string, o Options) Report {
	near := newResolver(path, nil, nil, o)
	switch kind {
	case "agent", "selection":
		return checkSelectionFile(ctx, path, near)
	case "list":
		return checkListFile(path, o)
	}
	scope := near.scope()
	g := &Guide{Kind: "prompt", Scope: scope, Path: path, Name: FileBase(path)}
	if kind == "content" { // content of a prompt that is declared elsewhere
		g.readContent(o)
	} else {
		g = readGuide(path, kind, scope, o)
	}
	for _, beside := range []string{"skill", "prompt"} { // of an agent or a selection, which no schema file leads to
		near.Guides = append(near.Guides, guidesIn(filepath.Join(near.folder, beside+"s"), beside, scope, o)...)
	}
	near.Resolve(ctx, []*Guide{g})
	return guideReports([]*Guide{g})[0]
}

func checkListFile(path string, o Options) Report {
	r := Report{File: path, Kind: "list", Tools: []ToolReport{}, Findings: []Finding{}}
	text, err := readFile(path)
	if err != nil {
		r.Findings = append(r.Findings, syntaxFinding(err))
		return r
	}
	l, findings := ParseList(text, o.Strict)
	r.Findings = append(r.Findings, findings...)
	if r.Loads = l != nil; r.Loads {
		r.Name = l.Name
	}
	return r
}

// checkLists reports on the shared lists of a catalog, whose names must be
// unique.
func checkLists(dir string, o Options) []Report {
	var all []Report
	named := map[string]string{}
	for _, folder := range []string{"_lists", "_shared"} {
		files, _ := filepath.Glob(filepath.Join(dir, folder, "*.mjs"))
		for _, path := range files {
			r := checkListFile(path, o)
			if first := named[r.Name]; r.Name != "" && first != "" {
				f := Finding{Code: "LST002", Severity: Warning, Path: "list.meta.name", Message: "is the name of the list in " + first + " too"}
				if o.Strict {
					f.Severity, r.Loads = Fatal, false
				}
				r.Findings = append(r.Findings, f)
			}
			named[r.Name] = filepath.Base(path)
			all = append(all, r)
		}
	}
	return all
}

// selectionsAndAgents returns the selections and the agents of a catalog.
func selectionsAndAgents(dir string) []string {
	all := SelectionsIn(dir)
	agents, _ := filepath.Glob(filepath.Join(dir, "agents", "*", agentFile))
	all = append(all, agents...)
	slices.Sort(all)
	return all
}

// SelectionsIn returns the selections of a catalog: in the folder selections,
// or in its subfolders by namespace.
func SelectionsIn(dir string) []string {
	all, _ := filepath.Glob(filepath.Join(dir, "selections", "*.mjs"))
	deep, _ := filepath.Glob(filepath.Join(dir, "selections", "*", "*.mjs"))
	texts := func(path string) bool { return isOtherFolder(filepath.Base(filepath.Dir(path))) }
	return append(all, slices.DeleteFunc(deep, texts)...)
}

// checkSelectionFile reports on a selection or an agent, and on missing names.
func checkSelectionFile(ctx context.Context, path string, near *Resolver) Report {
	s, findings := ReadChoice(path, near.Options)
	r := Report{File: path, Namespace: s.namespace, Name: s.Name, Kind: "selection", Tools: []ToolReport{}, Findings: append([]Finding{}, findings...)}
	if exports(path, "agent") || filepath.Base(path) == agentFile {
		r.Kind = "agent"
	}
	for _, f := range near.missing(ctx, s, r.Kind) {
		r.Findings = bounded(r.Findings, f)
	}
	r.Loads = FirstError(r.Findings) == "unknown"
	return r
}

// missing returns the findings on missing names of a selection and of the texts it
// brings.
func (a *Resolver) missing(ctx context.Context, s *Selection, choice string) []Finding {
	code := "SEL003"
	if choice == "agent" {
		code = "AGT022"
	}
	for _, names := range s.Wanted {
		for _, name := range names {
			a.lookUp(ctx, namespaceOf(name))
		}
	}
	there := Known(a.Files, a.Guides)
	var all []Finding
	for _, kind := range []string{"tool", "resource", "prompt", "skill"} {
		for _, name := range s.Wanted[kind] {
			f := Finding{Code: code, Severity: Fatal, Path: choice + "." + kind + "s", Line: s.lines[kind+" "+name], Message: name + " is not in the files"}
			if !a.lookUp(ctx, namespaceOf(name)) {
				f.Code, f.Severity, f.Message = "CHK002", Info, notLookedUp(name)
			}
			if !there[FullName(kind, name)] {
				all = append(all, f)
			}
		}
	}
	read := map[*Guide]int{}
	for _, g := range s.Guides {
		read[g] = len(g.Findings)
	}
	a.Resolve(ctx, s.Guides)
	for _, g := range s.Guides {
		for _, f := range g.Findings[read[g]:] {
			all = append(all, fromBrought(f, g, choice+"."+g.Kind+"s."+g.Name, s.lines["own "+g.ID()]))
		}
	}
	return all
}
