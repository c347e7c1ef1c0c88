package main

import (
	"net/textproto"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
)

// headerChoice names headers that repeat arguments: TOOL.ARG=NAME, or
// TOOL=ARG=NAME,ARG=NAME, the form of a config. All that are for a tool count.
type headerChoice struct{ given choice }

func (c *headerChoice) register(cmd *cobra.Command) {
	cmd.Flags().Var(&c.given, "mcp-header", "have clients repeat an argument in the header Mcp-Param-NAME, for gateways that route by it, as TOOL.ARG=NAME or TOOL=ARG=NAME,ARG=NAME (repeatable)")
}

// plain is one occurrence with the argument beside the header's name.
func (c *headerChoice) plain(s chosen) chosen {
	if dot := strings.LastIndexByte(s.pattern, '.'); dot >= 0 && !strings.Contains(s.value, "=") {
		s.pattern, s.value = s.pattern[:dot], s.pattern[dot+1:]+"="+s.value
	}
	return s
}

// check reads the names of headers.
func (c *headerChoice) check() error {
	if c.given.general != "" {
		return usagef("--mcp-header wants TOOL.ARG=NAME, not %q", c.given.general)
	}
	for _, s := range c.given.some {
		s = c.plain(s)
		for pair := range strings.SplitSeq(s.value, ",") {
			argument, name, ok := strings.Cut(pair, "=")
			switch full := textproto.CanonicalMIMEHeaderKey("Mcp-Param-" + name); {
			case !ok || argument == "":
				return usagef("--mcp-header of %s wants ARG=NAME, not %q", s.pattern, pair)
			case !headerToken(name):
				return usagef("--mcp-header of %s: %q is no name of a header: use letters, digits and -", s.pattern, name)
			case strings.HasPrefix(name, "Mcp-Param-"):
				return usagef("--mcp-header of %s: clients put Mcp-Param- in front; write %s", s.pattern, strings.TrimPrefix(full, "Mcp-Param-Mcp-Param-"))
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
