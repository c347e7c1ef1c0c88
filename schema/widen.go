package schema

import "github.com/tenon-mcp/tenon/internal/rawjson"

// loosener takes keywords out of a document so that whatever fitted before
// still fits. Taking out a keyword lets its schema accept more; where a schema
// that accepts more would make another accept less (under not, oneOf, if), the
// keyword that holds it goes too, or becomes a weaker one.
type loosener struct {
	*sites
	patches patches
	loose   []bool                // by place: accepts more than before
	uses    map[int32][]int       // references by the place that they lead to
	gone    map[rawjson.Node]bool // values of keywords, and schemas, that are no longer there
	note    func(site int32, m rawjson.Node, what string)
	tainted bool // some annotation is lost that unevaluated… may wait for
}

func newLoosener(x *sites, note func(site int32, m rawjson.Node, what string)) *loosener {
	return &loosener{sites: x, patches: patches{doc: x.doc}, note: note}
}

const (
	becauseWider  = "left out: a part of it became wider"
	becauseClosed = "left out with a keyword that it completes"
)

// drop takes out the keyword of place i whose value is m.
func (l *loosener) drop(i int32, m rawjson.Node, why string) {
	if m == rawjson.None || l.gone[m] {
		return
	}
	l.lose(m)
	l.patches.drop(m)
	l.note(i, m, why)
	k := l.keyword(m)
	for _, key := range completedBy(k) {
		l.drop(i, l.doc.Get(l.list[i].node, key), becauseClosed)
	}
	l.taint(k)
	l.loosen(i)
}

// completedBy answers the keywords that say something else, or nothing, once
// k is gone.
func completedBy(k keyword) []string {
	switch k {
	case kwProperties, kwPatternProperties:
		return []string{"additionalProperties"}
	case kwPrefixItems:
		return []string{"items"}
	case kwContains:
		return []string{"minContains", "maxContains"}
	case kwMinContains:
		return []string{"contains"}
	case kwIf:
		return []string{"then", "else"}
	}
	return nil
}

// clear makes the schema at place i accept everything; text is what stands
// there instead.
func (l *loosener) clear(i int32, text []byte) {
	p := &l.list[i]
	if l.gone[p.node] {
		return
	}
	l.lose(p.node)
	l.patches.replace(p.node, text)
	l.taint(kwRef)
	l.loosen(i)
}

func (l *loosener) lose(n rawjson.Node) {
	if l.gone == nil {
		l.gone = map[rawjson.Node]bool{}
	}
	l.gone[n] = true
}

// taint takes out unevaluatedItems and unevaluatedProperties everywhere once a
// keyword is gone that told them what is evaluated.
func (l *loosener) taint(k keyword) {
	if l.tainted || k.form() == holdsNone && k != kwRef && k != kwDynamicRef {
		return
	}
	switch k {
	case kwNot, kwPropertyNames, kwDefs, kwDefinitions, kwContentSchema:
		return
	}
	l.tainted = true
	for _, m := range l.open {
		l.drop(l.list[l.at(m)].parent, m, becauseClosed)
	}
}

// loosen notes that place i accepts more, and goes up and along references to
// all whose meaning depends on that.
func (l *loosener) loosen(i int32) {
	if l.loose == nil {
		l.loose = make([]bool, len(l.list))
		l.uses = map[int32][]int{}
		for k := range l.refs {
			l.uses[l.refs[k].target] = append(l.uses[l.refs[k].target], k)
		}
	}
	for i >= 0 && !l.loose[i] {
		l.loose[i] = true
		for _, k := range l.uses[i] {
			if r := &l.refs[k]; !l.gone[r.node] {
				l.loosen(r.site)
			}
		}
		p := &l.list[i]
		switch p.via {
		case kwDefs, kwDefinitions, kwContentSchema:
			return
		case kwNot, kwIf:
			l.drop(p.parent, p.holder, becauseWider)
			return
		case kwOneOf:
			l.weaken(p.parent, p.holder)
			return
		case kwContains:
			if l.doc.Get(l.list[p.parent].node, "maxContains") != rawjson.None {
				l.drop(p.parent, p.holder, becauseWider)
				return
			}
		}
		i = p.parent
	}
}

// weaken makes a oneOf an anyOf.
func (l *loosener) weaken(i int32, m rawjson.Node) {
	if l.gone[m] {
		return
	}
	if l.doc.Get(l.list[i].node, "anyOf") != rawjson.None {
		l.drop(i, m, becauseWider)
		return
	}
	l.lose(m) // references into it no longer find the way
	l.patches.rename(m, "anyOf")
	l.note(i, m, "became anyOf: a part of it became wider")
	l.loosen(i)
}

// settle takes out the references that lead to what is no longer there.
func (l *loosener) settle() {
	if len(l.gone) == 0 {
		return
	}
	for again := true; again; {
		again = false
		for k := range l.refs {
			r := &l.refs[k]
			if r.target >= 0 && !l.gone[r.node] && l.lost(r.target) && !l.dropped(r.site) {
				again = true
				l.drop(r.site, r.node, "left out: what it refers to is no longer there")
			}
		}
	}
}

// lost reports whether pointers to place i lead nowhere.
func (l *loosener) lost(i int32) bool {
	for ; i > 0; i = l.list[i].parent {
		if p := &l.list[i]; l.gone[p.node] || l.gone[p.holder] {
			return true
		}
	}
	return false
}

// dropped reports whether place i is not written any more.
func (l *loosener) dropped(i int32) bool {
	for ; i > 0; i = l.list[i].parent {
		p := &l.list[i]
		if l.gone[p.node] || l.gone[p.holder] && l.keyword(p.holder) != kwOneOf {
			return true
		}
	}
	return false
}
