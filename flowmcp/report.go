package flowmcp

import "context"

// Report is what Check found about one schema file.
type Report struct {
	File      string       `json:"file"`
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name,omitempty"`
	Kind      string       `json:"kind,omitempty"`       // skill or prompt; empty: a schema file
	Hash      string       `json:"schemaHash,omitempty"` // empty: main is no pure data
	Loads     bool         `json:"loads"`                // under the chosen mode
	Tools     []ToolReport `json:"tools"`
	Findings  []Finding    `json:"findings"`
}

// ToolReport is what Check found about one tool.
type ToolReport struct {
	ID       string `json:"id"`       // namespace/schemaFile::routeName
	Name     string `json:"name"`     // for clients, before it is made unique
	Handlers bool   `json:"handlers"` // needs the file's JavaScript
	Loads    bool   `json:"loads"`
}

// Check reads the schema file or the folder at spec and reports on every file,
// in the order of their paths. It runs nothing. The error means that nothing
// could be read.
func Check(ctx context.Context, spec string, o Options) ([]Report, error) {
	files, err := readFiles(ctx, spec, o, true)
	if err != nil {
		return nil, err
	}
	reports := make([]Report, len(files))
	for i, f := range files {
		reports[i] = f.report()
	}
	return append(reports, guideReports(readGuides(files, o))...), nil
}

func (f *file) report() Report {
	r := Report{File: f.path, Namespace: f.namespace, Name: f.name, Hash: f.hash, Loads: !f.failed, Tools: []ToolReport{}, Findings: f.findings}
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	for _, t := range f.routes {
		r.Tools = append(r.Tools, ToolReport{ID: t.id(), Name: wireName(t.name, f.namespace), Handlers: t.handled, Loads: !f.failed && !t.broken})
	}
	return r
}
