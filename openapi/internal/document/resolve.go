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

// resolve finds what a reference in the document's own file means.
func (d *document) resolve(ref string) (value, error) {
	return d.resolveIn(value{d.root.file, rawjson.None}, ref)
}

// resolveIn resolves a reference that was seen at a place: "#", "#/…" and the
// name of an anchor in the place's own file, or the same behind the address of
// another file or the $id of a schema.
func (d *document) resolveIn(from value, ref string) (value, error) {
	if ref == "" {
		return value{}, errors.New("the reference is empty")
	}
	addressed, fragment, _ := strings.Cut(ref, "#")
	home, err := d.homeOf(from, addressed)
	if err != nil {
		return value{}, fmt.Errorf("reference %.200q cannot be followed: %w", ref, err)
	}
	if target := d.within(home, fragment); target.ok() {
		return target, nil
	}
	// Parts of a document are written as if they stood in the main file, and a
	// schema with an $id as if it had none.
	if addressed == "" && home != d.root {
		for _, other := range []value{{home.file, home.file.doc.Root()}, d.root} {
			if target := d.within(other, fragment); target.ok() {
				return target, nil
			}
		}
	}
	return value{}, fmt.Errorf("reference %.200q leads nowhere", ref)
}

// homeOf is the file or the schema with an $id in which a fragment is looked
// for.
func (d *document) homeOf(from value, addressed string) (value, error) {
	if id, base := d.enclosing(from); addressed == "" {
		return id, nil
	} else if named, ok := d.schemaNamed(base, addressed); ok {
		return named, nil
	}
	at, err := d.library.addressFrom(from.file.at, addressed)
	if err != nil {
		return value{}, err
	}
	f, err := d.library.open(at)
	if err != nil {
		return value{}, err
	}
	return value{f, f.doc.Root()}, nil
}

// within finds a fragment inside of a file or a schema with an $id.
func (d *document) within(home value, fragment string) value {
	raw := fragment
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	for _, ptr := range []string{fragment, raw} { // a name may hold a percent sign that encodes nothing
		if v := d.locate(home, ptr, 0); v.ok() {
			return v
		}
		if ptr == raw {
			break
		}
	}
	return value{}
}

// targets remembers what references mean: a document has far fewer targets
// than references to them.
type targets struct {
	mu    sync.RWMutex
	known map[targetKey]value
}

// targetKey is the text of a reference in the source, and where that text means
// the same.
type targetKey struct {
	file *file
	text string
}

// targetOf is resolve for the string that ref is.
func (d *document) targetOf(ref value) (value, error) {
	if ref.file.named() { // the same text means different things
		return d.resolveIn(ref, ref.str())
	}
	raw := ref.raw()
	d.targets.mu.RLock()
	target, ok := d.targets.known[targetKey{ref.file, string(raw)}]
	d.targets.mu.RUnlock()
	if ok {
		return target, nil
	}
	target, err := d.resolveIn(ref, ref.str())
	if err != nil {
		return value{}, err
	}
	d.targets.mu.Lock()
	defer d.targets.mu.Unlock()
	if d.targets.known == nil {
		d.targets.known = make(map[targetKey]value)
	}
	d.targets.known[targetKey{ref.file, string(raw)}] = target
	return target, nil
}

// locate finds the target of a decoded fragment.
func (d *document) locate(home value, fragment string, hops int) value {
	if fragment == "" {
		return home
	}
	if fragment[0] != '/' {
		return home.anchor(fragment)
	}
	if home.node == home.file.doc.Root() {
		if n := home.file.doc.Pointer(fragment); n != rawjson.None {
			return value{home.file, n}
		}
	}
	return d.locateLeniently(home, fragment, hops)
}

// locateLeniently follows pointers that begin at a schema, and those that are
// not quite right but have only one meaning: a slash in a name that is not
// escaped, and a way through a reference.
func (d *document) locateLeniently(home value, ptr string, hops int) value {
	const maxTokens = 64
	tokens := strings.Split(strings.TrimPrefix(ptr, "/"), "/")
	if len(tokens) > maxTokens {
		return value{}
	}
	doc, n := home.file.doc, home.node
	for len(tokens) > 0 {
		next, used := step(doc, n, tokens)
		if used == 0 {
			return d.through(value{home.file, n}, tokens, hops)
		}
		n, tokens = next, tokens[used:]
	}
	return value{home.file, n}
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

// through goes on behind the reference that v is.
func (d *document) through(v value, tokens []string, hops int) value {
	ref := v.strAt("$ref")
	if ref == "" || hops >= maxHops {
		return value{}
	}
	addressed, fragment, _ := strings.Cut(ref, "#")
	home, err := d.homeOf(v, addressed)
	if err != nil {
		return value{}
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	if fragment != "" && fragment[0] != '/' {
		home, fragment = home.anchor(fragment), ""
		if !home.ok() {
			return value{}
		}
	}
	return d.locate(home, fragment+"/"+strings.Join(tokens, "/"), hops+1)
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
		if v, err = d.resolveIn(ref, ref.str()); err != nil {
			return value{}, err
		}
	}
	return value{}, errReferenceLoop
}
