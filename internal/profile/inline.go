package profile

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Bounds of what is written out.
const (
	maxInlined = 1 << 20 // bytes of definitions, each time that one is
	maxNested  = 200     // definitions within each other
)

// annotations say nothing of which values a schema accepts.
var annotations = []string{"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "example"} //nolint:gochecknoglobals // a list that never changes

// inline returns s with what its references name in their place.
func (w *rewriter) inline(s *schema, depth int) *schema {
	if s.always != nil {
		return s
	}
	ref := s.raw("$ref")
	s.eachBelow(func(c *schema) *schema { return w.inline(c, depth+1) })
	if ref == nil {
		return s
	}
	target := w.written(ref, depth)
	beside := &schema{members: slices.DeleteFunc(slices.Clone(s.members), func(m member) bool { return m.key == "$ref" })}
	others := slices.ContainsFunc(beside.members, func(m member) bool { return !slices.Contains(annotations, m.key) })
	switch {
	case len(beside.members) == 0:
		return target
	case target.always != nil || others:
		if all := beside.get("allOf"); all != nil && all.form == listForm {
			all.list = append(all.list, target)
		} else {
			beside.set(member{key: "allOf", form: listForm, list: []*schema{target}})
		}
		return beside
	}
	for _, m := range beside.members {
		target.set(m)
	}
	return target
}

// written is what a reference names, written out. Where that cannot be, because it
// is recursive or too large, its type remains.
func (w *rewriter) written(ref []byte, depth int) *schema {
	name, n := w.target(ref)
	if n == rawjson.None || !isSchema(w.doc.Kind(n)) {
		w.note("refers to %s, which is not there", name)
		return &schema{}
	}
	size := len(w.doc.Raw(n))
	switch {
	case w.under[n]:
		w.note("is recursive: within itself %s is of any form", name)
	case w.left < size || depth > maxNested:
		w.note("is too large to be written out: %s is of any form in places", name)
	default:
		w.left -= size
		w.under[n] = true
		s := w.inline(read(w.doc, n), depth+1)
		delete(w.under, n)
		return s
	}
	cut := &schema{}
	if s := read(w.doc, n); s.always == nil {
		if kinds := s.types(); kinds != nil {
			cut.set(typeMember(kinds...))
			if slices.Contains(kinds, "array") { // some clients refuse arrays without items
				cut.set(member{key: "items", form: oneForm, one: &schema{}})
			}
		}
	}
	cut.set(member{key: "description", raw: rawjson.AppendString(nil, name+", as above")})
	return cut
}

// target finds what a reference names.
func (w *rewriter) target(ref []byte) (name string, n rawjson.Node) {
	doc, err := rawjson.Parse(ref)
	if err != nil {
		return string(ref), rawjson.None
	}
	text := doc.Str(doc.Root())
	name = text[strings.LastIndexByte(text, '/')+1:]
	pointer, ok := strings.CutPrefix(text, "#")
	if !ok {
		return text, rawjson.None
	}
	if pointer, ok = schemadoc.UnescapeFragment(pointer); !ok {
		return text, rawjson.None
	}
	return name, w.doc.Pointer(pointer)
}
