package flowmcp

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// zType is what the primitive and the options of a parameter say.
type zType struct {
	primitive string   // string, number, boolean, enum, array, object
	members   []string // of an enum
	free      bool     // an enum whose list cannot be read: any string
	min, max  string   // numbers; empty: none
	length    string
	patterns  []string
	optional  bool
	mayLack   bool   // optional() stands there, not only a default
	fallback  []byte // the default as JSON; nil: none
	omitted   []byte // what is sent where no argument is given; nil: nothing
}

// readZ reads a parameter's z. What is wrong with it goes to the checker.
func (c *checker) readZ(f *file, z *node, path string) zType {
	primitive := z.get("primitive")
	name, inner, ok := callForm(primitive.str())
	t := zType{primitive: name}
	known := slices.Contains([]string{"string", "number", "boolean", "enum", "array", "object"}, name)
	switch {
	case !primitive.is(stringKind):
		c.fault("VAL044", z, path+".primitive", "is missing or no string")
		t.primitive = "string"
	case !ok || !known || inner != "" && name != "enum":
		c.loose("VAL044", primitive, path+".primitive", "%q is not known; use string(), number(), boolean(), enum(…), array() or object()", primitive.str())
		if !known {
			t.primitive = "string"
		}
	}
	if t.primitive == "enum" {
		c.readMembers(f, &t, primitive, inner, path)
	} else if placeholder.MatchString(primitive.str()) {
		c.loose("VAL047", primitive, path+".primitive", "a list can only stand in enum()")
	}
	c.readOptions(f, &t, z, path)
	if c.strict || !t.mayLack {
		t.omitted = t.fallback // docs/decisions: a default beside optional()
	}
	if t.primitive == "enum" && len(t.members) == 0 && !t.free {
		c.loose("VAL046", primitive, path+".primitive", "has no values")
		t.free = true
	}
	return t
}

// callForm splits name(inner).
func callForm(s string) (name, inner string, ok bool) {
	open := strings.IndexByte(s, '(')
	if open < 0 || !strings.HasSuffix(s, ")") {
		return s, "", false
	}
	return s[:open], s[open+1 : len(s)-1], true
}

// readMembers reads the values of enum(…), lists among them. A value of a list
// stays whole whatever it holds.
func (c *checker) readMembers(f *file, t *zType, at *node, inner, path string) {
	for part := range strings.SplitSeq(inner, ",") {
		part = strings.TrimSpace(part)
		whole := placeholder.FindStringSubmatch(part)
		switch {
		case part == "":
		case whole == nil || whole[0] != part:
			t.members = append(t.members, part)
		default:
			c.readListMembers(f, t, at, whole[1], path)
		}
	}
	t.members = distinct(t.members)
}

func (c *checker) readListMembers(f *file, t *zType, at *node, reference, path string) {
	name, field, ok := strings.Cut(reference, ":")
	r, declared := f.lists[name]
	switch {
	case !ok || !declared:
		c.loose("VAL048", at, path+".primitive", "the list %q is not declared in sharedLists", name)
		t.free = true
	case r == nil: // reported where it is declared
		t.free = true
	case !r.list.fields[field]:
		c.loose("VAL049", at, path+".primitive", "the list %s has no field %q", name, field)
		t.free = true
	default:
		f.used[name] = true
		t.members = append(t.members, r.values(field)...)
	}
	if declared {
		f.used[name] = true
	}
}

func distinct(all []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(s string) bool {
		twice := seen[s]
		seen[s] = true
		return twice
	})
}

// readOptions reads min, max, length, optional, default, and the two that only
// real files know: regex and values.
func (c *checker) readOptions(f *file, t *zType, z *node, path string) {
	options := z.get("options")
	if options.there() && !options.is(arrayKind) {
		c.loose("VAL045", options, path+".options", "must be an array of strings")
	}
	for i, o := range options.list() {
		at := fmt.Sprintf("%s.options[%d]", path, i)
		name, inner, ok := callForm(o.str())
		if !ok {
			c.loose("VAL045", o, at, "must be a text such as min(1)")
			continue
		}
		c.readOption(f, t, o, option{name, inner, at})
	}
}

type option struct{ name, inner, path string }

