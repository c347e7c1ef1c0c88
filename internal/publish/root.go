package publish

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

const (
	maxOpened   = 8   // references that lead from the root to a definition
	maxNamed    = 500 // properties that are named at the root
	maxNameDeep = 64  // references and branches between the root and a name
	maxRepeated = 300 // bytes of a property's schema that is repeated at the root
)

// OpenRoot returns doc with a definition at its root where the root is nothing but a
// reference to it: some clients read the properties of the root alone. It means the same.
// The definition is left out where nothing else refers to it.
func OpenRoot(doc []byte) []byte {
	if !bytes.Contains(doc, []byte(`"$ref"`)) {
		return doc
	}
	for range maxOpened {
		next := openOnce(doc)
		if next == nil {
			break
		}
		doc = next
	}
	return doc
}

// openOnce follows one reference; nil: there is none that can be followed.
func openOnce(doc []byte) []byte {
	d, err := rawjson.Parse(doc)
	if err != nil || d.Kind(d.Root()) != rawjson.Object {
		return nil
	}
	x := schemadoc.FindLocations(d)
	ref := x.RefAt(d.Get(d.Root(), "$ref"))
	if ref == nil || ref.Kind != schemadoc.RefDefs || ref.Target < 0 || x.NeedFlattening() || !opens(d, x.List[ref.Target].Node) {
		return nil
	}
	target, defs := x.List[ref.Target].Node, d.Get(d.Root(), "$defs")
	others := false // refer to the definition, or to something in it
	for i := range x.Refs {
		r := &x.Refs[i]
		others = others || r != ref && (r.Target == ref.Target || r.Kind != schemadoc.RefDefs)
	}
	dst := []byte{'{'}
	if d.Get(d.Root(), "type") != rawjson.None && d.Get(target, "type") == rawjson.None {
		dst = append(dst, `"type":"object",`...)
	}
	dst = append(dst, bytes.TrimSpace(d.Raw(target)[1:len(d.Raw(target))-1])...)
	edits := schemadoc.Edits{Doc: d}
	if !others {
		edits.Drop(target)
	}
	if others || d.Len(defs) > 1 {
		dst = append(append(dst, `,"$defs":`...), edits.Apply(defs)...)
	}
	return append(dst, '}')
}

// opens reports whether a definition can stand at the root: beside the reference there is
// nothing else than a type, and only one of the two says more than object.
func opens(d *rawjson.Doc, target rawjson.Node) bool {
	typed := false
	for m := d.First(d.Root()); m != rawjson.None; m = d.Next(m) {
		switch d.Key(m) {
		case "$ref", "$defs":
		case "type":
			if typed = true; !d.IsStr(m, "object") {
				return false
			}
		default:
			return false
		}
	}
	if d.Kind(target) != rawjson.Object || d.Len(target) == 0 || d.Get(target, "$defs") != rawjson.None {
		return false
	}
	t := d.Get(target, "type")
	return !typed || t == rawjson.None || d.IsStr(t, "object")
}

// NameAtRoot returns doc with the properties at its root that references and branches of
// the root name: some clients read these alone. It means the same: what stands there is
// {}, or what has to hold in any case.
func NameAtRoot(doc []byte) []byte {
	d, err := rawjson.Parse(doc)
	if err != nil || d.Kind(d.Root()) != rawjson.Object {
		return doc
	}
	root := d.Root()
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		if m := d.Get(root, key); m != rawjson.None && !d.IsTrue(m) && string(d.Raw(m)) != "{}" {
			return doc // it binds what is not named
		}
	}
	properties := d.Get(root, "properties")
	if properties != rawjson.None && d.Kind(properties) != rawjson.Object {
		return doc
	}
	n := namer{doc: d, locations: schemadoc.FindLocations(d), seen: map[string]bool{}, visited: map[rawjson.Node]bool{}, dst: []byte(`{`)}
	for m := d.First(properties); m != rawjson.None; m = d.Next(m) {
		n.seen[d.Key(m)] = true
		n.add(d.RawKey(m), d.Raw(m))
	}
	before := len(n.seen)
	n.branches(root, true, 0)
	if len(n.seen) == before {
		return doc
	}
	n.dst = append(n.dst, '}')
	edits := schemadoc.Edits{Doc: d}
	if properties != rawjson.None {
		edits.Replace(properties, n.dst)
		return edits.Apply(root)
	}
	text := slices.Concat([]byte(`"properties":`), n.dst)
	if t := d.Get(root, "type"); t != rawjson.None { // behind the type, which stays first
		text = slices.Concat([]byte(`"type":`), d.Raw(t), []byte{','}, text)
		edits.Drop(t)
	}
	edits.Prepend(root, text)
	return edits.Apply(root)
}

// namer collects the properties of branches.
type namer struct {
	doc       *rawjson.Doc
	locations *schemadoc.Locations
	seen      map[string]bool
	visited   map[rawjson.Node]bool // schemas: they may refer to themselves
	dst       []byte                // members
}

func (n *namer) add(key, schema []byte) {
	if len(n.dst) > 1 {
		n.dst = append(n.dst, ',')
	}
	n.dst = append(append(append(append(n.dst, '"'), key...), `":`...), schema...)
}

// branches adds what the references and branches of a schema name. always: what they say
// holds for every value.
func (n *namer) branches(s rawjson.Node, always bool, depth int) {
	if depth > maxNameDeep {
		return
	}
	if r := n.locations.RefAt(n.doc.Get(s, "$ref")); r != nil && r.Target >= 0 {
		n.schema(n.locations.List[r.Target].Node, always, depth+1)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for c := n.doc.First(n.doc.Get(s, key)); c != rawjson.None; c = n.doc.Next(c) {
			n.schema(c, always && key == "allOf", depth+1)
		}
	}
}

func (n *namer) schema(s rawjson.Node, always bool, depth int) {
	if n.doc.Kind(s) != rawjson.Object || n.visited[s] {
		return
	}
	n.visited[s] = true
	for m := n.doc.First(n.doc.Get(s, "properties")); m != rawjson.None; m = n.doc.Next(m) {
		if n.seen[n.doc.Key(m)] || len(n.seen) >= maxNamed {
			continue
		}
		n.seen[n.doc.Key(m)] = true
		schema := []byte("{}")
		if raw := n.doc.Raw(m); always && n.doc.Kind(m) == rawjson.Object && len(raw) <= maxRepeated && !identifies(raw) {
			schema = raw
		}
		n.add(n.doc.RawKey(m), schema)
	}
	n.branches(s, always, depth)
}

// identifies reports whether a schema has a name of its own, which must not come twice.
func identifies(raw []byte) bool {
	return strings.Contains(string(raw), `"$id"`) || strings.Contains(string(raw), `nchor"`)
}
