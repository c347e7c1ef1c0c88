package openapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// OperationOverride changes how operations are offered. A zero field changes
// nothing; of several overrides of one operation, the last wins.
type OperationOverride struct {
	Operations  string              // a selector as in Selection, which must match an operation; empty: all operations
	Name        string              // of the tool
	Title       string              // for people
	Description string              // for the model
	Safe        *bool               // true: it changes nothing, whatever its method; false: it may change something
	Destructive *bool               // it may delete or overwrite data
	Idempotent  *bool               // repeating it has no further effect
	OpenWorld   *bool               // it interacts with systems outside the upstream's own domain
	Parameters  []ParameterOverride // each must name a parameter of a matching operation
}

// ParameterOverride changes how a parameter is offered.
type ParameterOverride struct {
	Name        string          // its name at the upstream; "body" is the whole body
	Rename      string          // name of the argument
	Description string          // for the model
	Hide        bool            // not an argument and not sent; a required parameter needs Fix instead
	Const       json.RawMessage // not an argument; always sent with this value
}

// override is a parsed override.
type override struct {
	OperationOverride
	matches func(Subject) bool
	matched bool
	used    []bool // by parameter
}

func parseOverrides(list []OperationOverride) ([]*override, error) {
	all := make([]*override, 0, len(list))
	for _, c := range list {
		r := &override{OperationOverride: c, used: make([]bool, len(c.Parameters))}
		if c.Operations != "" {
			var err error
			if r.matches, err = parseSelector(c.Operations); err != nil {
				return nil, usage(fmt.Errorf("override of %q: %w", c.Operations, err))
			}
		}
		for _, p := range c.Parameters {
			switch {
			case p.Name == "":
				return nil, usage(fmt.Errorf("override of %q: a parameter has no name", c.Operations))
			case p.Const != nil && rawjson.Check(p.Const) != nil:
				return nil, usage(fmt.Errorf("override of %q: the value of %s is not JSON", c.Operations, p.Name))
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// overridesOf returns the overrides of o: that of the document, then those of the
// operator.
func (a *api) overridesOf(o *operation) (all []*override) {
	if c := o.documentOverride(); c != nil {
		all = append(all, c)
	}
	if len(a.overrides) == 0 {
		return all
	}
	s := o.subject()
	for _, c := range a.overrides {
		if c.matches == nil || c.matches(s) {
			c.matched = true
			all = append(all, c)
		}
	}
	return all
}

// documentOverride returns the operation's own override from its x-mcp-… members, or nil.
func (o *operation) documentOverride() *override {
	if !o.node.File.MayHaveExtensions() {
		return nil
	}
	c := OperationOverride{Name: o.node.StrAt("x-mcp-name"), Title: o.node.StrAt("x-mcp-title"), Description: o.node.StrAt("x-mcp-description")}
	some := c.Name+c.Title+c.Description != ""
	for key, to := range map[string]**bool{
		"x-mcp-safe": &c.Safe, "x-mcp-destructive": &c.Destructive, "x-mcp-idempotent": &c.Idempotent, "x-mcp-open-world": &c.OpenWorld,
	} {
		if v := o.node.Get(key); v.Kind() == rawjson.Bool {
			is := o.node.IsTrue(key)
			*to, some = &is, true
		}
	}
	if !some {
		return nil
	}
	if !o.api.options.TrustMarks {
		o.dropUntrustedMarks(&c)
	}
	return &override{OperationOverride: c}
}

// lastOverride returns the last value that an override of o sets.
func lastOverride[T comparable](o *operation, of func(*OperationOverride) T, otherwise T) T {
	var nothing T
	for _, c := range o.overrides {
		if v := of(&c.OperationOverride); v != nothing {
			otherwise = v
		}
	}
	return otherwise
}

// resolveSafe decides whether o is safe. A destructive operation is not, unless
// the same or a later override says that it is.
func (o *operation) resolveSafe() {
	destroys := lastOverride(o, func(c *OperationOverride) *bool { return c.Destructive }, nil)
	o.safe = isSafe(o.method) && (destroys == nil || !*destroys)
	if s := lastOverride(o, func(c *OperationOverride) *bool { return c.Safe }, nil); s != nil {
		o.safe = *s
	}
}

// checkUnusedOverrides returns an error for an override without effect: because of a
// typing error, something would be offered that was to be hidden or marked
// unsafe.
func (a *api) checkUnusedOverrides(operations []*operation) error {
	for _, o := range operations {
		for _, c := range o.overrides {
			if len(c.Parameters) > 0 {
				o.planned() // reads the parameter overrides
				break
			}
		}
	}
	for _, c := range a.overrides {
		if !c.matched && c.matches != nil {
			return usage(fmt.Errorf("the override of %q matches no operation", c.Operations))
		}
		for i, used := range c.used {
			if !used {
				return usage(fmt.Errorf("the override of %q: no matching operation has the parameter %s", c.Operations, c.Parameters[i].Name))
			}
		}
	}
	return nil
}

// overridden is the effect of overrides on a parameter.
type overridden struct {
	description string
	hidden      bool
	fixed       []byte // JSON; nil: an argument of the caller
}

// overrideParameter applies the overrides to a parameter or the body, and renames its
// argument.
func (o *operation) overrideParameter(p *plan, name string, required bool, arg *string) (a overridden) {
	for _, c := range o.overrides {
		for i, pc := range c.Parameters {
			if pc.Name != name {
				continue
			}
			c.use(i)
			if pc.Rename != "" {
				*arg = argumentName(pc.Rename)
			}
			if pc.Description != "" {
				a.description = pc.Description
			}
			a.hidden = a.hidden || pc.Hide
			if pc.Const != nil {
				a.fixed = pc.Const
			}
		}
	}
	if a.hidden && a.fixed == nil && required {
		p.addDiagnostic(o, o.node, "parameter "+name+" is required and cannot be hidden: set a fixed value")
		a.hidden = false
	}
	a.hidden = a.hidden || a.fixed != nil
	return a
}

func (c *override) use(i int) {
	if !c.used[i] { // written only while loading
		c.used[i] = true
	}
}

// overrideParameters applies the overrides to the parameters of a plan and keeps argument
// names unique.
func (p *plan) overrideParameters(o *operation) {
	if len(o.overrides) == 0 {
		return
	}
	taken := map[string]bool{}
	for i := range p.params {
		q := &p.params[i]
		q.overridden = o.overrideParameter(p, q.name, q.required, &q.arg)
		q.arg = uniqueName(taken, q.arg)
	}
	if p.body.isArgument() && p.body.arg != "" {
		p.body.overridden = o.overrideParameter(p, "body", p.body.required, &p.body.arg)
		p.body.arg = uniqueName(taken, p.body.arg)
	}
}

// withFixed adds the fixed values to the arguments.
func (p *plan) withFixed(args []byte) []byte {
	var add []byte
	fix := func(arg string, a overridden) {
		if a.fixed != nil {
			add = append(append(append(rawjson.AppendString(append(add, ','), arg), ':'), a.fixed...), ' ')
		}
	}
	for i := range p.params {
		fix(p.params[i].arg, p.params[i].overridden)
	}
	fix(p.body.arg, p.body.overridden)
	if add == nil {
		return args
	}
	doc, err := rawjson.Parse(args)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
		return args // reported by the caller
	}
	out := []byte{'{'}
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		out = append(append(append(rawjson.AppendString(out, doc.Key(n)), ':'), doc.Raw(n)...), ',')
	}
	return append(append(out, add[1:]...), '}')
}

// Rule of this file: extensions in a document may make its operations more
// restricted than their methods imply, never less. The author of the document
// decides neither what --read-only includes nor what requires confirmation; the
// operator does, by trusting the document (Options.TrustMarks) or marking
// operations.

// ignoredMark is an extension that has no effect.
type ignoredMark struct {
	at   document.Value
	what string
}

// dropUntrustedMarks removes from c, which the document sets for o, the values that are
// less restricted than the method.
func (o *operation) dropUntrustedMarks(c *OperationOverride) {
	additive := o.method == "POST" && !o.hasDestructiveName()
	for _, m := range []struct {
		name     string
		mark     **bool
		harmless bool // the less restricted value
		anyway   bool // the method implies it
	}{
		{"x-mcp-safe", &c.Safe, true, isSafe(o.method)},
		{"x-mcp-destructive", &c.Destructive, false, isSafe(o.method) || additive},
		{"x-mcp-idempotent", &c.Idempotent, true, isIdempotentMethod(o.method)},
		{"x-mcp-open-world", &c.OpenWorld, false, false},
	} {
		if *m.mark == nil || **m.mark != m.harmless || m.anyway {
			continue
		}
		*m.mark = nil
		o.api.ignoredMarks = append(o.api.ignoredMarks, ignoredMark{o.node, fmt.Sprintf("%s of %s %s", m.name, o.method, o.path)})
	}
}

// ignoredMarkDiagnostics reports the extensions without effect, in one diagnostic.
func (a *api) ignoredMarkDiagnostics() []tenon.Diagnostic {
	const shown = 3
	n := len(a.ignoredMarks)
	if n == 0 {
		return nil
	}
	names := make([]string, 0, shown)
	for _, u := range a.ignoredMarks[:min(n, shown)] {
		names = append(names, u.what)
	}
	what := "marks of the document that declare an operation safer than its method are ignored: " + strings.Join(names, ", ")
	if n > shown {
		what += fmt.Sprintf(" and %d more", n-shown)
	}
	return []tenon.Diagnostic{a.doc.Diagnostic(a.ignoredMarks[0].at, what, "use --mark-safe SELECTOR for an operation or --trust-marks for the whole document")}
}
