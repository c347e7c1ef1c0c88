package projection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Projection selects parts of values. It is immutable and safe for concurrent
// use.
type Projection struct {
	paths []path
	tree  *selection
}

const (
	maxPaths     = 200
	maxPathBytes = 10_000 // bytes of all paths
	maxTokens    = 64
)

// ParseProjection parses paths. A path names a member, a member of that and so
// on: "name", "owner.login". "*" matches every member of an object and every
// item of an array, and may be written as "[]" after a name: "items[].id" is
// "items.*.id". Items need not be mentioned: "items.id" selects the same. Names
// with dots or brackets are written as JSON Pointers, in which "*" has the same
// meaning: "/a.b/*/id".
//
// A path selects all of the value at its end, and the objects and arrays on the
// way with nothing else in them. Scalars on the way, such as null, are selected
// unchanged.
func ParseProjection(paths ...string) (*Projection, error) {
	if len(paths) == 0 || len(paths) > maxPaths {
		return nil, fmt.Errorf("%d paths; 1 to %d are allowed", len(paths), maxPaths)
	}
	p, size := &Projection{}, 0
	for _, text := range paths {
		if size += len(text); size > maxPathBytes {
			return nil, fmt.Errorf("paths of more than %d bytes in all", maxPathBytes)
		}
		one, err := parsePath(text)
		if err != nil {
			return nil, err
		}
		p.paths = append(p.paths, one)
		p.tree = merge(p.tree, one.tree())
	}
	p.tree.prepare()
	return p, nil
}

// AppendValue appends what is selected of value, in the same order. The value
// must be strict JSON. An error is returned only for objects and arrays that
// are not closed; the contents of strings and numbers are not checked.
func (p *Projection) AppendValue(dst, value []byte) ([]byte, error) {
	s := selector{b: value, dst: dst}
	if !s.whole(p.tree) {
		return dst, errors.New("the value is not JSON")
	}
	return s.dst, nil
}

// path is one path of a projection.
type path struct {
	text   string
	tokens []token
}

// token is a step of a path.
type token struct {
	name string
	each bool // every member or item
}

func parsePath(text string) (path, error) {
	p := path{text: text}
	refuse := func(why string) (path, error) {
		return p, fmt.Errorf("path %s: %s", rawjson.Excerpt([]byte(text)), why)
	}
	rest, pointer := strings.CutPrefix(text, "/")
	parts := strings.Split(rest, "/")
	if !pointer {
		parts = strings.Split(strings.ReplaceAll(text, "[]", ".*"), ".")
		if strings.HasPrefix(text, "[]") {
			parts = parts[1:]
		}
	}
	for _, part := range parts {
		switch {
		case part == "*":
			p.tokens = append(p.tokens, token{each: true})
			continue
		case pointer:
			part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		case part == "":
			return refuse("a name is missing")
		case strings.ContainsAny(part, "[]"):
			return refuse(`only "[]" is allowed in brackets; names with brackets are written as JSON Pointers`)
		}
		p.tokens = append(p.tokens, token{name: part})
	}
	if len(p.tokens) > maxTokens {
		return refuse("more than " + strconv.Itoa(maxTokens) + " steps")
	}
	return p, nil
}

func (p path) tree() *selection {
	t := &selection{all: true}
	for _, k := range slices.Backward(p.tokens) {
		if k.each {
			t = &selection{each: t}
		} else {
			t = &selection{names: map[string]*selection{k.name: t}}
		}
	}
	return t
}

// selection is what is selected of one value. A nil *selection selects nothing.
type selection struct {
	all   bool                  // all of it
	names map[string]*selection // of its members with these names
	each  *selection            // of every member and item
	plain []namedSelection      // names again, for fast lookup: set where each is nil, they are few and none needs escapes
}

type namedSelection struct {
	quoted string
	below  *selection
}

const maxPlain = 16

// prepare fills in plain, recursively.
func (t *selection) prepare() {
	if t == nil {
		return
	}
	t.each.prepare()
	quick := t.each == nil && len(t.names) <= maxPlain
	for name, below := range t.names {
		below.prepare()
		quick = quick && !strings.ContainsAny(name, `"\`)
		t.plain = append(t.plain, namedSelection{`"` + name + `"`, below})
	}
	if !quick {
		t.plain = nil
	}
}

func merge(a, b *selection) *selection {
	switch {
	case a == nil || b != nil && b.all:
		return b
	case b == nil || a.all:
		return a
	}
	t := &selection{each: merge(a.each, b.each)}
	if t.names = maps.Clone(a.names); t.names == nil {
		t.names = map[string]*selection{}
	}
	for name, below := range b.names {
		t.names[name] = merge(t.names[name], below)
	}
	return t
}

// member returns what is selected of a member.
func (t *selection) member(name string) *selection {
	if t.all {
		return t
	}
	if below := t.names[name]; below != nil {
		return merge(below, t.each)
	}
	return t.each
}

// item returns what is selected of the items of an array; names apply to every
// item.
func (t *selection) item() *selection {
	switch {
	case t.all || t.each == nil:
		return t
	case len(t.names) == 0:
		return t.each
	}
	return merge(&selection{names: t.names}, t.each)
}

// key is the same for equal picks.
func (t *selection) key() string {
	switch {
	case t == nil:
		return ""
	case t.all:
		return "!"
	}
	var b strings.Builder
	b.WriteByte('{')
	for _, name := range slices.Sorted(maps.Keys(t.names)) {
		b.WriteString(strconv.Quote(name) + t.names[name].key())
	}
	b.WriteString("*" + t.each.key() + "}")
	return b.String()
}
