package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/config"
)

const (
	configFlag    = "config"
	defaultConfig = "tenon.yaml" // that check looks for
)

// readConfig reads a config. It is an error of the command line where it
// cannot be used.
func readConfig(name string, cmd *cobra.Command) (*config.File, error) {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		if text := missing(name); text != "" {
			return nil, usagef("--config %s cannot be read: %s", name, text)
		}
		return nil, &tenon.Error{Code: tenon.CodeUsage, Message: "--config " + name + " cannot be read", Err: err}
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, config.MaxSize+1))
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeUsage, Message: "--config " + name + " cannot be read", Err: err}
	}
	c, err := config.Parse(name, filepath.Dir(name), text, configKeys(cmd))
	if err != nil {
		return nil, usagef("the config cannot be used:\n%v", err)
	}
	return c, nil
}

// looksLikeConfig tells whether somebody may have taken a config for a
// description.
func looksLikeConfig(name string) bool {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, config.MaxSize))
	return err == nil && regexp.MustCompile(`(?m)^["']?sources["']?\s*:`).Match(text)
}

// plan is what a command serves: what the config describes, then the
// descriptions of its command line. A flag on the command line counts before
// the config, and a source of the config before its top.
func (f *sourceFlags) plan(cmd *cobra.Command, name string, specs []string) ([]planned, error) {
	if name == "" {
		return f.specs(specs), nil
	}
	c, err := readConfig(name, cmd)
	if err != nil {
		return nil, err
	}
	if len(c.Sources) == 0 && len(specs) == 0 {
		return nil, usagef("%s names no sources, and neither does the command line", name)
	}
	m := merger{file: name, given: map[string]bool{}, line: map[string]choice{}}
	cmd.Flags().VisitAll(func(fl *pflag.Flag) {
		m.given[fl.Name] = fl.Changed
		if ch, ok := fl.Value.(*choice); ok {
			m.line[fl.Name] = ch.clone()
		}
	})
	if err := m.whole(cmd.Flags(), c); err != nil {
		return nil, err
	}
	var plan []planned
	for i := range c.Sources {
		s := &c.Sources[i]
		set := pflag.NewFlagSet(s.Name, pflag.ContinueOnError)
		own := registerSource(set)
		own.level, own.poll = f.level, f.poll
		if err := m.source(set, cmd.Flags(), c, s); err != nil {
			return nil, err
		}
		plan = append(plan, planned{name: s.Name, where: s.Spec, from: fmt.Sprintf("%s:%d: source %s", name, s.Line, s.Name), flags: own})
	}
	return append(plan, f.specs(specs)...), nil
}

// merger puts the values of a config into flags.
type merger struct {
	file  string
	given map[string]bool   // flags of the command line
	line  map[string]choice // what the command line chooses for tools
}

// whole puts the top of the config into the flags of a command, where its
// command line says nothing.
func (m *merger) whole(fs *pflag.FlagSet, c *config.File) error {
	for _, s := range c.Settings {
		if _, ok := fs.Lookup(s.Key).Value.(*choice); ok || m.given[s.Key] {
			continue
		}
		if err := m.set(fs, s); err != nil {
			return err
		}
	}
	return m.choices(fs, c.Settings, c.Tools, "", nil)
}

// source fills the flags of one source.
func (m *merger) source(fs, base *pflag.FlagSet, c *config.File, s *config.Described) error {
	own := map[string]config.Setting{}
	for _, x := range s.Settings {
		own[x.Key] = x
	}
	var failed error
	fs.VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Value.(*choice); ok || failed != nil {
			return
		}
		x, ok := own[f.Name]
		switch {
		case ok && pairOf(f.Name) != "":
			failed = m.pairs(f, base.Lookup(f.Name), x, s.Name)
		case ok && !m.given[f.Name]:
			failed = m.set(fs, x)
		default:
			failed = copyFlag(f, base.Lookup(f.Name))
		}
	})
	if failed != nil {
		return failed
	}
	return m.choices(fs, append(slices.Clip(c.Settings), s.Settings...), c.Tools, s.Name, s.Tools)
}

// choices fills the flags that may name tools: what counts for all comes from
// the command line or the last of settings, and of patterns the last that
// matches counts.
func (m *merger) choices(fs *pflag.FlagSet, settings []config.Setting, top []config.Pattern, source string, tools []config.Pattern) error {
	var failed error
	fs.VisitAll(func(f *pflag.Flag) {
		c, ok := f.Value.(*choice)
		if !ok || failed != nil {
			return
		}
		line := m.line[f.Name]
		*c = choice{general: line.general}
		for _, s := range settings {
			if s.Key == f.Name && line.general == "" {
				c.general = s.Values[0]
			}
		}
		if failed = m.patterns(c, f.Name, "", top); failed == nil {
			failed = m.patterns(c, f.Name, source+"/", tools)
		}
		c.some = append(c.some, line.some...)
	})
	return failed
}

// patterns adds what the patterns of one place have for a flag.
func (m *merger) patterns(c *choice, flag, prefix string, patterns []config.Pattern) error {
	for _, p := range patterns {
		for _, s := range p.Settings {
			if s.Key != flag {
				continue
			}
			if err := c.Set(prefix + p.Names + "=" + s.Values[0]); err != nil {
				return fmt.Errorf("%s:%d: %w", m.file, s.Line, err)
			}
			c.some[len(c.some)-1].from = fmt.Sprintf("%s:%d", m.file, s.Line)
		}
	}
	return nil
}

// pairs joins what a source has by name with what the command line has: that
// counts where both have a name.
func (m *merger) pairs(f, line *pflag.Flag, s config.Setting, source string) error {
	var all []string
	taken := map[string]bool{}
	if given, ok := line.Value.(pflag.SliceValue); ok && m.given[f.Name] {
		all = given.GetSlice()
	}
	name := func(value string) string {
		before, _, _ := strings.Cut(value, strings.TrimSpace(pairOf(f.Name)))
		return before
	}
	for _, v := range all {
		taken[name(v)] = true
	}
	for _, v := range s.Values {
		if bySource := f.Name == "auth" || f.Name == "client-cert"; bySource && !strings.HasPrefix(v, source+"/") {
			v = source + "/" + v
		}
		if !taken[name(v)] {
			all = append(all, v)
		}
	}
	list, ok := f.Value.(pflag.SliceValue)
	if !ok {
		return usagef("%s:%d: %s is no list", m.file, s.Line, s.Key)
	}
	return list.Replace(all)
}

func (m *merger) set(fs *pflag.FlagSet, s config.Setting) error {
	f := fs.Lookup(s.Key)
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(s.Values)
	}
	if err := f.Value.Set(s.Values[0]); err != nil {
		return usagef("%s:%d: %s: %v", m.file, s.Line, s.Key, err)
	}
	return nil
}

// copyFlag gives a flag the value of another of the same kind.
func copyFlag(f, from *pflag.Flag) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		if other, ok := from.Value.(pflag.SliceValue); ok {
			return list.Replace(other.GetSlice())
		}
	}
	return f.Value.Set(from.Value.String())
}
