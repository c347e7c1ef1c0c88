package app

import (
	"net/textproto"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// headerChoice names headers that repeat arguments: TOOL.ARG=NAME, or
// TOOL=ARG=NAME,ARG=NAME, the form of a config. All that are for a tool count.
type headerChoice struct{ given choice }

// plain is one occurrence with the argument beside the header's name.
func (c *headerChoice) plain(s chosen) chosen {
	if dot := strings.LastIndexByte(s.Pattern, '.'); dot >= 0 && !strings.Contains(s.Value, "=") {
		s.Pattern, s.Value = s.Pattern[:dot], s.Pattern[dot+1:]+"="+s.Value
	}
	return s
}

// check reads the names of headers.
func (c *headerChoice) check(all string) error {
	if all != "" {
		return invalid("mcp-header", " wants TOOL.ARG=NAME, not %q", all)
	}
	for _, s := range c.given.some {
		s = c.plain(s)
		for pair := range strings.SplitSeq(s.Value, ",") {
			argument, name, ok := strings.Cut(pair, "=")
			switch full := textproto.CanonicalMIMEHeaderKey("Mcp-Param-" + name); {
			case !ok || argument == "":
				return invalid("mcp-header", " of %s wants ARG=NAME, not %q", s.Pattern, pair)
			case !headerToken(name):
				return invalid("mcp-header", " of %s: %q is no name of a header: use letters, digits and -", s.Pattern, name)
			case strings.HasPrefix(name, "Mcp-Param-"):
				return invalid("mcp-header", " of %s: clients put Mcp-Param- in front; write %s", s.Pattern, strings.TrimPrefix(full, "Mcp-Param-Mcp-Param-"))
			}
		}
	}
	return nil
}

// headerToken reports whether a header can have that name (RFC 9110, 5.6.2).
func headerToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func (c *headerChoice) tool(source string, t *tenon.Tool) {
	t.ArgumentHeaders = nil
	for i, s := range c.given.some {
		one := choice{some: []chosen{c.plain(s)}}
		value := one.of(source, t)
		if value == "" {
			continue
		}
		c.given.some[i].used = true
		for pair := range strings.SplitSeq(value, ",") {
			argument, name, _ := strings.Cut(pair, "=")
			h := tenon.ArgumentHeader{Argument: argument, Header: name}
			t.ArgumentHeaders = slices.DeleteFunc(t.ArgumentHeaders, func(x tenon.ArgumentHeader) bool { return x.Argument == argument }) // the last one counts
			t.ArgumentHeaders = append(t.ArgumentHeaders, h)
		}
	}
}

func (c *headerChoice) patterns(used map[string]bool) {
	plain := choice{}
	for _, s := range c.given.some {
		plain.some = append(plain.some, c.plain(s))
	}
	plain.patterns("mcp-header", used)
}
