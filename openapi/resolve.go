package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxHops is how many references may follow each other.
const maxHops = 32

var errReferenceLoop = errors.New("the reference leads back to itself")

// resolve finds what a reference in the document means: "#", "#/…" or the
// name of an anchor. Other files and URLs are refused.
func (d *document) resolve(ref string) (value, error) { return d.resolveIn(d.root.file, ref) }

// resolveIn resolves a reference that was seen in a file.
func (d *document) resolveIn(f *file, ref string) (value, error) {
	address, fragment, _ := strings.Cut(ref, "#")
	if address != "" {
		return value{}, fmt.Errorf("reference %.200q leads to another document; only references inside the document are supported", ref)
	}
	if ref == "" {
		return value{}, errors.New("the reference is empty")
	}
	raw := fragment
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	for _, ptr := range []string{fragment, raw} { // a name may hold a percent sign that encodes nothing
		if n := d.locate(f, ptr, 0); n != rawjson.None {
			return value{f, n}, nil
		}
	}
	return value{}, fmt.Errorf("reference %.200q leads nowhere", ref)
}

// targets remembers what references mean: a document has far fewer targets
// than references to them.
type targets struct {
	mu    sync.RWMutex
	known map[string]value // by the text of the reference in the source
}

// targetOf is resolve for the string that ref is.
func (d *document) targetOf(ref value) (value, error) {
	raw := ref.raw()
	d.targets.mu.RLock()
	target, ok := d.targets.known[string(raw)]
	d.targets.mu.RUnlock()
	if ok {
		return target, nil
	}
	target, err := d.resolveIn(ref.file, ref.str())
	if err != nil {
		return value{}, err
	}
	d.targets.mu.Lock()
	defer d.targets.mu.Unlock()
	if d.targets.known == nil {
		d.targets.known = make(map[string]value)
	}
	d.targets.known[string(raw)] = target
	return target, nil
}

// locate finds the target of a decoded fragment.
func (d *document) locate(f *file, fragment string, hops int) rawjson.Node {
	if fragment != "" && fragment[0] != '/' {
		if a, ok := d.anchors()[fragment]; ok {
			return a.node
		}
		return rawjson.None
	}
	if n := f.doc.Pointer(fragment); n != rawjson.None {
		return n
	}
	return d.locateLeniently(f, fragment, hops)
}

// locateLeniently follows pointers that are not quite right but have only one
// meaning: a slash in a name that is not escaped, and a way through a
// reference.
func (d *document) locateLeniently(f *file, ptr string, hops int) rawjson.Node {
	const maxTokens = 64
	tokens := strings.Split(strings.TrimPrefix(ptr, "/"), "/")
	n := f.doc.Root()
	for len(tokens) > 0 && len(tokens) <= maxTokens {
		next, used := step(f.doc, n, tokens)
		if used == 0 {
			return d.through(f, n, tokens, hops)
		}
		n, tokens = next, tokens[used:]
	}
	if len(tokens) > 0 {
		return rawjson.None
	}
	return n
}

// step goes from n along the first token or, where that leads nowhere, along
// the first few as one name. used is 0 if there is no way.
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

// through goes on behind the reference that n is.
func (d *document) through(f *file, n rawjson.Node, tokens []string, hops int) rawjson.Node {
	ref := f.doc.Str(f.doc.Get(n, "$ref"))
	fragment, local := strings.CutPrefix(ref, "#/")
	if !local || hops >= maxHops {
		return rawjson.None
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	return d.locate(f, "/"+fragment+"/"+strings.Join(tokens, "/"), hops+1)
}

// deref follows the references of objects that are not schemas. What is no
// reference is its own target, absent values included.
func (d *document) deref(v value) (value, error) {
	for range maxHops {
		ref := v.get("$ref")
		if ref.kind() != rawjson.String {
			return v, nil
		}
		var err error
		if v, err = d.resolveIn(v.file, ref.str()); err != nil {
			return value{}, err
		}
	}
	return value{}, errReferenceLoop
}

// anchor is a schema that names itself.
type anchor struct {
	node    rawjson.Node // the first of the name
	dynamic int          // how many give themselves the name by $dynamicAnchor
}

// anchorsOf finds the schemas that name themselves with $anchor or
// $dynamicAnchor. What is no schema but data is not looked into.
func anchorsOf(doc *rawjson.Doc) map[string]anchor {
	anchors := make(map[string]anchor)
	var visit func(n rawjson.Node)
	visit = func(n rawjson.Node) {
		for c := doc.First(n); c != rawjson.None; c = doc.Next(c) {
			switch key := string(doc.RawKey(c)); {
			case key == "$anchor" || key == "$dynamicAnchor":
				addAnchor(anchors, doc.Str(c), n, key == "$dynamicAnchor")
			case key == "example" || key == "examples" || key == "default" || key == "enum" || key == "const" || strings.HasPrefix(key, "x-"):
			default:
				visit(c)
			}
		}
	}
	visit(doc.Root())
	return anchors
}

func addAnchor(anchors map[string]anchor, name string, n rawjson.Node, dynamic bool) {
	if name == "" {
		return
	}
	a, taken := anchors[name]
	if !taken {
		a.node = n
	}
	if dynamic {
		a.dynamic++
	}
	anchors[name] = a
}
