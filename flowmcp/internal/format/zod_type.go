package format

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// ZodType is the type of a parameter: its primitive and options, in the syntax of
// Zod.
type ZodType struct {
	Primitive        string   // string, number, boolean, enum, array, object
	Members          []string // of an enum
	Free             bool     // an enum whose list is missing: any string
	Min, Max         string   // numbers; empty: none
	Length           string
	Patterns         []string
	Optional         bool
	explicitOptional bool   // has optional(), not only a default
	Default          []byte // the default as JSON; nil: none
	Omitted          []byte // value to send without an argument; nil: none
}

// readZ reads and checks a parameter's z.
func (c *checker) readZ(f *File, z *module.Node, path string) ZodType {
	primitive := z.Get("primitive")
	name, inner, ok := callForm(primitive.Str())
	t := ZodType{Primitive: name}
	known := slices.Contains([]string{"string", "number", "boolean", "enum", "array", "object"}, name)
	switch {
	case !primitive.Is(module.String):
		c.error("VAL044", z, path+".primitive", "is missing or no string")
		t.Primitive = "string"
	case !ok || !known || inner != "" && name != "enum":
		c.lenient("VAL044", primitive, path+".primitive", "unknown type %q; use string(), number(), boolean(), enum(…), array() or object()", primitive.Str())
		if !known {
			t.Primitive = "string"
		}
	}
	if t.Primitive == "enum" {
		c.readMembers(f, &t, primitive, inner, path)
	} else if placeholder.MatchString(primitive.Str()) {
		c.lenient("VAL047", primitive, path+".primitive", "a list is only allowed in enum()")
	}
	c.readOptions(f, &t, z, path)
	if c.strict || !t.explicitOptional {
		t.Omitted = t.Default // a default beside optional() is not sent in compat mode
	}
	if t.Primitive == "enum" && len(t.Members) == 0 && !t.Free {
		c.lenient("VAL046", primitive, path+".primitive", "has no values")
		t.Free = true
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

// readMembers reads the values of enum(…), including references to lists. A
// value from a list is not split at commas.
func (c *checker) readMembers(f *File, t *ZodType, at *module.Node, inner, path string) {
	for part := range strings.SplitSeq(inner, ",") {
		part = strings.TrimSpace(part)
		whole := placeholder.FindStringSubmatch(part)
		switch {
		case part == "":
		case whole == nil || whole[0] != part:
			t.Members = append(t.Members, part)
		default:
			c.readListMembers(f, t, at, whole[1], path)
		}
	}
	t.Members = distinct(t.Members)
}

func (c *checker) readListMembers(f *File, t *ZodType, at *module.Node, reference, path string) {
	name, field, ok := strings.Cut(reference, ":")
	r, declared := f.Lists[name]
	switch {
	case !ok || !declared:
		c.lenient("VAL048", at, path+".primitive", "the list %q is not declared in sharedLists", name)
		t.Free = true
	case r == nil: // reported at its declaration
		t.Free = true
	case !r.List.Fields[field]:
		c.lenient("VAL049", at, path+".primitive", "the list %s has no field %q", name, field)
		t.Free = true
	default:
		f.usedLists[name] = true
		t.Members = append(t.Members, r.Values(field)...)
	}
	if declared {
		f.usedLists[name] = true
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

// readOptions reads min, max, length, optional, default, and two that only real
// files use: regex and values.
func (c *checker) readOptions(f *File, t *ZodType, z *module.Node, path string) {
	options := z.Get("options")
	if options.Exists() && !options.Is(module.Array) {
		c.lenient("VAL045", options, path+".options", "must be an array of strings")
	}
	for i, o := range options.List() {
		at := fmt.Sprintf("%s.options[%d]", path, i)
		name, inner, ok := callForm(o.Str())
		if !ok {
			c.lenient("VAL045", o, at, "must be a text such as min(1)")
			continue
		}
		c.readOption(f, t, o, option{name, inner, at})
	}
}

type option struct{ name, inner, path string }

func (c *checker) readOption(f *File, t *ZodType, at *module.Node, o option) {
	switch o.name {
	case "optional":
		t.Optional, t.explicitOptional = true, true
	case "default":
		t.Optional = true
		t.Default = t.defaultValue(o.inner)
		if t.Default == nil {
			c.lenient("VAL045", at, o.path, "the default %q is not a %s", o.inner, t.Primitive)
		}
	case "min", "max", "length":
		text, ok := module.NumberText(strings.TrimPrefix(o.inner, "-"))
		if !ok {
			c.lenient("VAL045", at, o.path, "%s requires a number", o.name)
			return
		}
		if strings.HasPrefix(o.inner, "-") {
			text = module.Negate(text)
		}
		t.bound(o.name, text)
	case "regex":
		c.strictOnly("VAL090", at, o.path, "the option regex is not part of the format")
		c.readPattern(t, at, o)
	case "values":
		c.strictOnly("VAL090", at, o.path, "the option values is not part of the format")
		if t.Primitive == "enum" {
			c.readMembers(f, t, at, o.inner, o.path)
		}
	default:
		c.lenient("VAL045", at, o.path, "unknown option %s", o.name)
	}
}

func (t *ZodType) bound(name, text string) {
	switch name {
	case "min":
		t.Min = text
	case "max":
		t.Max = text
	default:
		t.Length = text
	}
}

// readPattern reads a pattern, with or without slashes.
func (c *checker) readPattern(t *ZodType, at *module.Node, o option) {
	pattern := o.inner
	if strings.HasPrefix(pattern, "/") {
		if end := strings.LastIndexByte(pattern, '/'); end > 0 {
			if flags := pattern[end+1:]; strings.Trim(flags, "ugs") != "" {
				c.warn("VAL090", at, o.path, "the flags %q are not supported; the pattern is not checked", flags)
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
	t.Patterns = append(t.Patterns, pattern)
}

// doubled matches escapes that were escaped twice, as in real files: a literal
// backslash never precedes these letters.
var doubled = regexp.MustCompile(`\\\\([dDwWsSbB.])`)

// defaultValue converts the text of a default to JSON, or returns nil.
func (t *ZodType) defaultValue(text string) []byte {
	switch t.Primitive {
	case "number":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return []byte(module.FormatNumber(n))
		}
		return nil
	case "boolean":
		if text == "true" || text == "false" {
			return []byte(text)
		}
		return nil
	case "array", "object":
		if rawjson.Check([]byte(text)) == nil && (text[0] == '[') == (t.Primitive == "array") && (text[0] == '{') == (t.Primitive == "object") {
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

// AppendSchema writes the JSON Schema of the values, without its closing brace.
func (t *ZodType) AppendSchema(dst []byte) []byte {
	kind := t.Primitive
	if kind == "enum" {
		return t.appendEnum(dst)
	}
	dst = append(dst, `{"type":"`+kind+`"`...)
	low, high := t.Min, t.Max
	if t.Length != "" && kind != "number" {
		low, high = t.Length, t.Length
	}
	names := map[string][2]string{"string": {"minLength", "maxLength"}, "number": {"minimum", "maximum"}, "array": {"minItems", "maxItems"}}[kind]
	dst = appendBound(dst, names[0], low, kind)
	dst = appendBound(dst, names[1], high, kind)
	if kind == "string" && len(t.Patterns) > 0 {
		dst = append(dst, `,"pattern":`...)
		dst = rawjson.AppendString(dst, t.Patterns[0])
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

// appendEnum writes an enum. Numeric members are also accepted as numbers,
// because models write them so.
func (t *ZodType) appendEnum(dst []byte) []byte {
	if t.Free {
		return append(dst, `{"type":"string"`...)
	}
	var numbers []string
	for _, m := range t.Members {
		if text, ok := module.NumberText(m); ok && text == m {
			numbers = append(numbers, m)
		}
	}
	if len(numbers) == 0 {
		dst = append(dst, `{"type":"string","enum":[`...)
	} else {
		dst = append(dst, `{"type":["string","number"],"enum":[`...)
	}
	for i, m := range t.Members {
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

// Accepts reports whether a JSON value is valid.
func (t *ZodType) Accepts(value []byte) bool {
	s, err := schema.Compile(append(t.AppendSchema(nil), '}'), schema.Options{})
	return err != nil || len(s.Validate(value)) == 0
}

// Allowed describes the accepted values in a few words.
func (t *ZodType) Allowed() string {
	var all []string
	if len(t.Members) > 0 {
		all = append(all, strings.Join(t.Members, ", "))
	}
	low, high := t.Min, t.Max
	if t.Length != "" && t.Primitive != "number" {
		low, high = t.Length, t.Length
	}
	switch {
	case low != "" && low == high:
		all = append(all, low)
	case low != "" && high != "":
		all = append(all, low+" to "+high)
	case low != "":
		all = append(all, "from "+low)
	case high != "":
		all = append(all, "up to "+high)
	}
	if (low != "" || high != "") && t.Primitive != "number" {
		all[len(all)-1] += map[string]string{"string": " characters", "array": " items"}[t.Primitive]
	}
	return strings.Join(append(all, t.Patterns...), "; ")
}
