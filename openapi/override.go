package openapi

import (
	"encoding/json"
	"fmt"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// OperationOverride is how operations are offered otherwise than their document says. The
// zero value of a member leaves things as they are; of several changes of one
// operation, the later wins.
type OperationOverride struct {
	Operations  string              // a rule as in Choice, which must match something; empty: all operations
	Name        string              // of the tool
	Title       string              // for people
	Description string              // for the model
	Safe        *bool               // true: it changes nothing, whatever its method; false: it may change something
	Destructive *bool               // it may destroy what is there
	Idempotent  *bool               // twice has the effect of once
	OpenWorld   *bool               // it talks to things outside the upstream's own domain
	Parameters  []ParameterOverride // each must be a parameter of one of the operations
}

// ParameterOverride is how one parameter is offered otherwise.
type ParameterOverride struct {
	Name        string          // as the upstream knows it; "body" is the whole body
	Rename      string          // name of the argument
	Description string          // for the model
	Hide        bool            // it is no argument and is not sent; a parameter that is required can only be fixed
	Fix         json.RawMessage // it is no argument; this value is always sent
}

// change is a Change that was read.
type change struct {
	OperationOverride
	matches func(Subject) bool
	reached bool
	used    []bool // by the parameters
}

func readChanges(list []OperationOverride) ([]*change, error) {
	all := make([]*change, 0, len(list))
	for _, c := range list {
		r := &change{OperationOverride: c, used: make([]bool, len(c.Parameters))}
		if c.Operations != "" {
			var err error
			if r.matches, err = readRule(c.Operations); err != nil {
				return nil, usage(fmt.Errorf("change of %q: %w", c.Operations, err))
			}
		}
		for _, p := range c.Parameters {
			switch {
			case p.Name == "":
				return nil, usage(fmt.Errorf("change of %q: a parameter has no name", c.Operations))
			case p.Fix != nil && rawjson.Check(p.Fix) != nil:
				return nil, usage(fmt.Errorf("change of %q: the value of %s is not JSON", c.Operations, p.Name))
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// changesOf returns the changes that concern o: those of the document, then
// those of the operator.
func (a *api) changesOf(o *operation) (all []*change) {
	if c := o.own(); c != nil {
		all = append(all, c)
	}
	if len(a.changes) == 0 {
		return all
	}
	s := o.subject()
	for _, c := range a.changes {
		if c.matches == nil || c.matches(s) {
			c.reached = true
			all = append(all, c)
		}
	}
	return all
}

// own is what the operation says of itself by x-mcp-…; nil: nothing.
func (o *operation) own() *change {
	if !o.node.file.extended() {
		return nil
	}
	c := OperationOverride{Name: o.node.strAt("x-mcp-name"), Title: o.node.strAt("x-mcp-title"), Description: o.node.strAt("x-mcp-description")}
	some := c.Name+c.Title+c.Description != ""
	for key, to := range map[string]**bool{
		"x-mcp-safe": &c.Safe, "x-mcp-destructive": &c.Destructive, "x-mcp-idempotent": &c.Idempotent, "x-mcp-open-world": &c.OpenWorld,
	} {
		if v := o.node.get(key); v.kind() == rawjson.Bool {
			is := o.node.isTrue(key)
			*to, some = &is, true
		}
	}
	if !some {
		return nil
	}
	if !o.api.options.TrustMarks {
		o.distrust(&c)
	}
	return &change{OperationOverride: c}
}

// said returns the last of the changes of o that says something.
func said[T comparable](o *operation, of func(*OperationOverride) T, otherwise T) T {
	var nothing T
	for _, c := range o.changes {
		if v := of(&c.OperationOverride); v != nothing {
			otherwise = v
		}
	}
	return otherwise
}

// settleSafe decides whether o changes nothing. What destroys does change
// something, unless the same voice or a later one says that it is safe.
func (o *operation) settleSafe() {
	destroys := said(o, func(c *OperationOverride) *bool { return c.Destructive }, nil)
	o.safe = isSafe(o.method) && (destroys == nil || !*destroys)
	if s := said(o, func(c *OperationOverride) *bool { return c.Safe }, nil); s != nil {
		o.safe = *s
	}
}

// unreached is an error for a change that concerns nothing: what was to be
// hidden or marked unsafe must not be offered because of a typing error.
func (a *api) unreached(operations []*operation) error {
	for _, o := range operations {
		for _, c := range o.changes {
			if len(c.Parameters) > 0 {
				o.planned() // which uses them
				break
			}
		}
	}
	for _, c := range a.changes {
		if !c.reached && c.matches != nil {
			return usage(fmt.Errorf("the change of %q concerns no operation", c.Operations))
		}
		for i, used := range c.used {
			if !used {
				return usage(fmt.Errorf("the change of %q: no operation that it concerns has the parameter %s", c.Operations, c.Parameters[i].Name))
			}
		}
	}
	return nil
}

// altered is what becomes of a parameter.
type altered struct {
	description string
	hidden      bool
	fixed       []byte // JSON; nil: the caller says
}

// alter applies the changes to a parameter or the body. arg is changed where it
// is renamed.
func (o *operation) alter(p *plan, name string, required bool, arg *string) (a altered) {
	for _, c := range o.changes {
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
			if pc.Fix != nil {
				a.fixed = pc.Fix
			}
		}
	}
	if a.hidden && a.fixed == nil && required {
		p.fault(o, o.node, "parameter "+name+" is required and cannot be hidden: fix its value")
		a.hidden = false
	}
	a.hidden = a.hidden || a.fixed != nil
	return a
}

func (c *change) use(i int) {
	if !c.used[i] { // written while loading, only read later
		c.used[i] = true
	}
}

// settle applies the changes to the parameters of a plan, whose arguments keep
// different names.
func (p *plan) settle(o *operation) {
	if len(o.changes) == 0 {
		return
	}
	taken := map[string]bool{}
	for i := range p.params {
		q := &p.params[i]
		q.altered = o.alter(p, q.name, q.required, &q.arg)
		q.arg = free(taken, q.arg)
	}
	if p.body.exists() && p.body.arg != "" {
		p.body.altered = o.alter(p, "body", p.body.required, &p.body.arg)
		p.body.arg = free(taken, p.body.arg)
	}
}

// withFixed adds the values that the caller does not say to the arguments.
func (p *plan) withFixed(args []byte) []byte {
	var add []byte
	fix := func(arg string, a altered) {
		if a.fixed != nil {
			add = append(append(append(rawjson.AppendString(append(add, ','), arg), ':'), a.fixed...), ' ')
		}
	}
	for i := range p.params {
		fix(p.params[i].arg, p.params[i].altered)
	}
	fix(p.body.arg, p.body.altered)
	if add == nil {
		return args
	}
	doc, err := rawjson.Parse(args)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
		return args // what is wrong with them is said elsewhere
	}
	out := []byte{'{'}
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		out = append(append(append(rawjson.AppendString(out, doc.Key(n)), ':'), doc.Raw(n)...), ',')
	}
	return append(append(out, add[1:]...), '}')
}
