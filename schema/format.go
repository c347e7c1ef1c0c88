package schema

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// format compiles the keyword format. It is only looked at where the options
// ask for it; the library says what a format is, and unknown ones pass.
func (b *builder) format(m rawjson.Node) {
	if !b.kind(m, rawjson.String, "a string") || !b.c.o.AssertFormat {
		return
	}
	e := b.exact()
	e.name = b.c.doc.Str(m)
	e.format = b.c.formatNamed(e.name)
}

// formatNamed answers a schema that checks one format.
func (c *compiler) formatNamed(name string) *jsonschema.Schema {
	if s, ok := c.formats[name]; ok {
		return s
	}
	if c.formats == nil {
		c.formats = map[string]*jsonschema.Schema{}
	}
	lib := jsonschema.NewCompiler()
	lib.DefaultDraft(jsonschema.Draft2020)
	lib.UseLoader(noLoader{})
	lib.AssertFormat()
	var s *jsonschema.Schema
	if err := lib.AddResource(base, map[string]any{"format": name}); err == nil {
		s, err = lib.Compile(base)
		if err != nil {
			s = nil
		}
	}
	c.formats[name] = s
	return s
}

// obvious reports whether a string certainly has a format. It spares the
// common formats of ordinary values the way through the library.
func obvious(format string, s []byte) bool {
	switch format {
	case "uuid":
		return shaped(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
	case "date":
		return shaped(s, "dddd-dd-dd") && plainDate(s)
	case "date-time":
		return len(s) >= 20 && shaped(s[:20], "dddd-dd-ddTdd:dd:dd.") && plainDate(s) && plainTime(s)
	}
	return false
}

// shaped compares a string with a shape: x is a hexadecimal digit, d a
// decimal one; a dot stands for a dot or Z.
func shaped(s []byte, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i, c := range s {
		ok := c == shape[i]
		switch shape[i] {
		case 'x':
			ok = strings.IndexByte("0123456789abcdefABCDEF", c) >= 0
		case 'd':
			ok = c-'0' <= 9
		case '.':
			ok = c == '.' || c == 'Z'
		}
		if !ok {
			return false
		}
	}
	return true
}

// plainDate accepts the days that every month has.
func plainDate(s []byte) bool {
	month, day := two(s[5:]), two(s[8:])
	return month >= 1 && month <= 12 && day >= 1 && day <= 28
}

// plainTime accepts times in UTC without leap seconds.
func plainTime(s []byte) bool {
	if two(s[11:]) > 23 || two(s[14:]) > 59 || two(s[17:]) > 59 {
		return false
	}
	if s[19] == 'Z' {
		return len(s) == 20
	}
	rest := s[20:]
	n := skipDigits(rest, 0)
	return n > 0 && len(rest) == n+1 && rest[n] == 'Z'
}

func two(s []byte) int { return int(s[0]-'0')*10 + int(s[1]-'0') }
