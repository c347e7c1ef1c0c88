package schema

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// message answers the library's own words for an error, without the place.
func message(k jsonschema.ErrorKind) string {
	return strings.TrimPrefix((&jsonschema.ValidationError{ErrorKind: k}).Error(), "at '': ")
}

// explainer turns the errors of the library into violations. An error of
// propertyNames may carry a wrong place: in v6.0.3 it shares the memory of its
// path with the values that are looked at after it.
type explainer struct {
	value *rawjson.Doc
	meant map[string]*discriminator
	found []placed
	seen  map[Violation]struct{}
}

// placed is a violation and where the value begins that it is about.
type placed struct {
	at int
	Violation
}

// maxLeaves bounds the errors that are looked at before the first are chosen.
const maxLeaves = 100 * maxViolations

func explain(err *jsonschema.ValidationError, value []byte, meant map[string]*discriminator) []Violation {
	doc, perr := rawjson.Parse(value)
	if perr != nil {
		return tooMuch() // cannot be: the syntax was checked
	}
	e := explainer{value: doc, meant: meant, seen: map[Violation]struct{}{}}
	e.walk(err)
	slices.SortFunc(e.found, func(a, b placed) int { // the library's order is that of a map
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.Keyword, b.Keyword), strings.Compare(a.Expected, b.Expected))
	})
	found := make([]Violation, min(len(e.found), maxViolations))
	for i := range found {
		found[i] = e.found[i].Violation
	}
	return found
}

// walk reports the leaves of the tree of errors: those are what is wrong, the
// inner ones only say which union or reference led there.
func (e *explainer) walk(err *jsonschema.ValidationError) {
	if len(e.found) >= maxLeaves {
		return
	}
	if _, ok := err.ErrorKind.(*kind.PropertyNames); !ok && len(err.Causes) > 0 {
		for _, c := range e.branches(err) {
			if !optional(err, c) {
				e.walk(c)
			}
		}
		return
	}
	e.leaf(pathOf(err), err.ErrorKind)
}

func pathOf(err *jsonschema.ValidationError) string {
	var ptr []byte
	for _, t := range err.InstanceLocation {
		ptr = appendToken(ptr, t)
	}
	return string(ptr)
}

// branches answers what led to an error: of a union, which has an error for each
// branch, that of the branch that the value is meant for, if it tells.
func (e *explainer) branches(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	d := e.meant[err.SchemaURL]
	if d == nil {
		return err.Causes
	}
	var c choice
	switch err.ErrorKind.(type) {
	case *kind.OneOf:
		c = d.one()
	case *kind.AnyOf:
		c = d.any()
	}
	i, ok := c.of(e.value, e.value.Pointer(pathOf(err)))
	if !ok || i >= len(err.Causes) {
		return err.Causes
	}
	return err.Causes[i : i+1]
}

// optional reports whether c only says that a value is not null, where another
// branch of a union takes values of its type: that one says what is wrong.
func optional(union, c *jsonschema.ValidationError) bool {
	switch union.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
	default:
		return false
	}
	return wantsNull(c) && slices.ContainsFunc(union.Causes, func(other *jsonschema.ValidationError) bool {
		return !wantsNull(other) && !mistyped(other, len(union.InstanceLocation))
	})
}

// wantsNull reports whether an error says that a value is not null.
func wantsNull(err *jsonschema.ValidationError) bool {
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return len(k.Want) == 1 && k.Want[0] == "null"
	case *kind.Enum:
		return len(k.Want) == 1 && k.Want[0] == nil
	case *kind.Const:
		return k.Want == nil
	case *kind.Reference:
		return len(err.Causes) == 1 && wantsNull(err.Causes[0])
	}
	return false
}

// mistyped reports whether an error says that a value at this depth has
// another type.
func mistyped(err *jsonschema.ValidationError, depth int) bool {
	if _, ok := err.ErrorKind.(*kind.Type); ok {
		return len(err.InstanceLocation) == depth
	}
	switch err.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return !slices.ContainsFunc(err.Causes, func(c *jsonschema.ValidationError) bool { return !mistyped(c, depth) })
	}
	return slices.ContainsFunc(err.Causes, func(c *jsonschema.ValidationError) bool { return mistyped(c, depth) })
}

