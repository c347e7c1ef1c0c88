package app

import (
	"cmp"
	"fmt"
	"net/textproto"
	"os"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jq"
)

// adjustment puts the settings that name tools into force.
type adjustment struct {
	policy, envelope choice
	calls            callChoices
}

// newAdjustment checks the values of the settings that name tools.
func newAdjustment(o *SourceOptions) (*adjustment, error) {
	for _, s := range o.Policy.Tools {
		if _, err := tenon.ParsePolicy(s.Value); err != nil {
			return nil, err
		}
	}
	for _, s := range o.Envelope.Tools {
		if _, err := tenon.ParseEnvelope(s.Value); err != nil {
			return nil, err
		}
	}
	a := &adjustment{policy: newChoice(o.Policy), envelope: newChoice(o.Envelope)}
	var err error
	a.calls, err = newCallChoices(o)
	return a, err
}

func (a *adjustment) tool(source string, t *tenon.Tool) {
	if p := a.policy.of(source, t); p != "" {
		t.Policy = tenon.Policy(p)
	}
	if s := a.envelope.of(source, t); s != "" {
		t.Envelope = tenon.Envelope(s)
	}
	a.calls.tool(source, t)
}

func (a *adjustment) patterns(used map[string]bool) {
	a.policy.patterns("policy", used)
	a.envelope.patterns("envelope", used)
	a.calls.patterns(used)
}

func (a *adjustment) forget() {
	a.policy.forget()
	a.envelope.forget()
	a.calls.forget()
}

// callChoices are the settings about what happens around a tool's call.
type callChoices struct {
	o         *SourceOptions
	confirm   choice
	maxResult choice
	views     viewChoices
	headers   headerChoice
}

// newCallChoices checks the values.
func newCallChoices(o *SourceOptions) (callChoices, error) {
	c := callChoices{o: o, confirm: newChoice(o.Confirm), maxResult: newChoice(o.MaxResultBytes), headers: headerChoice{newChoice(o.MCPHeader)}}
	if _, err := parsed(o.Confirm.All, tenon.ParseConfirmMode); err != nil {
		return c, err
	}
	for _, s := range o.Confirm.Tools {
		if _, err := tenon.ParseConfirmMode(s.Value); err != nil {
			return c, err
		}
	}
	for _, s := range append([]ToolValue{{Value: o.MaxResultBytes.All}}, o.MaxResultBytes.Tools...) {
		if _, err := parsed(s.Value, parseBytes); err != nil {
			return c, invalid("max-result-bytes", " is %v", err)
		}
	}
	if err := c.headers.check(o.MCPHeader.All); err != nil {
		return c, err
	}
	var err error
	c.views, err = newViewChoices(o)
	return c, err
}

func (c *callChoices) tool(source string, t *tenon.Tool) {
	mode := tenon.ConfirmMode(cmp.Or(c.confirm.of(source, t), c.o.Confirm.All))
	t.Confirmation.Mode = cmp.Or(mode, t.Confirmation.Mode)
	if !t.Confirmation.Marked && t.Confirmation.Action == "" && c.confirm.spells(source, t) { // the operator means this one, whatever it says of itself
		t.Confirmation.Marked, t.Confirmation.Effect = true, cmp.Or(t.Confirmation.Effect, "The operator wants to be asked before "+t.Name+" is called")
	}
	if n, err := parseBytes(cmp.Or(c.maxResult.of(source, t), c.o.MaxResultBytes.All)); err == nil { // it was checked
		t.MaxResult = n
	}
	c.headers.tool(source, t)
	c.views.tool(source, t)
}

func (c *callChoices) patterns(used map[string]bool) {
	c.confirm.patterns("confirm", used)
	c.maxResult.patterns("max-result-bytes", used)
	c.headers.patterns(used)
	c.views.patterns(used)
}

func (c *callChoices) forget() {
	c.confirm.forget()
	c.maxResult.forget()
	c.headers.given.forget()
	c.views.forget()
}

// headerChoice names headers that repeat arguments: TOOL.ARG=NAME, or
// TOOL=ARG=NAME,ARG=NAME, the form of a config. All that are for a tool count.
type headerChoice struct{ given choice }

// plain is one occurrence with the argument beside the header's name.
func (c *headerChoice) plain(s chosen) chosen {
	if dot := strings.LastIndexByte(s.Pattern, '.'); dot >= 0 && !strings.Contains(s.Value, "=") {
		s.Pattern, s.Value = s.Pattern[:dot], s.Pattern[dot+1:]+"="+s.Value
	}
	return s
}

