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

// message returns the library's message for an error, without the location.
func message(k jsonschema.ErrorKind) string {
	return strings.TrimPrefix((&jsonschema.ValidationError{ErrorKind: k}).Error(), "at '': ")
}

// explainer turns the errors of the library into violations. An error of
// propertyNames can have a wrong location: in v6.0.3 its path shares memory
// with values that are visited later.
type explainer struct {
	value          *rawjson.Doc
	discriminators map[string]*discriminator
	found          []locatedViolation
	seen           map[Violation]struct{}
}

// locatedViolation is a violation and the offset of its value.
type locatedViolation struct {
	at int
	Violation
}

// maxLeaves bounds the errors that are collected before the first are chosen.
const maxLeaves = 100 * maxViolations

func explain(err *jsonschema.ValidationError, value []byte, discriminators map[string]*discriminator) []Violation {
	doc, perr := rawjson.Parse(value)
	if perr != nil {
		return limitViolation() // unreachable: the syntax was checked
	}
	e := explainer{value: doc, discriminators: discriminators, seen: map[Violation]struct{}{}}
	e.walk(err)
	slices.SortFunc(e.found, func(a, b locatedViolation) int { // the library's order is that of a map
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.Keyword, b.Keyword), strings.Compare(a.Expected, b.Expected))
	})
	found := make([]Violation, min(len(e.found), maxViolations))
	for i := range found {
		found[i] = e.found[i].Violation
	}
	return found
}

// walk reports the leaves of the tree of errors; the inner ones only name the
// union or reference on the way.
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
		ptr = rawjson.AppendToken(ptr, t)
	}
	return string(ptr)
}

// branches returns the causes of an error: for a union, which has a cause for
// each branch, only that of the branch that the discriminator selects, if any.
func (e *explainer) branches(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	d := e.discriminators[err.SchemaURL]
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

// optional reports whether c is only that the value is not null, while another
// branch of the union accepts values of its type: that branch has the relevant
// error.
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

// wantsNull reports whether an error is that the value is not null.
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

// mistyped reports whether an error is that a value at this depth has another
// type.
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
			e.add(string(rawjson.AppendToken([]byte(path), name)), "additionalProperties", noMember(name))
		}
	case *kind.FalseSchema:
		e.add(path, "false", nothing)
	case *kind.Not:
		e.add(path, "not", "a value that does not match the schema under not")
	case *kind.RefCycle:
		e.add(path, "$ref", "a reference without a cycle")
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
	e.put(at, Violation{path, keyword, rawjson.Truncate(expected, maxExpected), rawjson.Excerpt(e.value.Raw(at))})
}

func (e *explainer) put(at rawjson.Node, v Violation) {
	if _, ok := e.seen[v]; ok || len(e.found) >= maxLeaves {
		return
	}
	e.seen[v] = struct{}{}
	e.found = append(e.found, locatedViolation{e.value.Offset(at), v})
}

func member(name string) string { return rawjson.Truncate("member "+strconv.Quote(name), maxExpected) }

func noMember(name string) string {
	return rawjson.Truncate("no member "+strconv.Quote(name), maxExpected)
}

// expected describes what a keyword requires.
func expected(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return rawjson.Alternatives(k.Want)
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
		return "exactly one matching schema under oneOf"
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
		return "an item that matches contains"
	case *kind.MinContains:
		return "at least " + count(strconv.Itoa(k.Want), "item") + " that match contains"
	case *kind.MaxContains:
		return "at most " + count(strconv.Itoa(k.Want), "item") + " that match contains"
	}
	return message(k)
}

func matching(pattern string) string { return "a string that matches " + pattern }

// decimalText formats a number of a schema, which is always a decimal.
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
