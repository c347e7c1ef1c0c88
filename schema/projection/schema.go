package projection

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/ecmaregexp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// AppendSchema appends the schema of what is selected of the values of doc, a
// document that [schema.Compile] accepts: for every value that is valid against doc,
// its projection is valid against the result. Where exactness is impossible the
// result accepts more, never less: a oneOf whose branches may become alike
// becomes anyOf, and what depends on unselected parts is dropped.
//
// A path that doc does not declare is a *[PathError]. Where a schema declares
// no members or items, any path is accepted.
func (p *Projection) AppendSchema(dst, doc []byte) ([]byte, error) {
	x, err := pointerLocations(doc)
	if err != nil {
		return dst, err
	}
	if x == nil {
		return append(dst, "{}"...), nil
	}
	if err := checkPaths(x, p.paths); err != nil {
		return dst, err
	}
	w := schemaProjector{Locations: x, defs: map[string]string{}, taken: map[string]bool{}}
	text := w.document(p.tree)
	if w.made > maxProjected {
		text = []byte("{}")
	}
	return append(dst, text...), nil
}

// maxProjected bounds the schemas of a projected document.
const maxProjected = 50_000

// pointerLocations lists the locations of a document in which every reference is a
// pointer to a schema. It returns nil if that is impossible.
func pointerLocations(doc []byte) (*schemadoc.Locations, error) {
	parsed, err := rawjson.Parse(doc)
	if err != nil {
		return nil, fmt.Errorf("project a schema: %w", err)
	}
	x := schemadoc.FindLocations(parsed)
	if x.NeedFlattening() {
		f := schemadoc.Flatten{Locations: x, Edits: schemadoc.Edits{Doc: parsed}, Note: func(int32, rawjson.Node, string) {}}
		f.Run()
		if parsed, err = rawjson.Parse(f.Edits.Apply(parsed.Root())); err != nil {
			return nil, fmt.Errorf("project a schema: %w", err)
		}
		x = schemadoc.FindLocations(parsed)
	}
	for i := range x.Refs {
		if r := &x.Refs[i]; r.Target < 0 || r.Via != schemadoc.KwRef {
			return nil, nil //nolint:nilnil // as the comment says
		}
	}
	return x, nil
}

// schemaProjector writes the schema of a projection.
type schemaProjector struct {
	*schemadoc.Locations
	defs  map[string]string // location and selection → name of the definition
	taken map[string]bool
	todo  []wantedDefinition
	made  int
}

// wantedDefinition is a referenced definition.
type wantedDefinition struct {
	name      string
	at        rawjson.Node
	selection *selection
}

func (w *schemaProjector) document(t *selection) []byte {
	text := w.schema(nil, w.Doc.Root(), t)
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
		text = w.schema(text, w.todo[i].at, w.todo[i].selection)
	}
	return append(text, "}}"...)
}

// reference returns the pointer to the definition of a location as selected by
// t.
func (w *schemaProjector) reference(r *schemadoc.Reference, t *selection) string {
	at := w.List[r.Target].Node
	key := strconv.Itoa(int(at)) + t.key()
	name, ok := w.defs[key]
	if !ok {
		name = w.name(w.Doc.Key(at))
		w.defs[key] = name
		w.todo = append(w.todo, wantedDefinition{name, at, t})
	}
	return "#/$defs/" + name
}

