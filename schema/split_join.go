package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Part is a part of a value that was split.
type Part struct {
	Value     []byte
	Cuts      []string // JSON Pointers, in the whole value, of the arrays, objects and strings that are split and continue here
	Continued []string // of those arrays whose first item continues the last item of the previous part
}

// Join reassembles a value from its parts. Objects have the members of all
// parts; arrays that are listed in Cuts have the items of all parts that list
// them, strings the pieces; a continued item is joined in the same way.
// Everything else is taken from the first part that has it. All parts, in
// order, make a value that is equal to the one that was split.
func Join(parts ...Part) ([]byte, error) {
	if len(parts) == 0 {
		return nil, errors.New("join: no parts")
	}
	j := joiner{named: map[string][]int{}, continued: map[string][]int{}, below: map[string]bool{}, found: map[string]bool{}}
	var roots []located
	for i, part := range parts {
		doc, err := rawjson.Parse(part.Value)
		if err != nil {
			return nil, fmt.Errorf("join part %d: %w", i+1, err)
		}
		j.docs = append(j.docs, doc)
		roots = append(roots, located{i, doc.Root()})
		for _, p := range part.Cuts {
			j.named[p] = append(j.named[p], i)
			j.markAncestors(p)
		}
		for _, p := range part.Continued {
			j.continued[p] = append(j.continued[p], i)
		}
	}
	whole := j.value(nil, roots, "")
	for p := range j.named {
		if !j.found[p] && j.err == nil {
			j.err = fmt.Errorf("join: no part has an array, object or string at %q", p)
		}
	}
	if j.err != nil {
		return nil, j.err
	}
	return whole, nil
}

type joiner struct {
	docs      []*rawjson.Doc
	named     map[string][]int // the parts that list a pointer as split
	continued map[string][]int // the parts that list it as continued
	below     map[string]bool  // something below the pointer is split
	found     map[string]bool
	err       error
}

// located is a value: its part, and its node in that part.
type located struct {
	part int
	node rawjson.Node
}

// markAncestors marks the ancestors of the location p.
func (j *joiner) markAncestors(p string) {
	for i := strings.LastIndexByte(p, '/'); i >= 0; i = strings.LastIndexByte(p, '/') {
		if p = p[:i]; j.below[p] {
			return
		}
		j.below[p] = true
	}
}

// value writes the value at a path of these parts.
func (j *joiner) value(dst []byte, at []located, path string) []byte {
	kind := j.kind(at[0])
	named := j.named[path]
	for _, a := range at {
		if j.kind(a) != kind && (named != nil || j.below[path]) {
			j.err = fmt.Errorf("join part %d: the value at %q has another type than in the previous parts", a.part+1, path)
			return dst
		}
	}
	j.found[path] = j.found[path] || named != nil && (kind == rawjson.Object || kind == rawjson.Array || kind == rawjson.String)
	switch {
	case kind == rawjson.Object:
		return j.object(dst, at, path)
	case kind == rawjson.Array && named != nil:
		return j.array(dst, j.inParts(at, named), path)
	case kind == rawjson.Array && j.below[path]:
		return j.tuple(dst, at, path)
	case kind == rawjson.String && named != nil:
		return j.text(dst, j.inParts(at, named))
	}
	return append(dst, j.raw(at[0])...)
}

func (j *joiner) kind(a located) rawjson.Kind { return j.docs[a.part].Kind(a.node) }
func (j *joiner) raw(a located) []byte        { return j.docs[a.part].Raw(a.node) }

// inParts returns the locations that are in one of the parts.
func (j *joiner) inParts(at []located, parts []int) (kept []located) {
	for _, a := range at {
		if _, is := slices.BinarySearch(parts, a.part); is {
			kept = append(kept, a)
		}
	}
	return kept
}

func (j *joiner) object(dst []byte, at []located, path string) []byte {
	if len(at) == 1 && !j.below[path] {
		return append(dst, j.raw(at[0])...)
	}
	var names []string
	members := map[string][]located{}
	for _, a := range at {
		if j.kind(a) != rawjson.Object {
			continue
		}
		doc := j.docs[a.part]
		for m := doc.First(a.node); m != rawjson.None; m = doc.Next(m) {
			name := doc.Key(m)
			if members[name] == nil {
				names = append(names, name)
			}
			members[name] = append(members[name], located{a.part, m})
		}
	}
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, name), ':')
		dst = j.value(dst, members[name], string(rawjson.AppendToken([]byte(path), name)))
	}
	return append(dst, '}')
}

// text concatenates the pieces of a string.
func (j *joiner) text(dst []byte, at []located) []byte {
	dst = append(dst, '"')
	for _, a := range at {
		raw := j.raw(a)
		dst = append(dst, raw[1:len(raw)-1]...)
	}
	return append(dst, '"')
}

// array writes the items of an array that is split.
func (j *joiner) array(dst []byte, at []located, path string) []byte {
	dst = append(dst, '[')
	var item []located // not written yet
	index := 0
	write := func() {
		if len(item) == 0 {
			return
		}
		if index > 0 {
			dst = append(dst, ',')
		}
		if len(item) == 1 && !j.below[path] {
			dst = append(dst, j.raw(item[0])...)
		} else {
			dst = j.value(dst, item, path+"/"+strconv.Itoa(index))
		}
		item = item[:0]
		index++
	}
	for _, a := range at {
		_, goesOn := slices.BinarySearch(j.continued[path], a.part)
		for e := j.docs[a.part].First(a.node); e != rawjson.None; e = j.docs[a.part].Next(e) {
			if !goesOn {
				write()
			}
			goesOn = false
			item = append(item, located{a.part, e})
		}
	}
	write()
	return append(dst, ']')
}

// tuple writes an array that every part has whole, except for what is split
// inside its items.
func (j *joiner) tuple(dst []byte, at []located, path string) []byte {
	var items [][]located
	for _, a := range at {
		i := 0
		for e := j.docs[a.part].First(a.node); e != rawjson.None; e = j.docs[a.part].Next(e) {
			if i == len(items) {
				items = append(items, nil)
			}
			items[i] = append(items[i], located{a.part, e})
			i++
		}
	}
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = j.value(dst, item, path+"/"+strconv.Itoa(i))
	}
	return append(dst, ']')
}
