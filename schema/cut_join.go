package schema

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Join puts the parts of a value together again: objects have the members of
// all parts, the arrays at the pointers the items of all, the texts there all pieces, and everything else
// is what it is in the first part that has it. All parts, in order, make a value
// that is equal to the one that was cut.
func Join(pointers []string, parts ...[]byte) ([]byte, error) {
	if len(parts) == 0 {
		return nil, errors.New("join: there is no part")
	}
	j := joiner{pointers: pointers}
	var roots []rawjson.Node
	for i, part := range parts {
		doc, err := rawjson.Parse(part)
		if err != nil {
			return nil, fmt.Errorf("join part %d: %w", i+1, err)
		}
		for _, p := range pointers {
			if at := doc.Pointer(p); at != rawjson.None && doc.Kind(at) != rawjson.Array && doc.Kind(at) != rawjson.Object && doc.Kind(at) != rawjson.String || p == "" && at == rawjson.None {
				return nil, fmt.Errorf("join part %d: there is no list, object or text at %q", i+1, p)
			}
		}
		j.docs = append(j.docs, doc)
		roots = append(roots, doc.Root())
	}
	for _, p := range pointers {
		if !slices.ContainsFunc(j.docs, func(d *rawjson.Doc) bool { return d.Pointer(p) != rawjson.None }) {
			return nil, fmt.Errorf("join: no part has anything at %q", p)
		}
	}
	return j.value(nil, roots, nil), nil
}

type joiner struct {
	pointers []string
	docs     []*rawjson.Doc
}

// value writes what stands at a path; at has where that is in each part.
func (j *joiner) value(dst []byte, at []rawjson.Node, path []byte) []byte {
	first := slices.IndexFunc(at, func(n rawjson.Node) bool { return n != rawjson.None })
	switch kind := j.docs[first].Kind(at[first]); {
	case kind == rawjson.Object:
		return j.object(dst, at, path)
	case kind == rawjson.Array && slices.Contains(j.pointers, string(path)):
		return j.array(dst, at)
	case kind == rawjson.String && slices.Contains(j.pointers, string(path)):
		return j.text(dst, at)
	}
	return append(dst, j.docs[first].Raw(at[first])...)
}

func (j *joiner) object(dst []byte, at []rawjson.Node, path []byte) []byte {
	var names []string
	members := map[string][]rawjson.Node{}
	for i, doc := range j.docs {
		for m := doc.First(at[i]); m != rawjson.None; m = doc.Next(m) {
			name := doc.Key(m)
			list := members[name]
			if list == nil {
				names = append(names, name)
				list = slices.Repeat([]rawjson.Node{rawjson.None}, len(j.docs))
				members[name] = list
			}
			list[i] = m
		}
	}
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, name), ':')
		dst = j.value(dst, members[name], appendToken(slices.Clip(path), name))
	}
	return append(dst, '}')
}

// text writes the pieces of a text one behind the other.
func (j *joiner) text(dst []byte, at []rawjson.Node) []byte {
	dst = append(dst, '"')
	for i, doc := range j.docs {
		if raw := doc.Raw(at[i]); len(raw) > 1 {
			dst = append(dst, raw[1:len(raw)-1]...)
		}
	}
	return append(dst, '"')
}

func (j *joiner) array(dst []byte, at []rawjson.Node) []byte {
	dst = append(dst, '[')
	empty := true
	for i, doc := range j.docs {
		for e := doc.First(at[i]); e != rawjson.None; e = doc.Next(e) {
			if !empty {
				dst = append(dst, ',')
			}
			empty = false
			dst = append(dst, doc.Raw(e)...)
		}
	}
	return append(dst, ']')
}