func (e *explainer) leaf(path string, k jsonschema.ErrorKind) {
	switch k := k.(type) {
	case *kind.Required:
		e.missing(path, "required", k.Missing)
	case *kind.DependentRequired:
		e.missing(path, "dependentRequired", k.Missing)
	case *kind.Dependency:
		e.missing(path, "dependencies", k.Missing)
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			e.add(string(appendToken([]byte(path), name)), "additionalProperties", noMember(name))
		}
	case *kind.FalseSchema:
		e.add(path, "false", nothing)
	case *kind.Not:
		e.add(path, "not", "a value that the schema under not refuses")
	case *kind.RefCycle:
		e.add(path, "$ref", "a reference that leads somewhere")
	default:
		e.add(path, strings.Join(k.KeywordPath(), "/"), expected(k))
	}
}

func (e *explainer) missing(path, keyword string, names []string) {
	for _, name := range names {
		e.put(e.value.Pointer(path), Violation{path, keyword, member(name), nothing})
	}
}

func (e *explainer) add(path, keyword, expected string) {
	at := e.value.Pointer(path)
	e.put(at, Violation{path, keyword, cut(expected, maxExpected), excerpt(e.value.Raw(at))})
}

func (e *explainer) put(at rawjson.Node, v Violation) {
	if _, ok := e.seen[v]; ok || len(e.found) >= maxLeaves {
		return
	}
	e.seen[v] = struct{}{}
	e.found = append(e.found, placed{e.value.Offset(at), v})
}

func member(name string) string   { return cut("member "+strconv.Quote(name), maxExpected) }
func noMember(name string) string { return cut("no member "+strconv.Quote(name), maxExpected) }

// expected says in a few words what a keyword asks for.
func expected(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return alternatives(k.Want)
	case *kind.Const:
		return text(k.Want)
	case *kind.Enum:
		return "one of " + list(k.Want)
	case *kind.Format:
		return "format " + k.Want
	case *kind.Pattern:
		return matching(k.Want)
	case *kind.UniqueItems:
		return "no two equal items"
	case *kind.OneOf:
		return "only one of the schemas under oneOf to fit"
	case *kind.PropertyNames:
		return "another name than " + strconv.Quote(k.Property)
	case *kind.Minimum:
		return "at least " + decimalText(k.Want)
	case *kind.Maximum:
		return "at most " + decimalText(k.Want)
	case *kind.ExclusiveMinimum:
		return "more than " + decimalText(k.Want)
	case *kind.ExclusiveMaximum:
		return "less than " + decimalText(k.Want)
	case *kind.MultipleOf:
		return "a multiple of " + decimalText(k.Want)
	}
	return expectedCount(k)
}

func expectedCount(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return "at least " + count(strconv.Itoa(k.Want), "character")
	case *kind.MaxLength:
		return "at most " + count(strconv.Itoa(k.Want), "character")
	case *kind.MinItems:
		return "at least " + count(strconv.Itoa(k.Want), "item")
	case *kind.MaxItems:
		return "at most " + count(strconv.Itoa(k.Want), "item")
	case *kind.MinProperties:
		return "at least " + count(strconv.Itoa(k.Want), "member")
	case *kind.MaxProperties:
		return "at most " + count(strconv.Itoa(k.Want), "member")
	case *kind.Contains:
		return "an item that fits contains"
	case *kind.MinContains:
		return "at least " + count(strconv.Itoa(k.Want), "item") + " that fit contains"
	case *kind.MaxContains:
		return "at most " + count(strconv.Itoa(k.Want), "item") + " that fit contains"
	}
	return message(k)
}

func matching(pattern string) string { return "a string that matches " + pattern }

// decimalText writes a number of a schema, which is always a decimal.
func decimalText(r *big.Rat) string {
	n, _ := r.FloatPrec()
	return r.FloatString(n)
}

// text writes a decoded value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return string(b)
}

func list(values []any) string {
	words := make([]string, min(len(values), 20))
	for i := range words {
		words[i] = text(values[i])
	}
	return strings.Join(words, ", ")
}
