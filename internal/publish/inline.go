package publish

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// maxInlined is how many definitions may come to stand in one another: deep nesting is
// harder to read than a name, and clients limit it.
const maxInlined = 6

// InlineOnce returns doc with each definition that one reference names in the place of
// that reference: a name that is used once costs tokens, and sends the reader elsewhere.
// It means the same. A document that refers to anything else than definitions is
// returned itself.
func InlineOnce(doc []byte) []byte {
	if !bytes.Contains(doc, []byte(`"$defs"`)) {
		return doc
	}
	d, err := rawjson.Parse(doc)
	if err != nil {
		return doc
	}
	x := schemadoc.FindLocations(d)
	in := inliner{Locations: x, uses: make([]int, len(x.List)), state: map[int32]visitState{}, height: map[int32]int{}}
	if x.Defs == rawjson.None || x.NeedFlattening() || !in.count() {
		return doc
	}
	for i := range x.Refs {
		in.visit(&x.Refs[i])
	}
	if len(in.height) == 0 {
		return doc
	}
	own := x.RefAt(d.Get(d.Root(), "$ref"))
	if own != nil && in.height[own.Target] == 0 {
		own = nil
	}
	return in.object(make([]byte, 0, len(doc)), d.Root(), own)
}

// inliner writes a document anew.
type inliner struct {
	*schemadoc.Locations
	uses   []int                // references to a location
	state  map[int32]visitState // of the definitions that were looked at
	height map[int32]int        // of those that are inlined: how many stand in one another there
}

// count counts references. It reports whether all name definitions as a whole.
func (in *inliner) count() bool {
	for i := range in.Refs {
		r := &in.Refs[i]
		if r.Kind != schemadoc.RefDefs || r.Via != schemadoc.KwRef || r.Target < 0 || in.List[r.Target].Holder != in.Defs {
			return false
		}
		in.uses[r.Target]++
	}
	return true
}

// visit decides whether the target of a reference is inlined, after what the target
// refers to. Definitions that only name each other are used by nothing else, and go.
func (in *inliner) visit(r *schemadoc.Reference) {
	if in.state[r.Target] != 0 || in.uses[r.Target] != 1 || !in.fits(r) {
		return
	}
	in.state[r.Target] = inProgress
	height := 1
	for i := in.refIn(in.List[r.Target].Node); i < len(in.Refs) && in.within(in.Refs[i].Node, in.List[r.Target].Node); i++ {
		in.visit(&in.Refs[i])
		height = max(height, in.height[in.Refs[i].Target]+1)
	}
	in.state[r.Target] = finished
	if height <= maxInlined {
		in.height[r.Target] = height
	}
}

// fits reports whether a definition can take the place of the reference: the members
// beside it are notes that the definition does not have, or its type.
func (in *inliner) fits(r *schemadoc.Reference) bool {
	d, at, to := in.Doc, in.List[r.Location].Node, in.List[r.Target].Node
	if d.Kind(to) != rawjson.Object {
		return false
	}
	for m := d.First(at); m != rawjson.None; m = d.Next(m) {
		if m == r.Node || m == in.Defs {
			continue
		}
		if d.Get(to, "$ref") != rawjson.None { // its members are not known yet
			return false
		}
		other := d.Get(to, d.Key(m))
		switch k := in.Keyword(m); {
		case k == schemadoc.KwNote, k == schemadoc.KwFlag, k == schemadoc.KwExamples, d.Key(m) == "default":
			if other != rawjson.None {
				return false
			}
		case k != schemadoc.KwType, other != rawjson.None && !bytes.Equal(d.Raw(other), d.Raw(m)):
			return false
		}
	}
	return true
}

// refIn returns the index of the first reference at n or after it.
func (in *inliner) refIn(n rawjson.Node) int {
	i, _ := slices.BinarySearchFunc(in.Refs, n, func(r schemadoc.Reference, n rawjson.Node) int { return cmp.Compare(r.Node, n) })
	return i
}

// within reports whether n is part of the value at whole, which is not after it.
func (in *inliner) within(n, whole rawjson.Node) bool {
	return in.Doc.Offset(n) < in.Doc.Offset(whole)+len(in.Doc.Raw(whole))
}

// value appends the value at n, with definitions in the place of references.
func (in *inliner) value(dst []byte, n rawjson.Node) []byte {
	source, from := in.Doc.Source(), in.Doc.Offset(n)
	for i := in.refIn(n); i < len(in.Refs) && in.within(in.Refs[i].Node, n); i++ {
		if r := &in.Refs[i]; in.height[r.Target] > 0 {
			at := in.List[r.Location].Node
			dst = in.object(append(dst, source[from:in.Doc.Offset(at)]...), at, r)
			from = in.Doc.Offset(at) + len(in.Doc.Raw(at))
		}
	}
	return append(dst, source[from:in.Doc.Offset(n)+len(in.Doc.Raw(n))]...)
}

// object appends the schema at n: of r, which may be nil, the definition, then the other
// members.
func (in *inliner) object(dst []byte, n rawjson.Node, r *schemadoc.Reference) []byte {
	d, to := in.Doc, rawjson.None
	if r != nil {
		to = in.List[r.Target].Node
		dst = in.value(dst, to)
		dst = dst[:len(dst)-1]
	} else {
		dst = append(dst, '{')
	}
	for m := d.First(n); m != rawjson.None; m = d.Next(m) {
		if r != nil && (m == r.Node || d.Get(to, d.Key(m)) != rawjson.None && m != in.Defs) || m == in.Defs && !in.keepsDefs() {
			continue
		}
		if !bytes.HasSuffix(bytes.TrimRight(dst, " \t\r\n"), []byte{'{'}) {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), d.RawKey(m)...), `":`...)
		if m == in.Defs {
			dst = in.definitions(dst)
		} else {
			dst = in.value(dst, m)
		}
	}
	return append(dst, '}')
}

// keepsDefs reports whether a definition stays where it is.
func (in *inliner) keepsDefs() bool { return in.Doc.Len(in.Defs) > len(in.height) }

// definitions appends those that stay where they are.
func (in *inliner) definitions(dst []byte) []byte {
	dst = append(dst, '{')
	for m := in.Doc.First(in.Defs); m != rawjson.None; m = in.Doc.Next(m) {
		if in.height[in.At(m)] > 0 {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), in.Doc.RawKey(m)...), `":`...)
		dst = in.value(dst, m)
	}
	return append(dst, '}')
}
