package evidence

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bounds of what is looked into.
const (
	maxPlacesOf = 4096   // places of one schema
	maxSteps    = 50_000 // schemas and members that are compared for one value
	maxElements = 256    // elements of each array
	maxSame     = 64     // schemas of the same value within each other
)

// places are the members and elements that a schema describes, each by the pointer of
// its own schema: of one behind a reference where that is defined, once. What names
// cannot tell is left out: patterns of names, and conditions.
type places struct {
	doc      *rawjson.Doc
	pointers []string             // sorted
	index    map[rawjson.Node]int // into pointers, by the node of the place's schema
}

// placesOf finds the places of a schema; nil: it is no JSON, or has none, or too many.
func placesOf(schema []byte) *places {
	doc, err := rawjson.Parse(schema)
	if err != nil {
		return nil
	}
	f := &placeFinder{doc: doc, visited: map[rawjson.Node]bool{}, at: map[rawjson.Node]string{}}
	f.visit(doc.Root(), "")
	if len(f.at) == 0 || len(f.at) > maxPlacesOf {
		return nil
	}
	p := &places{doc: doc, index: map[rawjson.Node]int{}}
	for _, pointer := range f.at {
		p.pointers = append(p.pointers, pointer)
	}
	slices.Sort(p.pointers)
	for node, pointer := range f.at {
		p.index[node], _ = slices.BinarySearch(p.pointers, pointer)
	}
	return p
}

type placeFinder struct {
	doc     *rawjson.Doc
	visited map[rawjson.Node]bool
	at      map[rawjson.Node]string // pointers of places
}

func (f *placeFinder) visit(schema rawjson.Node, pointer string) {
	d := f.doc
	if d.Kind(schema) != rawjson.Object || f.visited[schema] || len(f.at) > maxPlacesOf {
		return
	}
	f.visited[schema] = true
	for n := d.First(schema); n != rawjson.None; n = d.Next(n) {
		keyword := d.Key(n)
		under := pointer + "/" + rawjson.EscapeToken(keyword)
		switch keyword {
		case "$ref":
			if target, at := reference(d, n); target != rawjson.None {
				f.visit(target, at)
			}
		case "items", "additionalProperties":
			if d.Kind(n) == rawjson.Object && d.Len(n) > 0 {
				f.place(n, under)
			}
		case "properties":
			f.each(n, rawjson.Object, under, f.place)
		case "prefixItems":
			f.each(n, rawjson.Array, under, f.place)
		case "allOf", "anyOf", "oneOf":
			f.each(n, rawjson.Array, under, f.visit)
		}
	}
}

// each does something with the schemas in an object or a list.
func (f *placeFinder) each(in rawjson.Node, kind rawjson.Kind, pointer string, do func(rawjson.Node, string)) {
	if f.doc.Kind(in) != kind {
		return
	}
	i := 0
	for n := f.doc.First(in); n != rawjson.None; n = f.doc.Next(n) {
		token := strconv.Itoa(i)
		if kind == rawjson.Object {
			token = rawjson.EscapeToken(f.doc.Key(n))
		}
		do(n, pointer+"/"+token)
		i++
	}
}

func (f *placeFinder) place(schema rawjson.Node, pointer string) {
	f.at[schema] = pointer
	f.visit(schema, pointer)
}

// reference is what a $ref of the same document leads to.
func reference(d *rawjson.Doc, ref rawjson.Node) (target rawjson.Node, pointer string) {
	if d.Kind(ref) != rawjson.String {
		return rawjson.None, ""
	}
	pointer, local := strings.CutPrefix(d.Str(ref), "#")
	if !local || strings.Contains(pointer, "%") {
		return rawjson.None, ""
	}
	return d.Pointer(pointer), pointer
}

// in is which of the places a value has. names is told of the members of objects that no
// schema describes; nil: nobody wants to know.
func (p *places) in(value []byte, names func(undeclared)) Coverage {
	doc, err := rawjson.Parse(value)
	if err != nil {
		return Coverage{}
	}
	w := &placeMarker{places: p, value: doc, bits: make([]byte, (len(p.pointers)+7)/8), steps: maxSteps}
	if names != nil {
		w.objects = &objects{doc: doc, at: map[rawjson.Node]*object{}}
	}
	w.objects.enter(doc.Root(), "")
	w.visit(p.doc.Root(), doc.Root(), maxSame)
	w.objects.tell(names)
	return Coverage{len(p.pointers), string(w.bits)}
}

