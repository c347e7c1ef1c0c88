package convert

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// Definition is a schema that others refer to, converted for one direction. It
// is converted when first needed and shared by all tools: a tool's schema is a
// few bytes of its own and copies of these.
type Definition struct {
	Name string // under $defs

	fragment func() Fragment // converts the definition once; a panic is repeated
}

// IsReferenceIn reports whether body is nothing but a reference to the definition.
func (d *Definition) IsReferenceIn(body []byte) bool {
	name, ok := bytes.CutPrefix(body, []byte(`{"$ref":"#/$defs/`))
	return ok && len(name) == len(d.Name)+2 && string(name[:len(d.Name)]) == d.Name
}

// definitions are those of one document.
type definitions struct {
	mu    sync.Mutex
	made  [directions]map[document.Value]*Definition // by direction
	named map[document.Value]string
	names map[string]document.Value
}

// definition returns the definition of the schema at target. It is converted
// later, so references may be circular.
func (d *Converter) definition(target document.Value, dir Direction) *Definition {
	d.defs.mu.Lock()
	defer d.defs.mu.Unlock()
	if known := d.defs.made[dir][target]; known != nil {
		return known
	}
	name := d.nameOf(target)
	def := &Definition{Name: name}
	def.fragment = sync.OnceValue(func() Fragment {
		c := schemaWriter{Converter: d, file: target.File, doc: target.File.Doc, dir: dir, self: target.Node, hiddenOf: rawjson.None}
		return c.convert(target.Node)
	})
	if d.defs.made[dir] == nil {
		d.defs.made[dir] = make(map[document.Value]*Definition)
	}
	d.defs.made[dir][target] = def
	return def
}

// nameOf gives each target a unique name, which does not depend on direction or
// order of conversion: a component with a valid name keeps it, anything else
// gets one with a hash of its location.
func (d *Converter) nameOf(target document.Value) string {
	if name, ok := d.defs.named[target]; ok {
		return name
	}
	name := d.proposeName(target)
	for n, free := 2, name; ; n++ { // two hashes collide, or a component already has the name
		if _, taken := d.defs.names[free]; !taken {
			name = free
			break
		}
		free = fmt.Sprintf("%s_%d", name, n)
	}
	if d.defs.named == nil {
		d.defs.named, d.defs.names = make(map[document.Value]string), make(map[string]document.Value)
	}
	d.defs.named[target], d.defs.names[name] = name, target
	return name
}

// Described returns what the definition with this name was made from; not ok if there is
// none.
func (d *Converter) Described(name string) document.Value {
	d.defs.mu.Lock()
	defer d.defs.mu.Unlock()
	return d.defs.names[name]
}

func (d *Converter) proposeName(target document.Value) string {
	home := d.Root.Get("components").Get("schemas")
	if d.Version == document.V20 {
		home = d.Root.Get("definitions")
	}
	key := target.File.Doc.Key(target.Node)
	component := key != "" && home.Get(key) == target
	if component && isPlainName(key) {
		return key
	}
	path := document.PathTo(target)
	h := fnv.New32a()
	if target.File != d.Root.File {
		_, _ = h.Write([]byte(target.File.Address.String() + "\x00")) // never fails
	}
	for _, token := range path {
		_, _ = h.Write([]byte(token + "\x00")) // never fails
	}
	readable := key
	if !component {
		readable = strings.Join(path[max(0, len(path)-3):], ".")
	}
	if readable == "" { // a whole file
		readable = target.File.Address.BaseName()
	}
	return fmt.Sprintf("%s_%08x", sanitise(readable), h.Sum32())
}

// isPlainName reports whether a name needs no escape in a reference and differs
// from generated names.
func isPlainName(name string) bool {
	if name == "" || len(name) > 128 || sanitise(name) != name {
		return false
	}
	i := strings.LastIndexByte(name, '_')
	return i < 0 || len(name)-i-1 != 8 || strings.Trim(name[i+1:], "0123456789abcdef") != ""
}

// sanitise replaces the characters of a name that are not legal in the name of
// a component, and cuts it to 128 bytes.
func sanitise(name string) string {
	var b strings.Builder
	for _, c := range []byte(name[:min(len(name), 128)]) {
		legal := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
		if !legal {
			c = '_'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Assemble makes body, a JSON object, a self-contained document: it adds
// "$defs" with all that body needs, sorted by name, so that the same schema
// always has the same bytes. A body that is only a reference is replaced by its
// target, unless that refers to itself.
func Assemble(body []byte, deps ...[]*Definition) []byte {
	if len(deps) == 1 && len(deps[0]) == 1 && deps[0][0].IsReferenceIn(body) {
		last := resolveAlias(deps[0][0])
		root := last.fragment()
		body, deps = root.Body, [][]*Definition{root.Deps}
		if slices.Contains(closure(root.Deps), last) {
			body, deps = fmt.Appendf(nil, `{"$ref":"#/$defs/%s"}`, last.Name), [][]*Definition{{last}}
		}
	}
	needed := closure(deps...)
	if len(needed) == 0 {
		return slices.Clone(body)
	}
	size := len(body) + len(`,"$defs":{}`)
	for _, d := range needed {
		size += len(d.Name) + len(d.fragment().Body) + len(`"":,`)
	}
	dst := append(make([]byte, 0, size), body[:len(body)-1]...)
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(dst, `"$defs":{`...)
	for i, d := range needed {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), d.Name...), `":`...)
		dst = append(dst, d.fragment().Body...)
	}
	return append(dst, '}', '}')
}

