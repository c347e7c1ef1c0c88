package schema

import "github.com/tenon-mcp/tenon/internal/rawjson"

// cut answers the document after a step, or more than the limit's bytes of it.
func (r *relaxer) cut(s step) []byte {
	l := newLoosener(r.sites, func(int32, rawjson.Node, string) {})
	l.patches.limit = r.limit
	r.forget(l, r.distance, s.references)
	for i := range r.list {
		at := int32(i)
		if def := r.list[i].def; def >= 0 && r.distance[def] > s.references {
			continue
		}
		if s.levels > 0 && r.level[i] == s.levels {
			r.prune(l, at, s.bare)
		}
		if i > 0 {
			r.unwordSite(&l.patches, r.list[i].node)
		}
	}
	for k := range r.sites.refs {
		if ref := &r.sites.refs[k]; ref.target >= 0 && l.lost(ref.target) && !l.dropped(ref.site) {
			r.cutReference(l, ref)
		}
	}
	l.settle()
	r.forgetUnused(l)
	return l.patches.apply(r.doc.Root())
}

// forget leaves out the definitions that are too far away. What refers to
// them is cut afterwards.
func (r *relaxer) forget(l *loosener, distance []int32, most int32) {
	kept := 0
	for d, i := range r.start {
		if distance[d] <= most {
			kept++
			continue
		}
		l.lose(r.list[i].node)
		l.patches.drop(r.list[i].node)
	}
	if kept == 0 && r.defs != rawjson.None {
		l.patches.drop(r.defs)
	}
}

// forgetUnused leaves out the definitions that nothing refers to any more.
func (r *relaxer) forgetUnused(l *loosener) {
	distance := r.distances(func(k int) bool {
		ref := &r.sites.refs[k]
		return !l.gone[ref.node] && !l.dropped(ref.site)
	})
	r.forget(l, distance, far-1)
}

// prune leaves out all keywords of place i that hold or name schemas; bare,
// all but its type.
func (r *relaxer) prune(l *loosener, i int32, bare bool) {
	n := r.list[i].node
	if r.doc.Kind(n) != rawjson.Object {
		return
	}
	for m := r.doc.First(n); m != rawjson.None; m = r.doc.Next(m) {
		switch k := r.keyword(m); {
		case k == kwRef:
			r.cutReference(l, r.refAt(m))
		case k == kwAdditionalProperties && r.doc.Kind(m) == rawjson.Bool && !bare:
			// It goes with the properties that it completes.
		case k.form() != holdsNone, k == kwDynamicRef:
			l.drop(i, m, "")
		case bare && k == noKeyword:
			l.patches.drop(m)
		case bare && k != kwType && k != kwNote && k != kwExamples:
			l.drop(i, m, "")
		}
	}
}

// cutReference leaves out a reference. The type of what it leads to stays.
func (r *relaxer) cutReference(l *loosener, ref *reference) {
	if l.gone[ref.node] {
		return
	}
	n := r.list[ref.site].node
	l.drop(ref.site, ref.node, "")
	if t := r.typeOf(ref); t != nil && r.doc.Get(n, "type") == rawjson.None {
		l.patches.prepend(n, append([]byte(`"type":`), t...))
	}
}

// typeOf answers the type of what a reference leads to.
func (r *relaxer) typeOf(ref *reference) []byte {
	if ref.target < 0 || ref.via != kwRef {
		return nil
	}
	return r.doc.Raw(r.doc.Get(r.list[ref.target].node, "type"))
}

// outline answers what is left of the root when all details are gone: the
// most that is within the limit.
func (r *relaxer) outline() []byte {
	from := r.rootObject()
	note := r.member(r.doc.Root(), "description", rawjson.String)
	kind, required := r.member(from, "type", rawjson.Invalid), r.member(from, "required", rawjson.Array)
	if own := r.member(r.doc.Root(), "type", rawjson.Invalid); own != nil {
		kind = own
	}
	typed, named := r.properties(from, true), r.properties(from, false)
	for _, members := range [][][]byte{
		{note, kind, typed, required},
		{kind, typed, required},
		{kind, named, required},
		{kind, required},
	} {
		if text := object(members); len(text) <= r.limit {
			return text
		}
	}
	if text := object([][]byte{kind}); string(text) == `{"type":"object"}` {
		return text
	}
	return []byte(`{}`)
}

// rootObject answers the schema that describes the root: itself, or what it
// refers to if it does not speak of properties.
func (r *relaxer) rootObject() rawjson.Node {
	root := r.doc.Root()
	if ref := r.doc.Get(root, "$ref"); ref != rawjson.None && r.doc.Get(root, "properties") == rawjson.None {
		if to := r.refAt(ref); to != nil && to.target > 0 {
			return r.list[to.target].node
		}
	}
	return root
}

// member answers a member with its key, nil if it is not there or of another
// kind than the wanted one.
func (r *relaxer) member(n rawjson.Node, key string, want rawjson.Kind) []byte {
	m := r.doc.Get(n, key)
	if m == rawjson.None || want != rawjson.Invalid && r.doc.Kind(m) != want {
		return nil
	}
	return append(append(rawjson.AppendString(nil, key), ':'), r.doc.Raw(m)...)
}

// properties answers the member of that name with what is left of each: its
// type, or nothing.
func (r *relaxer) properties(n rawjson.Node, typed bool) []byte {
	props := r.doc.Get(n, "properties")
	if r.doc.Kind(props) != rawjson.Object {
		return nil
	}
	text := []byte(`"properties":{`)
	for m := r.doc.First(props); m != rawjson.None; m = r.doc.Next(m) {
		if m != r.doc.First(props) {
			text = append(text, ',')
		}
		text = append(append(append(text, '"'), r.doc.RawKey(m)...), `":{`...)
		if typed {
			text = append(text, r.typeMember(m)...)
		}
		text = append(text, '}')
	}
	return append(text, '}')
}

// typeMember answers the type that a schema says, or the one of what it refers
// to.
func (r *relaxer) typeMember(n rawjson.Node) []byte {
	if own := r.member(n, "type", rawjson.Invalid); own != nil {
		return own
	}
	if ref := r.refAt(r.doc.Get(n, "$ref")); ref != nil {
		if t := r.typeOf(ref); t != nil {
			return append([]byte(`"type":`), t...)
		}
	}
	return nil
}

// object joins members, leaving out those that are nil.
func object(members [][]byte) []byte {
	text := []byte{'{'}
	for _, m := range members {
		if m == nil {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, m...)
	}
	return append(text, '}')
}
