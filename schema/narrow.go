package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// AppendSchema appends the schema of what is selected of the values that fit
// doc, a document that [Compile] accepts: whatever fits doc, its projection
// fits the result. Where exactness is impossible the result accepts more,
// never less: a oneOf whose branches may become alike becomes anyOf, and what
// depends on parts that are not selected goes.
//
// A path that doc does not know is a *[PathError]. Where a schema declares no
// members or items, any path is known.
func (p *Projection) AppendSchema(dst, doc []byte) ([]byte, error) {
	x, err := plainSites(doc)
	if err != nil {
		return dst, err
	}
	if x == nil {
		return append(dst, "{}"...), nil
	}
	if err := x.know(p.paths); err != nil {
		return dst, err
	}
	w := narrower{sites: x, defs: map[string]string{}, taken: map[string]bool{}}
	text := w.document(p.tree)
	if w.made > maxNarrowed {
		text = []byte("{}")
	}
	return append(dst, text...), nil
}

// maxNarrowed is how many schemas a narrowed document may have.
const maxNarrowed = 50_000

// plainSites lists the places of a document in which every reference is a
// pointer to a schema. It answers nil if that cannot be had.
func plainSites(doc []byte) (*sites, error) {
	parsed, err := rawjson.Parse(doc)
	if err != nil {
		return nil, fmt.Errorf("project a schema: %w", err)
	}
	x := findSites(parsed)
	if x.needFlattening() {
		f := flatten{sites: x, patches: patches{doc: parsed}, note: func(int32, rawjson.Node, string) {}}
		f.run()
		if parsed, err = rawjson.Parse(f.patches.apply(parsed.Root())); err != nil {
			return nil, fmt.Errorf("project a schema: %w", err)
		}
		x = findSites(parsed)
	}
	for i := range x.refs {
		if r := &x.refs[i]; r.target < 0 || r.via != kwRef {
			return nil, nil //nolint:nilnil // as the comment says
		}
	}
	return x, nil
}

// narrower writes the schema of a projection.
type narrower struct {
	*sites
	defs  map[string]string // place and pick → name of the definition
	taken map[string]bool
	todo  []wanted
	made  int
}

// wanted is a definition that references lead to.
type wanted struct {
	name string
	at   rawjson.Node
	pick *pick
}

func (w *narrower) document(t *pick) []byte {
	text := w.schema(nil, w.doc.Root(), t)
	if len(w.todo) == 0 {
		return text
	}
	text = text[:len(text)-1] // a schema with references is an object
	if len(text) > 1 {
		text = append(text, ',')
	}
	text = append(text, `"$defs":{`...)
	for i := 0; i < len(w.todo); i++ {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(rawjson.AppendString(text, w.todo[i].name), ':')
		text = w.schema(text, w.todo[i].at, w.todo[i].pick)
	}
	return append(text, "}}"...)
}

// reference answers the pointer to the definition of a place, as t sees it.
func (w *narrower) reference(r *reference, t *pick) string {
	at := w.list[r.target].node
	key := strconv.Itoa(int(at)) + t.key()
	name, ok := w.defs[key]
	if !ok {
		name = w.name(w.doc.Key(at))
		w.defs[key] = name
		w.todo = append(w.todo, wanted{name, at, t})
	}
	return "#/$defs/" + name
}

// name answers a name for a definition that no other has.
func (w *narrower) name(wish string) string {
	wish = strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, wish)
	if wish == "" {
		wish = "root"
	}
	name := wish
	for i := 2; w.taken[name]; i++ {
		name = wish + "_" + strconv.Itoa(i)
	}
	w.taken[name] = true
	return name
}

// schema appends the schema at a place as t sees it.
func (w *narrower) schema(dst []byte, at rawjson.Node, t *pick) []byte {
	if w.made++; w.made > maxNarrowed || w.doc.Kind(at) != rawjson.Object {
		return append(dst, w.doc.Raw(at)...)
	}
	o := narrowed{narrower: w, at: at, pick: t, dst: append(dst, '{')}
	o.empty = len(o.dst)
	for m := w.doc.First(at); m != rawjson.None; m = w.doc.Next(m) {
		o.write(m, w.keyword(m))
	}
	o.all()
	return append(o.dst, '}')
}

// narrowed writes one schema object.
type narrowed struct {
	*narrower
	at    rawjson.Node
	pick  *pick
	dst   []byte
	empty int
	told  bool         // members are written
	any   rawjson.Node // a oneOf that becomes anyOf, 0: none
}

func (o *narrowed) key(name string) {
	if len(o.dst) > o.empty {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(rawjson.AppendString(o.dst, name), ':')
}

// copy writes a keyword as it stands.
func (o *narrowed) copy(m rawjson.Node) {
	o.key(o.doc.Key(m))
	o.dst = append(o.dst, o.doc.Raw(m)...)
}

// within writes a keyword with the schemas in it as t sees them.
func (o *narrowed) within(name string, m rawjson.Node, t *pick) {
	o.key(name)
	switch keywordOf([]byte(name)).form() {
	case holdsOne:
		o.dst = o.schema(o.dst, m, t)
	case holdsList:
		o.dst = append(o.schemas(append(o.dst, '['), m, t), ']')
	default:
		o.dst = append(o.dst, '{')
		for c := o.doc.First(m); c != rawjson.None; c = o.doc.Next(c) {
			if c != o.doc.First(m) {
				o.dst = append(o.dst, ',')
			}
			o.dst = append(rawjson.AppendString(o.dst, o.doc.Key(c)), ':')
			o.dst = o.schema(o.dst, c, t)
		}
		o.dst = append(o.dst, '}')
	}
}

func (o *narrowed) schemas(dst []byte, m rawjson.Node, t *pick) []byte {
	for c := o.doc.First(m); c != rawjson.None; c = o.doc.Next(c) {
		if c != o.doc.First(m) {
			dst = append(dst, ',')
		}
		dst = o.schema(dst, c, t)
	}
	return dst
}

// all writes allOf, with what else has to stand there.
func (o *narrowed) all() {
	m := o.doc.Get(o.at, "allOf")
	if m == rawjson.None && o.any == 0 {
		return
	}
	if m == rawjson.None && o.doc.Get(o.at, "anyOf") == rawjson.None {
		o.within("anyOf", o.any, o.pick)
		return
	}
	o.key("allOf")
	o.dst = append(o.dst, '[')
	if m != rawjson.None {
		o.dst = o.schemas(o.dst, m, o.pick)
	}
	if o.any != 0 {
		if m != rawjson.None {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(o.schemas(append(o.dst, `{"anyOf":[`...), o.any, o.pick), "]}"...)
	}
	o.dst = append(o.dst, ']')
}