// Root is the name of the definition that Assemble makes the document itself; empty:
// none.
func Root(body []byte, deps []*Definition) string {
	if len(deps) != 1 || !deps[0].IsReferenceIn(body) {
		return ""
	}
	return resolveAlias(deps[0]).Name
}

// resolveAlias follows definitions that are only a reference to another one.
func resolveAlias(d *Definition) *Definition {
	for passed := map[*Definition]bool{}; !passed[d]; {
		passed[d] = true
		f := d.fragment()
		if len(f.Deps) != 1 || !f.Deps[0].IsReferenceIn(f.Body) {
			break
		}
		d = f.Deps[0]
	}
	return d
}

// closure lists all definitions that deps lead to, sorted by name.
func closure(deps ...[]*Definition) []*Definition {
	var c closureBuilder
	for _, list := range deps {
		c.add(list)
	}
	for i := 0; i < len(c.all); i++ {
		c.add(c.all[i].fragment().Deps)
	}
	slices.SortFunc(c.all, func(a, b *Definition) int { return cmp.Compare(a.Name, b.Name) })
	return c.all
}

// closureBuilder is a closure under construction.
type closureBuilder struct {
	all  []*Definition
	seen map[*Definition]bool // nil: few enough for a linear search
}

func (c *closureBuilder) add(list []*Definition) {
	const few = 16
	for _, d := range list {
		if c.seen == nil && slices.Contains(c.all, d) || c.seen[d] {
			continue
		}
		if c.all = append(c.all, d); len(c.all) <= few {
			continue
		}
		if c.seen == nil {
			c.seen = make(map[*Definition]bool, 4*few)
			for _, d := range c.all {
				c.seen[d] = true
			}
		}
		c.seen[d] = true
	}
}

// cycles finds schemas that apply to the same value in a cycle (Tarjan's
// strongly connected components). Each schema is visited once.
type cycles struct {
	mu    sync.Mutex
	known map[document.Value]*cycleNode
	open  []*cycleNode // the stack of schemas whose component is not known yet
	count int
}

// cycleNode is a schema in the search.
type cycleNode struct {
	order, low int
	component  int // number of its component; 0: not known yet
}

// isCircular reports whether validating a value against self, which refers to
// target, would validate the same value against self again.
func (d *Converter) isCircular(self, target document.Value) bool {
	d.cycles.mu.Lock()
	defer d.cycles.mu.Unlock()
	return self == target || d.component(self).component == d.component(target).component
}

// component finds the component of a schema.
func (d *Converter) component(v document.Value) *cycleNode {
	c := &d.cycles
	if r := c.known[v]; r != nil {
		return r
	}
	if c.known == nil {
		c.known = make(map[document.Value]*cycleNode)
	}
	c.count++
	r := &cycleNode{order: c.count, low: c.count}
	c.known[v] = r
	c.open = append(c.open, r)
	d.appliedSchemas(v, func(to document.Value) {
		if n := d.component(to); n.component == 0 {
			r.low = min(r.low, n.low)
		}
	})
	if r.low == r.order { // the root of its component
		for i := len(c.open) - 1; r.component == 0; i-- {
			c.open[i].component = r.order
			c.open = c.open[:i]
		}
	}
	return r
}

// appliedSchemas yields the schemas that apply to the same value as v.
func (d *Converter) appliedSchemas(v document.Value, yield func(document.Value)) {
	if v.Kind() != rawjson.Object {
		return
	}
	if ref := v.Get("$ref"); ref.Kind() == rawjson.String {
		if t, err := d.Target(ref); err == nil {
			yield(t)
		}
		if d.Legacy() {
			return
		}
	}
	doc := v.File.Doc
	for n := doc.First(v.Node); n != rawjson.None; n = doc.Next(n) {
		m := document.Value{File: v.File, Node: n}
		switch doc.Key(n) {
		case "not", "if", "then", "else":
			yield(m)
		case "allOf", "anyOf", "oneOf", "dependentSchemas":
			for _, e := range m.Each() {
				yield(e)
			}
		case "$dynamicRef":
			if t, err := d.ResolveIn(m, m.Str()); err == nil {
				yield(t)
			}
		}
	}
}
