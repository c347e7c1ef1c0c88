package host

import (
	"bytes"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// promise is the contract of a tool: what its binding says.
type promise struct {
	tool   *functionapp.Tool
	anyway bool
	origin tenon.Diagnostic
}

// Contract is what calls are checked against: the schemas as the worker wrote
// them, whatever is published.
func (p *promise) Contract() (tenon.Contract, error) {
	c := tenon.Contract{Input: p.tool.InputSchema(), Formats: true}
	if output := p.tool.Output.JSON(); output != nil {
		c.Responses = []tenon.ResponseSchema{{MediaType: "application/json", Schema: output}}
	}
	return c, nil
}

// Published is the same, but for what is not safe for clients: some drop the
// whole list because of one schema in it. There an input schema is published
// with less in it; an output schema as the worker wrote it or not at all, for
// the contract knows no third.
func (p *promise) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	c, _ := p.Contract()
	var faults []tenon.Diagnostic
	safe, changes := schema.Compatible(c.Input)
	for _, change := range changes {
		faults = append(faults, p.fault("the input schema is published otherwise", change))
	}
	if c.Input = safe; safe == nil {
		c.Input = []byte(`{"type":"object"}`)
	}
	if c.Responses != nil {
		safe, unsafe := p.output(c.Responses[0].Schema)
		faults = append(faults, unsafe...)
		if !safe && !p.anyway {
			c.Responses = nil
		}
	}
	return c, faults
}

// output says whether clients can read the output schema, and why not.
func (p *promise) output(doc []byte) (safe bool, faults []tenon.Diagnostic) {
	what := "the output schema is checked and not published, because some clients drop all tools over it"
	if p.anyway {
		what = "the output schema is published although some clients drop all tools over it"
	}
	for _, change := range unsafeFor(doc) {
		faults = append(faults, p.fault(what, change))
	}
	return faults == nil, faults
}

func (p *promise) fault(what string, c schema.Change) tenon.Diagnostic {
	f := p.origin
	f.Message = p.tool.Name + ": " + what + ": " + c.Message
	if c.Path != "" {
		f.Message += " at " + c.Path
	}
	return f
}

// Unsafe tells why the output schema of f's tool is not safe for clients, and
// so is not published; nil: it is, or there is none.
func (f *Function) Unsafe() []tenon.Diagnostic {
	if f.Tool == nil || f.Tool.Output.JSON() == nil {
		return nil
	}
	_, faults := (&promise{tool: f.Tool, origin: tenon.Diagnostic{File: f.File, Line: f.Line}}).output(f.Tool.Output.JSON())
	return faults
}

// unsafeFor tells what in a schema clients stumble over. A label that says
// which draft it is written for is none of that: they know those two.
func unsafeFor(doc []byte) []schema.Change {
	plain := withoutLabel(doc)
	safe, changes := schema.Compatible(plain)
	if len(changes) == 0 && !bytes.Equal(safe, plain) {
		changes = []schema.Change{{Message: "a pattern is written in a way that not every engine reads"}}
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