type placeMarker struct {
	*places

	value *rawjson.Doc
	bits  []byte
	steps int // left

	objects *objects // of the value, with what is declared of them; nil: nobody wants to know
}

// visit holds a value against a schema, which is within as many others of the same value
// as left tells.
func (w *placeMarker) visit(schema, value rawjson.Node, left int) {
	d := w.doc
	if w.steps--; w.steps < 0 || left == 0 || d.Kind(schema) != rawjson.Object {
		return
	}
	w.objects.declare(d, schema, value)
	for n := d.First(schema); n != rawjson.None; n = d.Next(n) {
		switch d.Key(n) {
		case "$ref":
			if target, _ := reference(d, n); target != rawjson.None {
				w.visit(target, value, left-1)
			}
		case "properties":
			w.members(n, value)
		case "additionalProperties":
			w.others(schema, n, value)
		case "items":
			w.elements(schema, n, value)
		case "prefixItems":
			at := w.value.First(value)
			for m := d.First(n); m != rawjson.None && at != rawjson.None && w.value.Kind(value) == rawjson.Array; m, at = d.Next(m), w.value.Next(at) {
				w.place(m, at)
			}
		case "allOf", "anyOf", "oneOf":
			for m := d.First(n); m != rawjson.None && d.Kind(n) == rawjson.Array; m = d.Next(m) {
				if w.possible(m, value, left-1) {
					w.visit(m, value, left-1)
				}
			}
		}
	}
}

func (w *placeMarker) place(schema, value rawjson.Node) {
	i := w.index[schema]
	w.bits[i/8] |= 1 << (i % 8)
	w.objects.enter(value, w.pointers[i])
	w.visit(schema, value, maxSame)
}

func (w *placeMarker) members(properties, value rawjson.Node) {
	if w.value.Kind(value) != rawjson.Object || w.doc.Kind(properties) != rawjson.Object {
		return
	}
	for m := w.doc.First(properties); m != rawjson.None && w.steps > 0; m = w.doc.Next(m) {
		w.steps--
		if v := w.value.Get(value, w.doc.Key(m)); v != rawjson.None {
			w.place(m, v)
		}
	}
}

// others marks the schema of the members that no other keyword names.
func (w *placeMarker) others(schema, additional, value rawjson.Node) {
	if _, is := w.index[additional]; !is || w.value.Kind(value) != rawjson.Object {
		return
	}
	properties := w.doc.Get(schema, "properties")
	looked := 0
	for v := w.value.First(value); v != rawjson.None && looked < maxElements && w.steps > 0; v = w.value.Next(v) {
		w.steps--
		if properties == rawjson.None || w.doc.Get(properties, w.value.Key(v)) == rawjson.None {
			w.place(additional, v)
			looked++
		}
	}
}

func (w *placeMarker) elements(schema, items, value rawjson.Node) {
	if _, is := w.index[items]; !is || w.value.Kind(value) != rawjson.Array {
		return
	}
	skip := 0
	if prefix := w.doc.Get(schema, "prefixItems"); prefix != rawjson.None {
		skip = w.doc.Len(prefix)
	}
	i := 0
	for v := w.value.First(value); v != rawjson.None && i < skip+maxElements; v = w.value.Next(v) {
		if i >= skip {
			w.place(items, v)
		}
		i++
	}
}

// possible reports whether a value can be what an alternative describes: it has the
// type and the members that are required.
func (w *placeMarker) possible(schema, value rawjson.Node, left int) bool {
	d := w.doc
	if w.steps--; w.steps < 0 || d.Kind(schema) != rawjson.Object || left == 0 {
		return false
	}
	if ref := d.Get(schema, "$ref"); ref != rawjson.None {
		if target, _ := reference(d, ref); target == rawjson.None || !w.possible(target, value, left-1) {
			return false
		}
	}
	if t := d.Get(schema, "type"); d.Kind(t) == rawjson.String {
		if is := w.value.Kind(value); d.IsStr(t, "object") != (is == rawjson.Object) || d.IsStr(t, "array") != (is == rawjson.Array) {
			return false
		}
	}
	required := d.Get(schema, "required")
	if w.value.Kind(value) != rawjson.Object || required == rawjson.None || d.Kind(required) != rawjson.Array {
		return true
	}
	for n := d.First(required); n != rawjson.None && w.steps > 0; n = d.Next(n) {
		w.steps--
		if d.Kind(n) == rawjson.String && w.value.Get(value, d.Str(n)) == rawjson.None {
			return false
		}
	}
	return true
}