// check reads the names of headers.
func (c *headerChoice) check(all string) error {
	if all != "" {
		return invalid("mcp-header", " wants TOOL.ARG=NAME, not %q", all)
	}
	for _, s := range c.given.some {
		s = c.plain(s)
		for pair := range strings.SplitSeq(s.Value, ",") {
			argument, name, ok := strings.Cut(pair, "=")
			switch full := textproto.CanonicalMIMEHeaderKey("Mcp-Param-" + name); {
			case !ok || argument == "":
				return invalid("mcp-header", " of %s wants ARG=NAME, not %q", s.Pattern, pair)
			case !headerToken(name):
				return invalid("mcp-header", " of %s: %q is no name of a header: use letters, digits and -", s.Pattern, name)
			case strings.HasPrefix(name, "Mcp-Param-"):
				return invalid("mcp-header", " of %s: clients put Mcp-Param- in front; write %s", s.Pattern, strings.TrimPrefix(full, "Mcp-Param-Mcp-Param-"))
			}
		}
	}
	return nil
}

// headerToken reports whether a header can have that name (RFC 9110, 5.6.2).
func headerToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func (c *headerChoice) tool(source string, t *tenon.Tool) {
	t.ArgumentHeaders = nil
	for i, s := range c.given.some {
		one := choice{some: []chosen{c.plain(s)}}
		value := one.of(source, t)
		if value == "" {
			continue
		}
		c.given.some[i].used = true
		for pair := range strings.SplitSeq(value, ",") {
			argument, name, _ := strings.Cut(pair, "=")
			h := tenon.ArgumentHeader{Argument: argument, Header: name}
			t.ArgumentHeaders = slices.DeleteFunc(t.ArgumentHeaders, func(x tenon.ArgumentHeader) bool { return x.Argument == argument }) // the last one counts
			t.ArgumentHeaders = append(t.ArgumentHeaders, h)
		}
	}
}

func (c *headerChoice) patterns(used map[string]bool) {
	plain := choice{}
	for _, s := range c.given.some {
		plain.some = append(plain.some, c.plain(s))
	}
	plain.patterns("mcp-header", used)
}

// viewChoices say what callers get to see of answers. All but fields are for
// some tools only: what one tool answers has nothing in common with what
// another does.
type viewChoices struct {
	all      string // fields for all tools
	fields   choice // on or off
	selected choice // paths, with commas between them
	jq       choice // a filter
	jqSchema choice // a file
}

// newViewChoices reads the values. What cannot be read stops the start.
func newViewChoices(o *SourceOptions) (viewChoices, error) {
	c := viewChoices{all: o.Fields.All, fields: newChoice(o.Fields), selected: newChoice(o.Select), jq: newChoice(o.JQ), jqSchema: newChoice(o.JQSchema)}
	for _, s := range append([]ToolValue{{Value: o.Fields.All}}, o.Fields.Tools...) {
		if s.Value != "" && s.Value != "on" && s.Value != "off" {
			return c, invalid("fields", " is on or off, not %q", s.Value)
		}
	}
	for _, only := range []struct{ setting, given, example string }{
		{"select", o.Select.All, "listBooks=items[].id"}, {"jq", o.JQ.All, "listBooks=.items"}, {"jq-schema", o.JQSchema.All, "listBooks=books.schema.json"},
	} {
		if only.given != "" {
			return c, invalid(only.setting, " is for one tool, such as %s, not %q alone", only.example, clipped(only.given))
		}
	}
	for _, s := range o.JQ.Tools {
		if _, err := jq.Compile(s.Value); err != nil {
			return c, invalid("jq", " %s: %v", s.Pattern, err)
		}
	}
	for i, s := range c.jqSchema.some {
		text, err := os.ReadFile(s.Value)
		if err != nil {
			return c, &tenon.Error{Code: tenon.CodeUsage, Message: fmt.Sprintf("--jq-schema %s: %s cannot be read", s.Pattern, s.Value), Err: err}
		}
		c.jqSchema.some[i].Value = string(text)
	}
	return c, nil
}

func (c *viewChoices) tool(source string, t *tenon.Tool) {
	switch fields := c.fields.of(source, t); {
	case fields != "":
		t.Fields = fields == "on"
	case c.all != "":
		t.Fields = c.all == "on"
	}
	if paths := c.selected.of(source, t); paths != "" {
		t.Projection.Select = strings.Split(paths, ",")
	}
	if text := c.jq.of(source, t); text != "" {
		if f, err := jq.Compile(text); err == nil { // it was checked
			t.Projection.Filter = f
		}
	}
	if schema := c.jqSchema.of(source, t); schema != "" {
		t.Projection.Schema = []byte(schema)
	}
}

func (c *viewChoices) patterns(used map[string]bool) {
	c.fields.patterns("fields", used)
	c.selected.patterns("select", used)
	c.jq.patterns("jq", used)
	c.jqSchema.patterns("jq-schema", used)
}

func (c *viewChoices) forget() {
	c.fields.forget()
	c.selected.forget()
	c.jq.forget()
	c.jqSchema.forget()
}
