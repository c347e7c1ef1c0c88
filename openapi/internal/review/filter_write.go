package openapi

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxInlined is how deep what stood in an operation that is gone is written in
// the place of references to it.
const maxInlined = 32

// appendRoot writes what is left of the document.
func (f *filter) appendRoot(dst []byte) []byte {
	kept := map[value]bool{}
	for _, e := range f.entries {
		kept[e.value] = e.kept
	}
	group := func(dst []byte, v value) []byte {
		return f.appendSome(dst, v, func(key string, one value) bool { return kept[one] || strings.HasPrefix(key, "x-") })
	}
	schemes := func(dst []byte, v value) []byte {
		return f.appendSome(dst, v, func(key string, _ value) bool { return f.schemes[key] || strings.HasPrefix(key, "x-") })
	}
	return f.appendMembers(dst, f.doc.root, func(dst []byte, key string, v value) []byte {
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
			return f.appendMembers(dst, v, func(dst []byte, key string, v value) []byte {
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

// appendMembers writes an object whose members write writes; one that comes
// back empty is left out.
func (f *filter) appendMembers(dst []byte, v value, write func([]byte, string, value) []byte) []byte {
	dst = append(dst, '{')
	begin := len(dst)
	for key, member := range v.each() {
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

// appendSome writes those members that stay; nothing where there are none.
func (f *filter) appendSome(dst []byte, v value, stays func(string, value) bool) []byte {
	begin := len(dst)
	some := false
	dst = f.appendMembers(dst, v, func(dst []byte, key string, one value) []byte {
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

func (f *filter) appendPaths(dst []byte, paths value) []byte {
	return f.appendMembers(dst, paths, func(dst []byte, path string, v value) []byte {
		left, gone := f.count(v)
		item, err := f.doc.deref(v)
		switch {
		case strings.HasPrefix(path, "x-") || err != nil:
		case left == 0:
			return dst
		case gone > 0:
			return f.append(dst, item, 0) // where it is a reference, only some of what it means stays
		}
		return f.append(dst, v, 0)
	})
}

func (f *filter) appendTags(dst []byte, tags value) []byte {
	begin := len(dst)
	dst = append(dst, '[')
	for _, t := range tags.each() {
		if !f.tags[t.strAt("name")] {
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

// append writes v without operations that are gone. A reference into one of
// them is replaced by what it meant.
func (f *filter) append(dst []byte, v value, inlined int) []byte {
	switch v.kind() {
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
		return append(dst, v.raw()...)
	}
}

func (f *filter) appendObject(dst []byte, v value, inlined int) []byte {
	if target, lost := f.lost(v); lost && inlined < maxInlined {
		return f.append(dst, target, inlined+1)
	}
	return f.appendMembers(dst, v, func(dst []byte, key string, member value) []byte {
		if kept, isOperation := f.operations[member]; isOperation && !kept {
			return dst
		}
		if key == "links" && member.kind() == rawjson.Object {
			return f.appendSome(dst, member, f.leads)
		}
		return f.append(dst, member, inlined)
	})
}

func elements(v value) func(func(value) bool) {
	return func(yield func(value) bool) {
		for _, member := range v.each() {
			if !yield(member) {
				return
			}
		}
	}
}

// lost is the target of a reference that leads into an operation that is gone.
func (f *filter) lost(v value) (value, bool) {
	ref := v.get("$ref")
	if ref.kind() != rawjson.String || !strings.HasPrefix(ref.str(), "#/paths/") {
		return value{}, false
	}
	target, err := f.doc.targetOf(ref)
	if err != nil || target.file != f.doc.root.file {
		return value{}, false
	}
	at := target.file.doc.Offset(target.node)
	for op, kept := range f.operations {
		if from := op.file.doc.Offset(op.node); !kept && op.file == target.file && at >= from && at < from+len(op.raw()) {
			return target, true
		}
	}
	return value{}, false
}

// leads reports whether a link does not lead to an operation that is gone. It
// may be something else of that name: then it stays.
func (f *filter) leads(_ string, link value) bool {
	if ref := link.get("operationRef"); ref.kind() == rawjson.String {
		target, err := f.doc.targetOf(ref)
		kept, isOperation := f.operations[target]
		return err != nil || !isOperation || kept
	}
	id := link.get("operationId")
	if id.kind() != rawjson.String {
		return true
	}
	return f.names[id.str()]
}
