package schemadoc

import "github.com/tenon-mcp/tenon/internal/rawjson"

// Widener removes keywords from a document so that every valid value stays
// valid. Removing a keyword lets its schema accept more; where a schema that
// accepts more would make another accept less (under not, oneOf, if), the
// keyword that contains it is removed too, or replaced by a weaker one.
type Widener struct {
	*Locations
	Edits              Edits
	wider              []bool                // by location: accepts more than before
	uses               map[int32][]int       // references by the location of their target
	Removed            map[rawjson.Node]bool // Removed values of keywords, and schemas
	note               func(site int32, m rawjson.Node, what string)
	unevaluatedDropped bool // an annotation is lost that unevaluated… may depend on
}

// NewWidener returns a widener that reports its changes to note.
func NewWidener(x *Locations, note func(site int32, m rawjson.Node, what string)) *Widener {
	return &Widener{Locations: x, Edits: Edits{Doc: x.Doc}, note: note}
}

// Reasons of changes.
const (
	becauseWider  = "left out: a part of it became wider"
	BecauseClosed = "left out with a keyword that it completes"
)

// Drop removes the keyword of location i whose value is m.
func (l *Widener) Drop(i int32, m rawjson.Node, why string) {
	if m == rawjson.None || l.Removed[m] {
		return
	}
	l.MarkRemoved(m)
	l.Edits.Drop(m)
	l.note(i, m, why)
	k := l.Keyword(m)
	for _, key := range completedBy(k) {
		l.Drop(i, l.Doc.Get(l.List[i].Node, key), BecauseClosed)
	}
	l.DropUnevaluated(k)
	l.Widen(i)
}

// completedBy returns the keywords that change or lose their meaning without k.
func completedBy(k Keyword) []string {
	switch k {
	case KwProperties, KwPatternProperties:
		return []string{"additionalProperties"}
	case KwPrefixItems:
		return []string{"items"}
	case KwContains:
		return []string{"minContains", "maxContains"}
	case KwMinContains:
		return []string{"contains"}
	case KwIf:
		return []string{"then", "else"}
	}
	return nil
}

// Clear makes the schema at location i accept everything; text replaces it.
func (l *Widener) Clear(i int32, text []byte) {
	p := &l.List[i]
	if l.Removed[p.Node] {
		return
	}
	l.MarkRemoved(p.Node)
	l.Edits.Replace(p.Node, text)
	l.DropUnevaluated(KwRef)
	l.Widen(i)
}

// MarkRemoved records that a value is removed or moved.
func (l *Widener) MarkRemoved(n rawjson.Node) {
	if l.Removed == nil {
		l.Removed = map[rawjson.Node]bool{}
	}
	l.Removed[n] = true
}

// DropUnevaluated removes unevaluatedItems and unevaluatedProperties everywhere once a
// keyword is removed that affects what is evaluated.
func (l *Widener) DropUnevaluated(k Keyword) {
	if l.unevaluatedDropped || k.Form() == HoldsNone && k != KwRef && k != KwDynamicRef {
		return
	}
	switch k {
	case KwNot, KwPropertyNames, KwDefs, KwDefinitions, KwContentSchema:
		return
	}
	l.unevaluatedDropped = true
	for _, m := range l.open {
		l.Drop(l.List[l.At(m)].Parent, m, BecauseClosed)
	}
}

// Widen records that location i accepts more, and follows parents and
// references to everything that depends on it.
func (l *Widener) Widen(i int32) {
	if l.wider == nil {
		l.wider = make([]bool, len(l.List))
		l.uses = map[int32][]int{}
		for k := range l.Refs {
			l.uses[l.Refs[k].Target] = append(l.uses[l.Refs[k].Target], k)
		}
	}
	for i >= 0 && !l.wider[i] {
		l.wider[i] = true
		for _, k := range l.uses[i] {
			if r := &l.Refs[k]; !l.Removed[r.Node] {
				l.Widen(r.Location)
			}
		}
		p := &l.List[i]
		switch p.Via {
		case KwDefs, KwDefinitions, KwContentSchema:
			return
		case KwNot, KwIf:
			l.Drop(p.Parent, p.Holder, becauseWider)
			return
		case KwOneOf:
			l.weaken(p.Parent, p.Holder)
			return
		case KwContains:
			if l.Doc.Get(l.List[p.Parent].Node, "maxContains") != rawjson.None {
				l.Drop(p.Parent, p.Holder, becauseWider)
				return
			}
		}
		i = p.Parent
	}
}

// weaken makes a oneOf an anyOf.
func (l *Widener) weaken(i int32, m rawjson.Node) {
	if l.Removed[m] {
		return
	}
	if l.Doc.Get(l.List[i].Node, "anyOf") != rawjson.None {
		l.Drop(i, m, becauseWider)
		return
	}
	l.MarkRemoved(m) // references into it no longer resolve
	l.Edits.Rename(m, "anyOf")
	l.note(i, m, "became anyOf: a part of it became wider")
	l.Widen(i)
}

// DropDanglingRefs removes the references to what is removed.
func (l *Widener) DropDanglingRefs() {
	if len(l.Removed) == 0 {
		return
	}
	for again := true; again; {
		again = false
		for k := range l.Refs {
			r := &l.Refs[k]
			if r.Target >= 0 && !l.Removed[r.Node] && l.Unresolvable(r.Target) && !l.Dropped(r.Location) {
				again = true
				l.Drop(r.Location, r.Node, "left out: its target was removed")
			}
		}
	}
}

// Unresolvable reports whether pointers to location i no longer resolve.
func (l *Widener) Unresolvable(i int32) bool {
	for ; i > 0; i = l.List[i].Parent {
		if p := &l.List[i]; l.Removed[p.Node] || l.Removed[p.Holder] {
			return true
		}
	}
	return false
}

// Dropped reports whether location i is no longer written.
func (l *Widener) Dropped(i int32) bool {
	for ; i > 0; i = l.List[i].Parent {
		p := &l.List[i]
		if l.Removed[p.Node] || l.Removed[p.Holder] && l.Keyword(p.Holder) != KwOneOf {
			return true
		}
	}
	return false
}
