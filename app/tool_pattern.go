package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// choice is a repeatable flag: one value for all tools, and others for those
// that a pattern names. A pattern has the wildcards of path.Match and is held
// against the tool's name, or with a slash in it against SOURCE/TOOL, where the
// tool's name may lack the source's before it. The last one that matches counts.
type choice struct {
	general string // empty: not given
	some    []chosen
}

type chosen struct {
	pattern, value string
	from           string // the line of a config, as FILE:LINE; empty: the command line
	used           bool
}

// Set takes one occurrence of the flag.
func (c *choice) Set(s string) error {
	pattern, value, ok := strings.Cut(s, "=")
	if !ok {
		c.general = s
		return nil
	}
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return usagef("%q is no pattern for tools: use names with * and ?, or SOURCE/TOOL", pattern)
	}
	c.some = append(c.some, chosen{pattern: pattern, value: value})
	return nil
}

// clone is a choice that changes by itself.
func (c *choice) clone() choice {
	return choice{general: c.general, some: append([]chosen(nil), c.some...)}
}

func (c *choice) String() string { return c.general }

// Type names the flag's value in the help.
func (c *choice) Type() string { return "[TOOL=]value" }

// of returns the value for a tool; empty: the general one.
func (c *choice) of(source string, t *tenon.Tool) string {
	value := ""
	names := namesOf(source, t)
	for i, s := range c.some {
		if isFull(s.pattern, t) || slices.ContainsFunc(names, func(name string) bool { ok, _ := path.Match(s.pattern, name); return ok }) {
			value, c.some[i].used = s.value, true
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
			spelled = isFull(s.pattern, t) || slices.Contains(namesOf(source, t), s.pattern)
		}
	}
	return spelled
}

// patterns tells which patterns a tool has, by what the operator wrote: a tool
// that was meant to be enforced must not be served otherwise because of a
// typing error.
func (c *choice) patterns(flag string, used map[string]bool) {
	for _, s := range c.some {
		written := fmt.Sprintf("--%s %s=%.80s", flag, s.pattern, s.value)
		if s.from != "" {
			written = fmt.Sprintf("%s: %s of %s", s.from, flag, s.pattern)
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

// adjustment puts the flags that name tools into force.
type adjustment struct {
	policy, shape *choice
	calls         *callChoices
}

// adjust checks the values of the flags that name tools.
func (f *sourceFlags) adjust() (adjustment, error) {
	for _, s := range f.policy.some {
		if _, err := tenon.ParsePolicy(s.value); err != nil {
			return adjustment{}, err
		}
	}
	for _, s := range f.shape.some {
		if _, err := tenon.ParseEnvelope(s.value); err != nil {
			return adjustment{}, err
		}
	}
	if err := f.calls.check(); err != nil {
		return adjustment{}, err
	}
	return adjustment{policy: &f.policy, shape: &f.shape, calls: &f.calls}, nil
}

func (a adjustment) tool(source string, t *tenon.Tool) {
	if p := a.policy.of(source, t); p != "" {
		t.Policy = tenon.Policy(p)
	}
	if s := a.shape.of(source, t); s != "" {
		t.Envelope = tenon.Envelope(s)
	}
	a.calls.tool(source, t)
}

func (a adjustment) patterns(used map[string]bool) {
	a.policy.patterns("policy", used)
	a.shape.patterns("shape", used)
	a.calls.patterns(used)
}

func (a adjustment) forget() {
	a.policy.forget()
	a.shape.forget()
	a.calls.forget()
}

// parsed reads a value that may be missing.
func parsed[T any](s string, parse func(string) (T, error)) (value T, err error) {
	if s == "" {
		return value, nil
	}
	return parse(s)
}
