package jq

import (
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Paths returns the members of its input that the filter reads by a literal
// name, as JSON Pointers in which "*" is every member or item. Members that the
// filter treats as optional (.a?, .a // 0, try) are left out, and so is what is
// read of values that the filter has made.
func (f *Filter) Paths() []string { return f.paths }

// maxSteps bounds how much of a filter is visited.
const maxSteps = 10_000

// pathReader walks a filter and tracks where in the input its values come from.
type pathReader struct {
	found    []string
	defined  map[string]bool // functions that the filter defines
	optional int             // above 0: missing members are allowed
	steps    int
}

// origin is a JSON Pointer into the input; nil: a value from elsewhere.
type origin *string

func pathsOf(q *gojq.Query) []string {
	r := &pathReader{defined: map[string]bool{}}
	r.query(q, new(""))
	return r.found
}

// query returns where the results of q come from, for an input that comes from
// at.
func (r *pathReader) query(q *gojq.Query, at origin) []origin {
	if r.steps++; q == nil || at == nil || r.steps > maxSteps {
		return nil
	}
	for _, d := range q.FuncDefs {
		r.defined[d.Name] = true // what it reads depends on its caller
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
		return r.fromEach(r.query(q.Left, at), func(p origin) []origin { return r.query(q.Right, p) })
	case gojq.OpComma:
		return append(r.query(q.Left, at), r.query(q.Right, at)...)
	case gojq.OpAlt:
		return append(r.leniently(func() []origin { return r.query(q.Left, at) }), r.query(q.Right, at)...)
	case gojq.OpAssign, gojq.OpUpdateAlt: // they may create members
		r.leniently(func() []origin { return r.query(q.Left, at) })
	default:
		r.query(q.Left, at)
	}
	r.query(q.Right, at)
	return nil
}

func (r *pathReader) fromEach(from []origin, f func(origin) []origin) (to []origin) {
	for _, p := range from {
		to = append(to, f(p)...)
	}
	return to
}

func (r *pathReader) leniently(f func() []origin) []origin {
	r.optional++
	defer func() { r.optional-- }()
	return f()
}

func (r *pathReader) term(t *gojq.Term, at origin) []origin {
	if slices.ContainsFunc(t.SuffixList, func(s *gojq.Suffix) bool { return s.Optional }) {
		r.optional++
		defer func() { r.optional-- }()
	}
	places := r.head(t, at)
	for _, s := range t.SuffixList {
		switch {
		case s.Index != nil:
			places = r.fromEach(places, func(p origin) []origin { return r.index(s.Index, p, at) })
		case s.Iter:
			places = r.fromEach(places, r.each)
		}
	}
	return places
}

func (r *pathReader) head(t *gojq.Term, at origin) []origin {
	switch t.Type { //nolint:exhaustive // the others read nothing, or unknown members
	case gojq.TermTypeIdentity:
		return []origin{at}
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
		return r.leniently(func() []origin { return r.query(t.Try.Body, at) })
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

func (r *pathReader) object(o *gojq.Object, at origin) {
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

// index reads a member, an item or a slice of what comes from p; expressions in
// the brackets are evaluated for at.
func (r *pathReader) index(x *gojq.Index, p, at origin) []origin {
	switch {
	case x.Name != "":
		return r.member(x.Name, p)
	case x.Str != nil && x.Str.Queries == nil:
		return r.member(x.Str.Str, p)
	case x.IsSlice:
		return []origin{p}
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

func (r *pathReader) member(name string, p origin) []origin {
	if name == "*" { // would mean every member
		return nil
	}
	return r.read(*p + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

func (r *pathReader) each(p origin) []origin {
	return []origin{new(*p + "/*")}
}

func (r *pathReader) read(pointer string) []origin {
	if r.optional > 0 {
		return nil // nor is anything in it
	}
	if !slices.Contains(r.found, pointer) {
		r.found = append(r.found, pointer)
	}
	return []origin{&pointer}
}

// function tracks what the common functions read and return.
func (r *pathReader) function(f *gojq.Func, at origin) []origin {
	if r.defined[f.Name] {
		return nil
	}
	switch one := len(f.Args) == 1; f.Name {
	case "select":
		if one {
			r.query(f.Args[0], at)
			return []origin{at}
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
		r.fromEach(r.each(at), func(p origin) []origin { return r.query(f.Args[0], p) })
		switch f.Name {
		case "sort_by", "unique_by":
			return []origin{at}
		case "min_by", "max_by":
			return r.each(at)
		}
	case "del":
		if one {
			r.query(f.Args[0], at)
			return []origin{at}
		}
	case "sort", "reverse", "unique", "values", "objects", "arrays", "iterables", "debug":
		if len(f.Args) == 0 {
			return []origin{at}
		}
	}
	return nil
}
