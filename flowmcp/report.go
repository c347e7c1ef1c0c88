package flowmcp

import (
	"context"
	"slices"

	"github.com/tenon-mcp/tenon"
)

// Report is what Check found about one schema file.
type Report struct {
	File      string       `json:"file"`
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name,omitempty"`
	Kind      string       `json:"kind,omitempty"`       // skill, prompt, agent, selection or list; empty: a schema file
	Hash      string       `json:"schemaHash,omitempty"` // empty: main is no pure data
	Loads     bool         `json:"loads"`                // under the chosen mode
	Tools     []ToolReport `json:"tools"`
	Findings  []Finding    `json:"issues"`

	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Missing     []string `json:"missing,omitempty"` // server parameters that are not set: the tools are not served
}

// ToolReport is what Check found about one tool.
type ToolReport struct {
	ID       string `json:"id"`       // namespace/schemaFile::routeName
	Name     string `json:"name"`     // for clients, before it is made unique
	Handlers bool   `json:"handlers"` // needs the file's JavaScript
	Loads    bool   `json:"loads"`

	Description string `json:"description,omitempty"`
	// Libraries are the npm packages that its handlers lead to, those left out
	// that are always there.
	Libraries []string `json:"libraries,omitempty"`
}

// Check reads the file or the folder at spec and reports on every schema file,
// in the order of their paths, then on what stands beside them: skills and
// prompts, and in a catalog its lists, agents and selections. What a file names
// is looked for in the folder that it leads to, whether that was asked for or
// not. It runs nothing. The error means that nothing could be read.
func Check(ctx context.Context, spec string, o Options) ([]Report, error) {
	if kind := kindOf(spec); kind != "" {
		return []Report{checkOther(ctx, spec, kind, o)}, nil
	}
	if others := othersIn(spec); others != nil {
		var reports []Report
		for _, path := range others {
			reports = append(reports, checkOther(ctx, path, kindOf(path), o))
		}
		return reports, nil
	}
	files, err := readFiles(ctx, spec, o, true)
	if err != nil {
		return nil, err
	}
	guides := readGuides(files, o)
	near := newAround(spec, files, guides, o) // what a file names may stand in another one
	near.resolve(ctx, guides)
	reports := make([]Report, len(files))
	for i, f := range files {
		f.lookForData(&o)
		reports[i] = f.report(o.Env)
	}
	reports = append(reports, guideReports(guides)...)
	reports = append(reports, checkLists(spec, o)...)
	for _, path := range choicesIn(spec) {
		reports = append(reports, checkChoice(ctx, path, near))
	}
	return reports, nil
}

func (f *file) report(env func(string) (string, bool)) Report {
	r := Report{File: f.path, Namespace: f.namespace, Name: f.name, Hash: f.hash, Loads: !f.failed, Tools: []ToolReport{}, Findings: f.findings}
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	r.Description, r.Tags = f.main.get("description").str(), f.main.get("tags").strs()
	for _, name := range f.main.get("requiredServerParams").strs() {
		if _, ok := envOr(env, name); !ok {
			r.Missing = append(r.Missing, name)
		}
	}
	add := func(t *route, name string, broken bool) {
		r.Tools = append(r.Tools, ToolReport{ID: t.id(), Name: name, Handlers: t.handled, Loads: !f.failed && !broken, Description: t.text, Libraries: t.packages()})
	}
	for _, t := range f.routes {
		add(t, wireName(t.name, f.namespace), t.broken)
	}
	for _, x := range f.resources {
		for _, q := range x.queries {
			add(q.route, tenon.ToolName(q.key+"_"+f.namespace), x.broken || q.broken)
		}
	}
	return r
}

// lookForData tells of files of resources that are not there. Where the options
// name no folder for an origin, nobody knows.
func (f *file) lookForData(o *Options) {
	for _, r := range f.resources {
		if r.broken || r.source == "http" || r.folder(o) == "" {
			continue
		}
		if _, err := r.find(o); err != nil {
			f.findings = append(f.findings, Finding{Code: "RES020", Severity: Warning, Path: "main.resources." + r.name, Line: r.line, Message: err.Error()})
		}
	}
}

func envOr(env func(string) (string, bool), name string) (string, bool) {
	if env == nil {
		return "", false
	}
	return env(name)
}

// packages are the libraries that the tool's handlers lead to and that have to
// be bundled.
func (t *route) packages() []string {
	var all []string
	for _, name := range t.file.handlers.libraries[t.name] {
		if !slices.Contains(builtIn(), name) {
			all = append(all, name)
		}
	}
	return all
}
