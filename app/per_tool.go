package app

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// PerTool is a setting that can differ between tools: one value for all of them,
// and others for those that a pattern names. A pattern has the wildcards of
// path.Match and is compared with the tool's name, or if it has a slash with
// SOURCE/TOOL, where the tool's name can be without the prefix of its source. The
// last one that matches counts.
type PerTool struct {
	All   string // empty: not set
	Tools []ToolValue
}

// ToolValue is the value for the tools that a pattern names.
type ToolValue struct {
	Pattern, Value string
	From           string // the line of a config file, as FILE:LINE; empty: none
}

// Set adds VALUE, for all tools, or PATTERN=VALUE.
func (p *PerTool) Set(s string) error {
	pattern, value, ok := strings.Cut(s, "=")
	if !ok {
		p.All = s
		return nil
	}
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return invalid("", "%q is no pattern for tools: use names with * and ?, or SOURCE/TOOL", pattern)
	}
	p.Tools = append(p.Tools, ToolValue{Pattern: pattern, Value: value})
	return nil
}

// String is the value for all tools.
func (p *PerTool) String() string { return p.All }

// Type is the form of a value, for the help of a command.
func (p *PerTool) Type() string { return "[TOOL=]value" }

// clone returns a copy that changes by itself.
func (p *PerTool) clone() PerTool { return PerTool{All: p.All, Tools: slices.Clone(p.Tools)} }

// choice is a [PerTool] while a catalog is built: it knows which patterns have
// matched a tool.
type choice struct {
	some []chosen
}

type chosen struct {
	ToolValue

	used bool
}

func newChoice(p PerTool) choice {
	c := choice{}
	for _, v := range p.Tools {
		c.some = append(c.some, chosen{ToolValue: v})
	}
	return c
}

// of returns the value for a tool; empty: the general one.
func (c *choice) of(source string, t *tenon.Tool) string {
	value := ""
	names := namesOf(source, t)
	for i, s := range c.some {
		if isFull(s.Pattern, t) || slices.ContainsFunc(names, func(name string) bool { ok, _ := path.Match(s.Pattern, name); return ok }) {
			value, c.some[i].used = s.Value, true
		}
	}
	return value
}

// namesOf are the names by which a flag can mean a tool: the one that is served,
// and that of its description, alone where no other tool can have taken it and
// behind the source's.
func namesOf(source string, t *tenon.Tool) []string {
	own := strings.TrimPrefix(t.Name, source+"_") // its name before it collided
	names := []string{t.Name, source + "/" + t.Name, source + "/" + own}
	switch {
	case t.Original == "", strings.Contains(t.Original, "/"): // see of
	case plainName(t.Original) == plainName(t.Name):
		names = append(names, t.Original, source+"/"+t.Original)
	case plainName(t.Original) == plainName(own):
		names = append(names, source+"/"+t.Original)
	}
	return names
}

// isFull reports whether a pattern is the name in full that a schema file gives
// the tool.
func isFull(pattern string, t *tenon.Tool) bool {
	return pattern == t.Original && strings.Contains(pattern, "/")
}

// plainName is what stays of a name however it was made legal. It tells apart
// what was prefixed or numbered.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, tenon.ToolName(name))
}

// spells reports whether the value for a tool comes from a pattern that spells
// its name out.
func (c *choice) spells(source string, t *tenon.Tool) bool {
	spelled := false
	for _, s := range c.some {
		one := choice{some: []chosen{s}}
		if one.of(source, t) != "" {
			spelled = isFull(s.Pattern, t) || slices.Contains(namesOf(source, t), s.Pattern)
		}
	}
	return spelled
}

// patterns tells which patterns a tool has, by what the operator wrote: a tool
// that was meant to be enforced must not be served otherwise because of a
// typing error.
func (c *choice) patterns(flag string, used map[string]bool) {
	for _, s := range c.some {
		written := fmt.Sprintf("--%s %s=%.80s", flag, s.Pattern, s.Value)
		if s.From != "" {
			written = fmt.Sprintf("%s: %s of %s", s.From, flag, s.Pattern)
		}
		used[written] = used[written] || s.used
	}
}

// forget makes as if no tool had been seen yet.
func (c *choice) forget() {
	for i := range c.some {
		c.some[i].used = false
	}
}

// parsed reads a value that may be missing.
func parsed[T any](s string, parse func(string) (T, error)) (value T, err error) {
	if s == "" {
		return value, nil
	}
	return parse(s)
}
