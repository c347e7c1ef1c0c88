package jq

import (
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Paths are the members of its input that the filter reads by a name that
// stands in it, as JSON Pointers in which "*" is every member or item. What may
// be missing by the filter's own words (.a?, .a // 0, try) is left out, and so
// is what is read of values that the filter has made.
func (f *Filter) Paths() []string { return f.paths }

// maxSteps bounds how much of a filter is looked at.
const maxSteps = 10_000

// reading goes through a filter with the places that its values come from.
type reading struct {
	found  []string
	own    map[string]bool // functions that the filter defines
	missed int             // above 0: what is read may be missing
	steps  int
}

// place is a JSON Pointer into the input; nil: a value from elsewhere.
type place *string

func pathsOf(q *gojq.Query) []string {
	r := &reading{own: map[string]bool{}}
	r.query(q, new(""))
	return r.found
}

// query returns where the values come from that q makes of one that comes from
// at.
func (r *reading) query(q *gojq.Query, at place) []place {
	if r.steps++; q == nil || at == nil || r.steps > maxSteps {
		return nil
	}
	for _, d := range q.FuncDefs {
		r.own[d.Name] = true // what it reads depends on where it is called
	}
	if q.Term != nil {
		return r.term(q.Term, at)
	}
	switch q.Op {
	case gojq.OpPipe:
		if q.Patterns != nil { // … as $x | …
			r.query(q.Left, at)
			return r.query(q.Right, at)
		}
		return r.through(r.query(q.Left, at), func(p place) []place { return r.query(q.Right, p) })
	case gojq.OpComma:
		return append(r.query(q.Left, at), r.query(q.Right, at)...)
	case gojq.OpAlt:
		return append(r.leniently(func() []place { return r.query(q.Left, at) }), r.query(q.Right, at)...)
	case gojq.OpAssign, gojq.OpUpdateAlt: // they may make what is not there
		r.leniently(func() []place { return r.query(q.Left, at) })
	default:
		r.query(q.Left, at)
	}
	r.query(q.Right, at)
	return nil
}

func (r *reading) through(from []place, f func(place) []place) (to []place) {
	for _, p := range from {
		to = append(to, f(p)...)
	}
	return to
}

func (r *reading) leniently(f func() []place) []place {
	r.missed++
	defer func() { r.missed-- }()
	return f()
}

func (r *reading) term(t *gojq.Term, at place) []place {
	if slices.ContainsFunc(t.SuffixList, func(s *gojq.Suffix) bool { return s.Optional }) {
		r.missed++
		defer func() { r.missed-- }()
	}
	places := r.head(t, at)
	for _, s := range t.SuffixList {
		switch {
		case s.Index != nil:
			places = r.through(places, func(p place) []place { return r.index(s.Index, p, at) })
		case s.Iter:
			places = r.through(places, r.each)
		}
	}
	return places
}

func (r *reading) head(t *gojq.Term, at place) []place {
	switch t.Type { //nolint:exhaustive // the others read nothing, or what nobody can tell
	case gojq.TermTypeIdentity:
		return []place{at}
	case gojq.TermTypeIndex:
		return r.index(t.Index, at, at)
	case gojq.TermTypeQuery:
		return r.query(t.Query, at)
	case gojq.TermTypeFunc:
		return r.function(t.Func, at)
	case gojq.TermTypeIf:
		r.query(t.If.Cond, at)
		to := append(r.query(t.If.Then, at), r.query(t.If.Else, at)...)
		for _, e := range t.If.Elif {
			r.query(e.Cond, at)
			to = append(to, r.query(e.Then, at)...)
		}
		return to
	case gojq.TermTypeTry:
		return r.leniently(func() []place { return r.query(t.Try.Body, at) })
	case gojq.TermTypeLabel:
		return r.query(t.Label.Body, at)
	case gojq.TermTypeArray:
		r.query(t.Array.Query, at)
	case gojq.TermTypeUnary:
		r.term(t.Unary.Term, at)
	case gojq.TermTypeReduce:
		r.query(t.Reduce.Query, at)
	case gojq.TermTypeForeach:
		r.query(t.Foreach.Query, at)
	case gojq.TermTypeString, gojq.TermTypeFormat:
		if t.Str != nil {
			for _, q := range t.Str.Queries {
				r.query(q, at)
			}
		}
	case gojq.TermTypeObject:
		r.object(t.Object, at)
	}
	return nil
}

func (r *reading) object(o *gojq.Object, at place) {
	for _, m := range o.KeyVals {
		switch {
		case m.Val != nil:
			r.query(m.KeyQuery, at)
			r.query(m.Val, at)
		case m.KeyString != nil && m.KeyString.Queries == nil:
			r.member(m.KeyString.Str, at)
		case m.Key != "" && !strings.HasPrefix(m.Key, "$"):
			r.member(m.Key, at)
		}
	}
}

// index reads a member, an item or a slice of what comes from p; what stands
// between the brackets is read of at.
func (r *reading) index(x *gojq.Index, p, at place) []place {
	switch {
	case x.Name != "":
		return r.member(x.Name, p)
	case x.Str != nil && x.Str.Queries == nil:
		return r.member(x.Str.Str, p)
	case x.IsSlice:
		return []place{p}
	case x.Start != nil && x.Start.Term != nil && x.Start.Term.SuffixList == nil:
		switch t := x.Start.Term; {
		case t.Type == gojq.TermTypeString && t.Str.Queries == nil:
			return r.member(t.Str.Str, p)
		case t.Type == gojq.TermTypeNumber, t.Type == gojq.TermTypeUnary:
			return r.each(p)
		}
	}
	r.query(x.Start, at)
	return nil
}

func (r *reading) member(name string, p place) []place {
	if name == "*" { // it would be every member
		return nil
	}
	return r.read(*p + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

func (r *reading) each(p place) []place {
	return []place{new(*p + "/*")}
}

func (r *reading) read(pointer string) []place {
	if r.missed > 0 {
		return nil // nor is anything in it
	}
	if !slices.Contains(r.found, pointer) {
		r.found = append(r.found, pointer)
	}
	return []place{&pointer}
}

// function knows what the usual functions read and hand on.
func (r *reading) function(f *gojq.Func, at place) []place {
	if r.own[f.Name] {
		return nil
	}
	switch one := len(f.Args) == 1; f.Name {
	case "select":
		if one {
			r.query(f.Args[0], at)
			return []place{at}
		}
	case "first", "last":
		if one {
			return r.query(f.Args[0], at)
		}
		return r.each(at)
	case "map", "map_values", "any", "all", "group_by", "sort_by", "unique_by", "min_by", "max_by":
		if !one {
			return nil
		}
		r.through(r.each(at), func(p place) []place { return r.query(f.Args[0], p) })
		switch f.Name {
		case "sort_by", "unique_by":
			return []place{at}
		case "min_by", "max_by":
			return r.each(at)
		}
	case "del":
		if one {
			r.query(f.Args[0], at)
			return []place{at}
		}
	case "sort", "reverse", "unique", "values", "objects", "arrays", "iterables", "debug":
		if len(f.Args) == 0 {
			return []place{at}
		}
	}
	return nil
}
