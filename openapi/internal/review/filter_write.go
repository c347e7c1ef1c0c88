package review

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// maxInlined bounds the depth to which references into dropped operations are
// replaced by their targets.
const maxInlined = 32

// appendRoot writes the reduced document.
func (f *filter) appendRoot(dst []byte) []byte {
	kept := map[document.Value]bool{}
	for _, e := range f.entries {
		kept[e.Value] = e.kept
	}
	group := func(dst []byte, v document.Value) []byte {
		return f.appendSome(dst, v, func(key string, one document.Value) bool { return kept[one] || strings.HasPrefix(key, "x-") })
	}
	schemes := func(dst []byte, v document.Value) []byte {
		return f.appendSome(dst, v, func(key string, _ document.Value) bool { return f.schemes[key] || strings.HasPrefix(key, "x-") })
	}
	return f.appendMembers(dst, f.doc.Root, func(dst []byte, key string, v document.Value) []byte {
		switch key {
		case "webhooks", "x-webhooks":
			if f.chosen {
				return dst
			}
		case "paths":
			return f.appendPaths(dst, v)
		case "tags":
			return f.appendTags(dst, v)
		case "definitions", "parameters", "responses":
			return group(dst, v)
		case "securityDefinitions":
			return schemes(dst, v)
		case "components":
			return f.appendMembers(dst, v, func(dst []byte, key string, v document.Value) []byte {
				switch {
				case key == "securitySchemes":
					return schemes(dst, v)
				case strings.HasPrefix(key, "x-"):
					return f.append(dst, v, 0)
				}
				return group(dst, v)
			})
		}
		return f.append(dst, v, 0)
	})
}

// appendMembers writes an object whose members are written by write; members
// for which it writes nothing are dropped.
func (f *filter) appendMembers(dst []byte, v document.Value, write func([]byte, string, document.Value) []byte) []byte {
	dst = append(dst, '{')
	begin := len(dst)
	for key, member := range v.Each() {
		before := len(dst)
		if before > begin {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, key), ':')
		at := len(dst)
		if dst = write(dst, key, member); len(dst) == at {
			dst = dst[:before]
		}
	}
	return append(dst, '}')
}

// appendSome writes the members that are kept, or nothing if there are none.
func (f *filter) appendSome(dst []byte, v document.Value, stays func(string, document.Value) bool) []byte {
	begin := len(dst)
	some := false
	dst = f.appendMembers(dst, v, func(dst []byte, key string, one document.Value) []byte {
		if !stays(key, one) {
			return dst
		}
		some = true
		return f.append(dst, one, 0)
	})
	if !some {
		return dst[:begin]
	}
	return dst
}

func (f *filter) appendPaths(dst []byte, paths document.Value) []byte {
	return f.appendMembers(dst, paths, func(dst []byte, path string, v document.Value) []byte {
		left, gone := f.count(v)
		item, err := f.doc.Deref(v)
		switch {
		case strings.HasPrefix(path, "x-") || err != nil:
		case left == 0:
			return dst
		case gone > 0:
			return f.append(dst, item, 0) // a reference is written out, because only some of its operations are kept
		}
		return f.append(dst, v, 0)
	})
}

func (f *filter) appendTags(dst []byte, tags document.Value) []byte {
	begin := len(dst)
	dst = append(dst, '[')
	for _, t := range tags.Each() {
		if !f.tags[t.StrAt("name")] {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = f.append(dst, t, 0)
	}
	if dst[len(dst)-1] == '[' {
		return dst[:begin]
	}
	return append(dst, ']')
}

// append writes v without dropped operations. A reference into one of them is
// replaced by its target.
func (f *filter) append(dst []byte, v document.Value, inlined int) []byte {
	switch v.Kind() {
	case rawjson.Object:
		return f.appendObject(dst, v, inlined)
	case rawjson.Array:
		dst = append(dst, '[')
		for i, member := range slices.Collect(elements(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = f.append(dst, member, inlined)
		}
		return append(dst, ']')
	default:
		return append(dst, v.Raw()...)
	}
}

func (f *filter) appendObject(dst []byte, v document.Value, inlined int) []byte {
	if target, lost := f.lost(v); lost && inlined < maxInlined {
		return f.append(dst, target, inlined+1)
	}
	return f.appendMembers(dst, v, func(dst []byte, key string, member document.Value) []byte {
		if kept, isOperation := f.operations[member]; isOperation && !kept {
			return dst
		}
		if key == "links" && member.Kind() == rawjson.Object {
			return f.appendSome(dst, member, f.keepsLink)
		}
		return f.append(dst, member, inlined)
	})
}

func elements(v document.Value) func(func(document.Value) bool) {
	return func(yield func(document.Value) bool) {
		for _, member := range v.Each() {
			if !yield(member) {
				return
			}
		}
	}
}

// lost returns the target of a reference into a dropped operation.
func (f *filter) lost(v document.Value) (document.Value, bool) {
	ref := v.Get("$ref")
	if ref.Kind() != rawjson.String || !strings.HasPrefix(ref.Str(), "#/paths/") {
		return document.Value{}, false
	}
	target, err := f.doc.Target(ref)
	if err != nil || target.File != f.doc.Root.File {
		return document.Value{}, false
	}
	at := target.File.Doc.Offset(target.Node)
	for op, kept := range f.operations {
		if from := op.File.Doc.Offset(op.Node); !kept && op.File == target.File && at >= from && at < from+len(op.Raw()) {
			return target, true
		}
	}
	return document.Value{}, false
}

// keepsLink reports whether a link is kept: it does not lead to a dropped
// operation.
func (f *filter) keepsLink(_ string, link document.Value) bool {
	if ref := link.Get("operationRef"); ref.Kind() == rawjson.String {
		target, err := f.doc.Target(ref)
		kept, isOperation := f.operations[target]
		return err != nil || !isOperation || kept
	}
	id := link.Get("operationId")
	if id.Kind() != rawjson.String {
		return true
	}
	return f.names[id.Str()]
}
