package app

import (
	"path"
	"slices"
	"strings"
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
