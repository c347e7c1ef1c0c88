package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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
	refuse := func(why string) (path, error) { return p, fmt.Errorf("path %s: %s", excerpt([]byte(text)), why) }
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
			return refuse(`only "[]" may stand in brackets; names with brackets are written as JSON Pointers`)
		}
		p.tokens = append(p.tokens, token{name: part})
	}
	if len(p.tokens) > maxTokens {
		return refuse("more than " + strconv.Itoa(maxTokens) + " steps")
	}
	return p, nil
}

func (p path) tree() *pick {
	t := &pick{all: true}
	for _, k := range slices.Backward(p.tokens) {
		if k.each {
			t = &pick{each: t}
		} else {
			t = &pick{names: map[string]*pick{k.name: t}}
		}
	}
	return t
}

// pick is what is selected of one value. A nil *pick selects nothing.
type pick struct {
	all   bool             // all of it
	names map[string]*pick // of its members with these names
	each  *pick            // of every member and item
	plain []named          // names again, for a quick look: where each is nil, they are few and none has escapes
}

type named struct {
	quoted string
	below  *pick
}

const maxPlain = 16

// prepare fills in plain, here and below.
func (t *pick) prepare() {
	if t == nil {
		return
	}
	t.each.prepare()
	quick := t.each == nil && len(t.names) <= maxPlain
	for name, below := range t.names {
		below.prepare()
		quick = quick && !strings.ContainsAny(name, `"\`)
		t.plain = append(t.plain, named{`"` + name + `"`, below})
	}
	if !quick {
		t.plain = nil
	}
}

func merge(a, b *pick) *pick {
	switch {
	case a == nil || b != nil && b.all:
		return b
	case b == nil || a.all:
		return a
	}
	t := &pick{each: merge(a.each, b.each)}
	if t.names = maps.Clone(a.names); t.names == nil {
		t.names = map[string]*pick{}
	}
	for name, below := range b.names {
		t.names[name] = merge(t.names[name], below)
	}
	return t
}

// member answers what is selected of a member.
func (t *pick) member(name string) *pick {
	if t.all {
		return t
	}
	if below := t.names[name]; below != nil {
		return merge(below, t.each)
	}
	return t.each
}

// item answers what is selected of the items of an array, which names pass
// through.
func (t *pick) item() *pick {
	switch {
	case t.all || t.each == nil:
		return t
	case len(t.names) == 0:
		return t.each
	}
	return merge(&pick{names: t.names}, t.each)
}

// key is the same for equal picks.
func (t *pick) key() string {
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
