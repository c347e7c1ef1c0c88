package gotype

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// rules are what the tags of a field add to the schema of its type.
type rules struct {
	doc      string
	keywords []keywordText
	enum     []string // JSON; nil: none
	examples []string // JSON; nil: none
	value    string   // the default, as JSON; empty: none
	each     *rules   // of the elements of a list or a map; nil: none
	required bool     // overrides the type
	optional bool     // overrides the type; arguments only
}

// keywordText is one keyword of a schema with its value, as JSON.
type keywordText struct{ name, raw string }

// valued is a field whose tags contain values, which must be valid against its
// schema.
type valued struct {
	plan   *plan
	quoted bool
	rules  *rules
	path   string
}

// readRules reads the tags of a field.
func (b *planner) readRules(f *planField, tag reflect.StructTag, path string) (*rules, error) {
	r := &rules{doc: tag.Get("doc")}
	if foreign := tag.Get("jsonschema"); foreign != "" && r.doc == "" {
		if word, _, ok := strings.Cut(foreign, "="); ok && !strings.ContainsAny(word, " .") {
			return nil, typeError(path, "the tag jsonschema is a description here, but begins with %q: put constraints into the tag check", word+"=")
		}
		r.doc = foreign
	}
	for rest := tag.Get("check"); rest != ""; {
		var word string
		if word, rest = nextWord(rest); word == "" {
			continue
		}
		if err := b.readWord(r, f.plan, word, f.quoted); err != "" {
			return nil, typeError(path, "check %q: %s", word, err)
		}
	}
	for _, x := range []*rules{r, r.each} {
		if x != nil && (x.value != "" || x.enum != nil || x.examples != nil) {
			b.valued = append(b.valued, valued{f.plan, f.quoted, r, path})
			break
		}
	}
	return r, nil
}

// nextWord splits off the first word of the tag check. Words end at a comma
// without a backslash before it; a pattern extends to the end.
func nextWord(tag string) (word, rest string) {
	if strings.HasPrefix(tag, "pattern=") || strings.HasPrefix(tag, "each.pattern=") {
		return tag, ""
	}
	var b strings.Builder
	for i := 0; i < len(tag); i++ {
		switch {
		case tag[i] == ',':
			return b.String(), tag[i+1:]
		case tag[i] == '\\' && i+1 < len(tag) && tag[i+1] == ',':
			i++
		}
		b.WriteByte(tag[i])
	}
	return b.String(), ""
}

// readWord reads one word into r, for a field with the plan p. It returns what
// is wrong, empty: nothing.
func (b *planner) readWord(r *rules, p *plan, word string, quoted bool) (wrong string) {
	name, text, given := strings.Cut(word, "=")
	if inner, ok := strings.CutPrefix(name, "each."); ok {
		holder := target(p)
		switch {
		case holder.elem == nil || quoted:
			return "the type has no elements"
		case inner == "default" || inner == "required" || inner == "optional":
			return "applies to a member, not to its elements"
		}
		if r.each == nil {
			r.each = &rules{}
		}
		return b.readWord(r.each, holder.elem, inner+strings.TrimPrefix(word, name), false)
	}
	switch name {
	case "required", "optional":
		if given {
			return "takes no value"
		}
		r.required, r.optional = name == "required", name == "optional"
		if r.optional && !b.o.Arguments {
			return "what is written is left out only by omitempty or omitzero"
		}
		return ""
	case "default":
		r.value = valueText(p, text, quoted)
		return ""
	case "example":
		r.examples = append(r.examples, valueText(p, text, quoted))
		return ""
	case "enum":
		for choice := range strings.SplitSeq(text, "|") {
			r.enum = append(r.enum, valueText(p, choice, quoted))
		}
		return ""
	}
	if quoted {
		return "a value written as a string has no such constraint"
	}
	return r.constrain(target(p), name, text)
}

// target returns the plan that constraints apply to: of a pointer, what it
// points to.
func target(p *plan) *plan {
	for p.nullable() || p.kind == planJSON {
		p = p.elem
	}
	return p
}

// valueText converts a value in a tag to JSON: strings have no quotes there.
func valueText(p *plan, text string, quoted bool) string {
	switch target(p).kind {
	case planString, planText, planTime, planBytes:
		text = quote(text)
	default:
	}
	if quoted {
		text = quote(text)
	}
	return text
}

// constrain adds one constraint.
func (r *rules) constrain(p *plan, name, text string) (wrong string) {
	keyword, number := keywordFor(p, name)
	switch {
	case keyword == "":
		return "there is no such constraint for " + p.typ.String()
	case keyword == "pattern":
		if _, err := regexp.Compile(text); err != nil {
			return err.Error()
		}
		text = quote(text)
	case keyword == "format":
		text = quote(text)
	case keyword == "uniqueItems":
		text = "true"
	case !number:
		if _, err := strconv.ParseUint(text, 10, 31); err != nil {
			return "needs a count"
		}
	default:
		if rawjson.Check([]byte(text)) != nil || text[0] != '-' && text[0]-'0' > 9 {
			return "needs a number"
		}
	}
	r.keywords = append(r.keywords, keywordText{keyword, text})
	return ""
}

// keywordFor returns the keyword that a word of the tag means for a type;
// empty: none. Number reports whether its value is any number, else it is a
// count.
func keywordFor(p *plan, name string) (keyword string, number bool) {
	switch p.kind {
	case planInt, planFloat:
		switch name {
		case "min":
			return "minimum", true
		case "max":
			return "maximum", true
		case "above":
			return "exclusiveMinimum", true
		case "below":
			return "exclusiveMaximum", true
		case "multiple":
			return "multipleOf", true
		}
	case planString, planText:
		switch name {
		case "min":
			return "minLength", false
		case "max":
			return "maxLength", false
		case "pattern", "format":
			return name, false
		}
	case planList, planArray:
		switch name {
		case "min":
			return "minItems", false
		case "max":
			return "maxItems", false
		case "unique":
			return "uniqueItems", false
		}
	case planMap:
		switch name {
		case "min":
			return "minProperties", false
		case "max":
			return "maxProperties", false
		}
	default:
	}
	return "", false
}