// name returns an unused name for a definition.
func (w *schemaProjector) name(wish string) string {
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

// schema appends the schema at a location as selected by t.
func (w *schemaProjector) schema(dst []byte, at rawjson.Node, t *selection) []byte {
	if w.made++; w.made > maxProjected || w.Doc.Kind(at) != rawjson.Object {
		return append(dst, w.Doc.Raw(at)...)
	}
	o := objectProjector{schemaProjector: w, at: at, selection: t, dst: append(dst, '{')}
	o.empty = len(o.dst)
	for m := w.Doc.First(at); m != rawjson.None; m = w.Doc.Next(m) {
		o.write(m, w.Keyword(m))
	}
	o.all()
	return append(o.dst, '}')
}

// objectProjector writes one schema object.
type objectProjector struct {
	*schemaProjector
	at                rawjson.Node
	selection         *selection
	dst               []byte
	empty             int
	propertiesWritten bool         // properties are written
	any               rawjson.Node // a oneOf that becomes anyOf, 0: none
}

func (o *objectProjector) key(name string) {
	if len(o.dst) > o.empty {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(rawjson.AppendString(o.dst, name), ':')
}

// copy writes a keyword unchanged.
func (o *objectProjector) copy(m rawjson.Node) {
	o.key(o.Doc.Key(m))
	o.dst = append(o.dst, o.Doc.Raw(m)...)
}

// within writes a keyword with its subschemas as selected by t.
func (o *objectProjector) within(name string, m rawjson.Node, t *selection) {
	o.key(name)
	switch schemadoc.KeywordOf([]byte(name)).Form() {
	case schemadoc.HoldsOne:
		o.dst = o.schema(o.dst, m, t)
	case schemadoc.HoldsList:
		o.dst = append(o.schemas(append(o.dst, '['), m, t), ']')
	default:
		o.dst = append(o.dst, '{')
		for c := o.Doc.First(m); c != rawjson.None; c = o.Doc.Next(c) {
			if c != o.Doc.First(m) {
				o.dst = append(o.dst, ',')
			}
			o.dst = append(rawjson.AppendString(o.dst, o.Doc.Key(c)), ':')
			o.dst = o.schema(o.dst, c, t)
		}
		o.dst = append(o.dst, '}')
	}
}

func (o *objectProjector) schemas(dst []byte, m rawjson.Node, t *selection) []byte {
	for c := o.Doc.First(m); c != rawjson.None; c = o.Doc.Next(c) {
		if c != o.Doc.First(m) {
			dst = append(dst, ',')
		}
		dst = o.schema(dst, c, t)
	}
	return dst
}

// all writes allOf, joined with the anyOf that a oneOf became.
func (o *objectProjector) all() {
	m := o.Doc.Get(o.at, "allOf")
	if m == rawjson.None && o.any == 0 {
		return
	}
	if m == rawjson.None && o.Doc.Get(o.at, "anyOf") == rawjson.None {
		o.within("anyOf", o.any, o.selection)
		return
	}
	o.key("allOf")
	o.dst = append(o.dst, '[')
	if m != rawjson.None {
		o.dst = o.schemas(o.dst, m, o.selection)
	}
	if o.any != 0 {
		if m != rawjson.None {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(o.schemas(append(o.dst, `{"anyOf":[`...), o.any, o.selection), "]}"...)
	}
	o.dst = append(o.dst, ']')
}

// members writes properties, patternProperties and additionalProperties. Each
// name that the projection mentions becomes a property with all schemas that
// applied to a member of that name, because a pattern or additionalProperties
// can no longer cover it: more or less of it is selected than of the others.
func (o *objectProjector) members() {
	properties, patterns := o.Doc.Get(o.at, "properties"), o.Doc.Get(o.at, "patternProperties")
	others := o.Doc.Get(o.at, "additionalProperties")
	mentioned := slices.Sorted(maps.Keys(o.selection.names))
	o.properties(properties, func(name string) bool { return o.selection.names[name] != nil }, mentioned)
	if o.selection.each == nil {
		if others != rawjson.None { // no other members are selected
			o.key("additionalProperties")
			o.dst = append(o.dst, "false"...)
		}
		return
	}
	if o.patterns(patterns, mentioned) && others != rawjson.None {
		o.within("additionalProperties", others, o.selection.each)
	}
}

// properties writes the declared members that are not mentioned, if those are
// selected, and the mentioned ones.
func (o *objectProjector) properties(declared rawjson.Node, mentions func(string) bool, mentioned []string) {
	o.key("properties")
	o.dst = append(o.dst, '{')
	empty := len(o.dst)
	begin := func(name string) {
		if len(o.dst) > empty {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(rawjson.AppendString(o.dst, name), ':')
	}
	for c := o.Doc.First(declared); c != rawjson.None; c = o.Doc.Next(c) {
		switch name := o.Doc.Key(c); {
		case mentions(name):
			begin(name)
			o.mentioned(name)
		case o.selection.each != nil:
			begin(name)
			o.dst = o.schema(o.dst, c, o.selection.each)
		}
	}
	for _, name := range mentioned {
		if o.Doc.Get(declared, name) == rawjson.None && !o.unconstrained(name) {
			begin(name)
			o.mentioned(name)
		}
	}
	o.dst = append(o.dst, '}')
}

// unconstrained reports whether no schema applies to the member of a name.
func (o *objectProjector) unconstrained(name string) bool {
	list, _ := o.applying(name)
	return len(list) == 0 && o.Doc.Get(o.at, "additionalProperties") == rawjson.None
}

// mentioned writes all schemas that apply to the member of a name.
func (o *objectProjector) mentioned(name string) {
	t := o.selection.member(name)
	list, known := o.applying(name)
	switch {
	case len(list) == 1:
		o.dst = o.schema(o.dst, list[0], t)
		return
	case len(list) == 0 && known:
		if others := o.Doc.Get(o.at, "additionalProperties"); others != rawjson.None {
			o.dst = o.schema(o.dst, others, t)
			return
		}
	}
	if len(list) == 0 {
		o.dst = append(o.dst, "{}"...)
		return
	}
	o.dst = append(o.dst, `{"allOf":[`...)
	for i, at := range list {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = o.schema(o.dst, at, t)
	}
	o.dst = append(o.dst, "]}"...)
}

// applying returns the schemas under properties and patternProperties for a
// name. Known is false where a pattern that cannot be run might add others.
func (o *objectProjector) applying(name string) (list []rawjson.Node, known bool) {
	if c := o.Doc.Get(o.Doc.Get(o.at, "properties"), name); c != rawjson.None {
		list = append(list, c)
	}
	known = true
	patterns := o.Doc.Get(o.at, "patternProperties")
	for c := o.Doc.First(patterns); c != rawjson.None; c = o.Doc.Next(c) {
		switch matched, sure := matchesName(ecmaregexp.CompileAny(o.Doc.Key(c)), name); {
		case !sure:
			known = false
		case matched:
			list = append(list, c)
		}
	}
	return list, known
}

// patterns writes the patterns that match no mentioned name. It reports whether
// these are all.
func (o *objectProjector) patterns(patterns rawjson.Node, mentioned []string) bool {
	whole := true
	first := true
	for c := o.Doc.First(patterns); c != rawjson.None; c = o.Doc.Next(c) {
		pattern := ecmaregexp.CompileAny(o.Doc.Key(c))
		if slices.ContainsFunc(mentioned, func(name string) bool { matched, sure := matchesName(pattern, name); return matched || !sure }) {
			whole = false
			continue
		}
		if first {
			o.key("patternProperties")
			o.dst = append(o.dst, '{')
		} else {
			o.dst = append(o.dst, ',')
		}
		first = false
		o.dst = append(rawjson.AppendString(o.dst, o.Doc.Key(c)), ':')
		o.dst = o.schema(o.dst, c, o.selection.each)
	}
	if !first {
		o.dst = append(o.dst, '}')
	}
	return whole
}
