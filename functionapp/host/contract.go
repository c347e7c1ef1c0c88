package host

import (
	"bytes"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// workerContract is the contract of a tool: what its binding says.
type workerContract struct {
	tool   *functionapp.Tool
	anyway bool
	origin tenon.Diagnostic
}

// Contract returns the contract for calls: the schemas as the worker wrote
// them, whatever is published.
func (p *workerContract) Contract() (tenon.Contract, error) {
	c := tenon.Contract{Input: p.tool.InputSchema(), Formats: true}
	if output := p.tool.Output.JSON(); output != nil {
		c.Responses = []tenon.ResponseSchema{{MediaType: "application/json", Schema: output}}
	}
	return c, nil
}

// PublishedContract differs where a schema is not safe for clients, some of
// which drop the whole list because of one schema. Such an input schema is
// published with fewer keywords; an output schema is published unchanged or not
// at all, because the protocol knows nothing in between.
func (p *workerContract) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	c, _ := p.Contract()
	var diagnostics []tenon.Diagnostic
	safe, changes := publish.Compatible(c.Input)
	for _, change := range changes {
		diagnostics = append(diagnostics, p.problem("the input schema is published otherwise", change))
	}
	if c.Input = safe; safe == nil {
		c.Input = []byte(`{"type":"object"}`)
	}
	if c.Responses != nil {
		safe, unsafe := p.output(c.Responses[0].Schema)
		diagnostics = append(diagnostics, unsafe...)
		if !safe && !p.anyway {
			c.Responses = nil
		}
	}
	return c, diagnostics
}

// output reports whether clients can read the output schema, and why not.
func (p *workerContract) output(doc []byte) (safe bool, diagnostics []tenon.Diagnostic) {
	what := "the output schema is checked and not published, because some clients drop all tools over it"
	if p.anyway {
		what = "the output schema is published although some clients drop all tools over it"
	}
	for _, change := range unsafeFor(doc) {
		diagnostics = append(diagnostics, p.problem(what, change))
	}
	return diagnostics == nil, diagnostics
}

func (p *workerContract) problem(what string, c publish.Change) tenon.Diagnostic {
	f := p.origin
	f.Message = cut(p.tool.Name) + ": " + what + ": " + c.Message
	if c.Path != "" {
		f.Message += " at " + c.Path
	}
	return f
}

// Unsafe returns why the output schema of f's tool is not published, or nil.
func (f *Function) Unsafe() []tenon.Diagnostic {
	if f.Tool == nil || f.Tool.Output.JSON() == nil {
		return nil
	}
	_, diagnostics := (&workerContract{tool: f.Tool, origin: tenon.Diagnostic{File: f.File, Line: f.Line}}).output(f.Tool.Output.JSON())
	return diagnostics
}

// unsafeFor returns what clients cannot handle in a schema. A $schema of a
// draft they know is fine.
func unsafeFor(doc []byte) []publish.Change {
	plain := withoutLabel(doc)
	safe, changes := publish.Compatible(plain)
	if len(changes) == 0 && !bytes.Equal(safe, plain) {
		changes = []publish.Change{{Message: "a pattern is written in a way that not every engine reads"}}
	}
	return changes
}

func withoutLabel(doc []byte) []byte {
	d, err := rawjson.Parse(doc)
	if err != nil {
		return doc
	}
	switch d.Str(d.Get(d.Root(), "$schema")) {
	case "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema":
	default:
		return doc
	}
	var o functionapp.Object
	for n := d.First(d.Root()); n != rawjson.None; n = d.Next(n) {
		if key := d.Key(n); key != "$schema" {
			o = append(o, functionapp.Member{Key: key, Value: d.Raw(n)})
		}
	}
	return o.Append(nil)
}
