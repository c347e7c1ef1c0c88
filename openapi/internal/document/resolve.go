package document

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// MaxHops bounds a chain of references.
const MaxHops = 32

var errReferenceLoop = errors.New("the reference refers to itself")

// resolve resolves a reference in the document's main file.
func (d *Document) resolve(ref string) (Value, error) {
	return d.ResolveIn(Value{d.Root.File, rawjson.None}, ref)
}

// ResolveIn resolves a reference at a place: "#", "#/…" or an anchor in the
// place's own file, or the same in another file or a schema with that $id.
func (d *Document) ResolveIn(from Value, ref string) (Value, error) {
	if ref == "" {
		return Value{}, errors.New("the reference is empty")
	}
	addressed, fragment, _ := strings.Cut(ref, "#")
	home, err := d.scopeOf(from, addressed)
	if err != nil {
		return Value{}, fmt.Errorf("cannot resolve reference %.200q: %w", ref, err)
	}
	if target := d.within(home, fragment); target.OK() {
		return target, nil
	}
	// Authors write other files as if they were parts of the main file, and a
	// schema with an $id as if it had none.
	if addressed == "" && home != d.Root {
		for _, other := range []Value{{home.File, home.File.Doc.Root()}, d.Root} {
			if target := d.within(other, fragment); target.OK() {
				return target, nil
			}
		}
	}
	return Value{}, fmt.Errorf("cannot resolve reference %.200q: no such target", ref)
}

// scopeOf returns the file, or the schema with an $id, to which a fragment is
// relative.
func (d *Document) scopeOf(from Value, addressed string) (Value, error) {
	if id, base := d.enclosing(from); addressed == "" {
		return id, nil
	} else if named, ok := d.schemaNamed(base, addressed); ok {
		return named, nil
	}
	at, err := d.library.addressFrom(from.File.Address, addressed)
	if err != nil {
		return Value{}, err
	}
	f, err := d.library.open(at)
	if err != nil {
		return Value{}, err
	}
	return Value{f, f.Doc.Root()}, nil
}

// within finds a fragment in a file or a schema with an $id.
func (d *Document) within(home Value, fragment string) Value {
	raw := fragment
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	for _, ptr := range []string{fragment, raw} { // a name may contain a literal percent sign
		if v := d.locate(home, ptr, 0); v.OK() {
			return v
		}
		if ptr == raw {
			break
		}
	}
	return Value{}
}

// targets caches resolved references: a document has far fewer targets than
// references.
type targets struct {
	mu    sync.RWMutex
	known map[targetKey]Value
}

// targetKey is the text of a reference and the scope in which the text has one
// meaning.
type targetKey struct {
	file *File
	text string
}

// Target resolves the reference that is the string ref.
func (d *Document) Target(ref Value) (Value, error) {
	if ref.File.named() { // the meaning of a text depends on the place
		return d.ResolveIn(ref, ref.Str())
	}
	raw := ref.Raw()
	d.targets.mu.RLock()
	target, ok := d.targets.known[targetKey{ref.File, string(raw)}]
	d.targets.mu.RUnlock()
	if ok {
		return target, nil
	}
	target, err := d.ResolveIn(ref, ref.Str())
	if err != nil {
		return Value{}, err
	}
	d.targets.mu.Lock()
	defer d.targets.mu.Unlock()
	if d.targets.known == nil {
		d.targets.known = make(map[targetKey]Value)
	}
	d.targets.known[targetKey{ref.File, string(raw)}] = target
	return target, nil
}

// locate finds the target of a decoded fragment.
func (d *Document) locate(home Value, fragment string, hops int) Value {
	if fragment == "" {
		return home
	}
	if fragment[0] != '/' {
		return home.anchor(fragment)
	}
	if home.Node == home.File.Doc.Root() {
		if n := home.File.Doc.Pointer(fragment); n != rawjson.None {
			return Value{home.File, n}
		}
	}
	return d.locateLeniently(home, fragment, hops)
}

// locateLeniently follows pointers that start at a schema, and incorrect but
// unambiguous ones: with an unescaped slash in a name, or through a reference.
func (d *Document) locateLeniently(home Value, ptr string, hops int) Value {
	const maxTokens = 64
	tokens := strings.Split(strings.TrimPrefix(ptr, "/"), "/")
	if len(tokens) > maxTokens {
		return Value{}
	}
	doc, n := home.File.Doc, home.Node
	for len(tokens) > 0 {
		next, used := step(doc, n, tokens)
		if used == 0 {
			return d.through(Value{home.File, n}, tokens, hops)
		}
		n, tokens = next, tokens[used:]
	}
	return Value{home.File, n}
}

// step goes from n along the first token or, if there is no such member, along
// the first few tokens as one name. used is 0 if neither exists.
func step(doc *rawjson.Doc, n rawjson.Node, tokens []string) (next rawjson.Node, used int) {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	if doc.Kind(n) == rawjson.Array {
		index, err := strconv.Atoi(tokens[0])
		if err != nil || index < 0 || index >= doc.Len(n) {
			return rawjson.None, 0
		}
		for next = doc.First(n); index > 0; index-- {
			next = doc.Next(next)
		}
		return next, 1
	}
	for used = 1; used <= len(tokens); used++ {
		if next = doc.Get(n, unescape.Replace(strings.Join(tokens[:used], "/"))); next != rawjson.None {
			return next, used
		}
	}
	return rawjson.None, 0
}

// through continues behind the reference that v is.
func (d *Document) through(v Value, tokens []string, hops int) Value {
	ref := v.StrAt("$ref")
	if ref == "" || hops >= MaxHops {
		return Value{}
	}
	addressed, fragment, _ := strings.Cut(ref, "#")
	home, err := d.scopeOf(v, addressed)
	if err != nil {
		return Value{}
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	if fragment != "" && fragment[0] != '/' {
		home, fragment = home.anchor(fragment), ""
		if !home.OK() {
			return Value{}
		}
	}
	return d.locate(home, fragment+"/"+strings.Join(tokens, "/"), hops+1)
}

// Deref follows the references of objects that are not schemas. A value that is
// not a reference, also an absent one, is returned as it is.
func (d *Document) Deref(v Value) (Value, error) {
	for range MaxHops {
		ref := v.Get("$ref")
		if ref.Kind() != rawjson.String {
			return v, nil
		}
		var err error
		if v, err = d.ResolveIn(ref, ref.Str()); err != nil {
			return Value{}, err
		}
	}
	return Value{}, errReferenceLoop
}

// Follow is deref that returns no value for a broken reference.
func (d *Document) Follow(v Value) Value {
	target, err := d.Deref(v)
	if err != nil {
		return Value{}
	}
	return target
}

// Properties iterates over the properties of an object's schema, including
// those of the schemas that it is composed of.
func (d *Document) Properties(schema Value, depth int, yield func(name string, v Value)) {
	const maxDepth = 8
	schema = d.Follow(schema)
	if !schema.OK() || depth > maxDepth {
		return
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range schema.Get(key).Each() {
			d.Properties(part, depth+1, yield)
		}
	}
	for name, v := range schema.Get("properties").Each() {
		yield(name, d.Follow(v))
	}
}
