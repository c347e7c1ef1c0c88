package openapi

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// definition is a schema that others refer to, converted for one direction. It
// is converted when it is first needed and then shared by all tools: a tool's
// schema is its own few bytes and copies of these.
type definition struct {
	name string // under $defs

	fragment func() fragment // converts the definition, once; a panic is kept
}

// isAll reports whether body is a reference to the definition and nothing else.
func (d *definition) isAll(body []byte) bool {
	name, ok := bytes.CutPrefix(body, []byte(`{"$ref":"#/$defs/`))
	return ok && len(name) == len(d.name)+2 && string(name[:len(d.name)]) == d.name
}

// definitions are those of one document.
type definitions struct {
	mu    sync.Mutex
	made  [directions]map[value]*definition // by direction
	named map[value]string
	names map[string]value
}

// definition returns the definition of the schema at target. It is not yet
// converted, so references may be circular.
func (d *document) definition(target value, dir direction) *definition {
	d.defs.mu.Lock()
	defer d.defs.mu.Unlock()
	if known := d.defs.made[dir][target]; known != nil {
		return known
	}
	name := d.nameOf(target)
	def := &definition{name: name}
	def.fragment = sync.OnceValue(func() fragment {
		c := converter{document: d, file: target.file, doc: target.file.doc, dir: dir, self: target.node, hiddenOf: rawjson.None}
		return c.convert(target.node)
	})
	if d.defs.made[dir] == nil {
		d.defs.made[dir] = make(map[value]*definition)
	}
	d.defs.made[dir][target] = def
	return def
}

// nameOf gives each target its own name, the same in both directions and
// whatever is converted first: a component that is legally named keeps its
// name, everything else gets one with a hash of where it stands.
func (d *document) nameOf(target value) string {
	if name, ok := d.defs.named[target]; ok {
		return name
	}
	name := d.proposeName(target)
	for n, free := 2, name; ; n++ { // two hashes met, or the document wants to be clever
		if _, taken := d.defs.names[free]; !taken {
			name = free
			break
		}
		free = fmt.Sprintf("%s_%d", name, n)
	}
	if d.defs.named == nil {
		d.defs.named, d.defs.names = make(map[value]string), make(map[string]value)
	}
	d.defs.named[target], d.defs.names[name] = name, target
	return name
}

func (d *document) proposeName(target value) string {
	home := d.root.get("components").get("schemas")
	if d.version == v20 {
		home = d.root.get("definitions")
	}
	key := target.file.doc.Key(target.node)
	component := key != "" && home.get(key) == target
	if component && isPlainName(key) {
		return key
	}
	path := pathTo(target)
	h := fnv.New32a()
	if target.file != d.root.file {
		_, _ = h.Write([]byte(target.file.at.String() + "\x00")) // never fails
	}
	for _, token := range path {
		_, _ = h.Write([]byte(token + "\x00")) // never fails
	}
	readable := key
	if !component {
		readable = strings.Join(path[max(0, len(path)-3):], ".")
	}
	if readable == "" { // a whole file
		readable = target.file.at.base()
	}
	return fmt.Sprintf("%s_%08x", sanitise(readable), h.Sum32())
}

// isPlainName reports whether a name needs no escape in a reference, and does
// not look like one that we make.
func isPlainName(name string) bool {
	if name == "" || len(name) > 128 || sanitise(name) != name {
		return false
	}
	i := strings.LastIndexByte(name, '_')
	return i < 0 || len(name)-i-1 != 8 || strings.Trim(name[i+1:], "0123456789abcdef") != ""
}

// sanitise keeps of a name what is legal in a component's name, at most 128
// bytes of it.
func sanitise(name string) string {
	var b strings.Builder
	for _, c := range []byte(name[:min(len(name), 128)]) {
		legal := isLetter(c) || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
		if !legal {
			c = '_'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// assemble makes body, a JSON object, a document of its own: it adds "$defs"
// with all that body needs, sorted by name, so that the same schema always has
// the same bytes. A body that is only a reference becomes what it refers to,
// unless that refers to itself.
func assemble(body []byte, deps ...[]*definition) []byte {
	if len(deps) == 1 && len(deps[0]) == 1 && deps[0][0].isAll(body) {
		last := referred(deps[0][0])
		root := last.fragment()
		body, deps = root.body, [][]*definition{root.deps}
		if slices.Contains(closure(root.deps), last) {
			body, deps = fmt.Appendf(nil, `{"$ref":"#/$defs/%s"}`, last.name), [][]*definition{{last}}
		}
	}
	needed := closure(deps...)
	if len(needed) == 0 {
		return slices.Clone(body)
	}
	size := len(body) + len(`,"$defs":{}`)
	for _, d := range needed {
		size += len(d.name) + len(d.fragment().body) + len(`"":,`)
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
		dst = append(append(append(dst, '"'), d.name...), `":`...)
		dst = append(dst, d.fragment().body...)
	}
	return append(dst, '}', '}')
}

// referred follows definitions that are nothing but a reference to another one.
func referred(d *definition) *definition {
	for passed := map[*definition]bool{}; !passed[d]; {
		passed[d] = true
		f := d.fragment()
		if len(f.deps) != 1 || !f.deps[0].isAll(f.body) {
			break
		}
		d = f.deps[0]
	}
	return d
}

// closure lists, by name, all definitions that deps lead to.
func closure(deps ...[]*definition) []*definition {
	var c closing
	for _, list := range deps {
		c.add(list)
	}
	for i := 0; i < len(c.all); i++ {
		c.add(c.all[i].fragment().deps)
	}
	slices.SortFunc(c.all, func(a, b *definition) int { return cmp.Compare(a.name, b.name) })
	return c.all
}

// closing is a closure that is being made.
type closing struct {
	all  []*definition
	seen map[*definition]bool // nil: there are so few that each can be looked at
}

func (c *closing) add(list []*definition) {
	const few = 16
	for _, d := range list {
		if c.seen == nil && slices.Contains(c.all, d) || c.seen[d] {
			continue
		}
		if c.all = append(c.all, d); len(c.all) <= few {
			continue
		}
		if c.seen == nil {
			c.seen = make(map[*definition]bool, 4*few)
			for _, d := range c.all {
				c.seen[d] = true
			}
		}
		c.seen[d] = true
	}
}