func (c *checker) readOption(f *file, t *zType, at *node, o option) {
	switch o.name {
	case "optional":
		t.optional, t.mayLack = true, true
	case "default":
		t.optional = true
		t.fallback = t.defaultValue(o.inner)
		if t.fallback == nil {
			c.loose("VAL045", at, o.path, "the default %q is no %s", o.inner, t.primitive)
		}
	case "min", "max", "length":
		text, ok := numberText(strings.TrimPrefix(o.inner, "-"))
		if !ok {
			c.loose("VAL045", at, o.path, "%s wants a number", o.name)
			return
		}
		if strings.HasPrefix(o.inner, "-") {
			text = negate(text)
		}
		t.bound(o.name, text)
	case "regex":
		c.letter("VAL090", at, o.path, "the option regex is not part of the format")
		c.readPattern(t, at, o)
	case "values":
		c.letter("VAL090", at, o.path, "the option values is not part of the format")
		if t.primitive == "enum" {
			c.readMembers(f, t, at, o.inner, o.path)
		}
	default:
		c.loose("VAL045", at, o.path, "the option %s is not known", o.name)
	}
}

func (t *zType) bound(name, text string) {
	switch name {
	case "min":
		t.min = text
	case "max":
		t.max = text
	default:
		t.length = text
	}
}

// readPattern takes a pattern as text or between slashes.
func (c *checker) readPattern(t *zType, at *node, o option) {
	pattern := o.inner
	if strings.HasPrefix(pattern, "/") {
		if end := strings.LastIndexByte(pattern, '/'); end > 0 {
			if flags := pattern[end+1:]; strings.Trim(flags, "ugs") != "" {
				c.warn("VAL090", at, o.path, "the flags %q cannot stand in a schema; the pattern is not checked", flags)
				return
			}
			pattern = pattern[1:end]
		}
	}
	pattern = doubled.ReplaceAllString(pattern, `\$1`)
	if _, err := regexp.Compile(pattern); err != nil {
		c.warn("VAL090", at, o.path, "the pattern cannot be checked: %v", err)
		return
	}
	t.patterns = append(t.patterns, pattern)
}

// doubled finds the escapes that were escaped twice, as real files have them:
// nobody asks for a backslash before these letters.
var doubled = regexp.MustCompile(`\\\\([dDwWsSbB.])`)

// defaultValue reads the text of a default by the primitive; nil: it is none.
func (t *zType) defaultValue(text string) []byte {
	switch t.primitive {
	case "number":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return []byte(formatNumber(n))
		}
		return nil
	case "boolean":
		if text == "true" || text == "false" {
			return []byte(text)
		}
		return nil
	case "array", "object":
		if rawjson.Check([]byte(text)) == nil && (text[0] == '[') == (t.primitive == "array") && (text[0] == '{') == (t.primitive == "object") {
			return []byte(text)
		}
		return nil
	}
	if s, err := strconv.Unquote(text); err == nil && len(text) > 1 && text[0] == '"' {
		text = s
	} else if len(text) > 1 && text[0] == '\'' && text[len(text)-1] == '\'' {
		text = text[1 : len(text)-1]
	}
	return rawjson.AppendString(nil, text)
}

// appendSchema writes the JSON Schema of the values, without its last brace.
func (t *zType) appendSchema(dst []byte) []byte {
	kind := t.primitive
	if kind == "enum" {
		return t.appendEnum(dst)
	}
	dst = append(dst, `{"type":"`+kind+`"`...)
	low, high := t.min, t.max
	if t.length != "" && kind != "number" {
		low, high = t.length, t.length
	}
	names := map[string][2]string{"string": {"minLength", "maxLength"}, "number": {"minimum", "maximum"}, "array": {"minItems", "maxItems"}}[kind]
	dst = appendBound(dst, names[0], low, kind)
	dst = appendBound(dst, names[1], high, kind)
	if kind == "string" && len(t.patterns) > 0 {
		dst = append(dst, `,"pattern":`...)
		dst = rawjson.AppendString(dst, t.patterns[0])
	}
	return dst
}

func appendBound(dst []byte, keyword, value, kind string) []byte {
	if keyword == "" || value == "" {
		return dst
	}
	if kind != "number" {
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return dst
		}
	}
	return append(dst, `,"`+keyword+`":`+value...)
}

// appendEnum writes an enum. Members that look like numbers are accepted as
// numbers too: models write them so.
func (t *zType) appendEnum(dst []byte) []byte {
	if t.free {
		return append(dst, `{"type":"string"`...)
	}
	var numbers []string
	for _, m := range t.members {
		if text, ok := numberText(m); ok && text == m {
			numbers = append(numbers, m)
		}
	}
	if len(numbers) == 0 {
		dst = append(dst, `{"type":"string","enum":[`...)
	} else {
		dst = append(dst, `{"type":["string","number"],"enum":[`...)
	}
	for i, m := range t.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, m)
	}
	for _, n := range numbers {
		dst = append(dst, ","+n...)
	}
	return append(dst, ']')
}

// accepts reports whether a JSON value fits t.
func (t *zType) accepts(value []byte) bool {
	s, err := schema.Compile(append(t.appendSchema(nil), '}'), schema.Options{})
	return err != nil || len(s.Validate(value)) == 0
}
