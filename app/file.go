package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/config"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// ReadFile reads a config file; docs/config.md describes it.
func ReadFile(name string) (*Config, error) {
	c := NewConfig()
	return c, c.AddFile(name, nil)
}

// AddFile adds what a config file says to c: its sources precede those that c has.
// A setting for which given is true keeps its value, because somebody set it
// elsewhere; nil: none. Values for single tools are joined, and those of c come
// last, so that they count.
func (c *Config) AddFile(name string, given func(setting string) bool) error {
	f, err := readFile(name)
	if err != nil {
		return err
	}
	if len(f.Sources) == 0 && len(c.Sources) == 0 {
		return invalid("", "%s names no sources, and neither does the command line", name)
	}
	if given == nil {
		given = func(string) bool { return false }
	}
	return (&merger{file: name, given: given, read: f}).merge(c)
}

func readFile(name string) (*config.File, error) {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		if text := suggest.MissingFile(name); text != "" {
			return nil, invalid("config", " %s cannot be read: %s", name, text)
		}
		return nil, &tenon.Error{Code: tenon.CodeUsage, Message: "--config " + name + " cannot be read", Err: err}
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, config.MaxSize+1))
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeUsage, Message: "--config " + name + " cannot be read", Err: err}
	}
	c, err := config.Parse(name, filepath.Dir(name), text, keys())
	if err != nil {
		return nil, invalid("", "the config cannot be used:\n%v", err)
	}
	return c, nil
}

// keys are the settings as keys of config files, by name.
func keys() []config.Key {
	all := Settings()
	slices.SortFunc(all, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	var list []config.Key
	for i := range all {
		list = append(list, all[i].key())
	}
	return list
}

// FileSchema is the JSON Schema of config files, for editors.
func FileSchema() []byte { return config.Schema(keys()) }

// FileReference is the reference of the keys of config files, in Markdown.
func FileReference() string { return config.Markdown(keys()) }

// looksLikeConfig reports whether somebody may have taken a config file for a
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

// merger puts the values of a config file into a Config.
type merger struct {
	file  string
	given func(setting string) bool
	read  *config.File
	line  SourceOptions // what was set before, with the values for single tools
}

func (m *merger) merge(c *Config) error {
	m.line = c.Defaults
	var sources []Source
	c.from = map[string]string{}
	for _, s := range m.read.Settings {
		if !m.given(s.Key) {
			c.from[s.Key] = fmt.Sprintf("%s:%d", m.file, s.Line)
		}
		setting := settingsByName()[s.Key]
		field := setting.Field(c)
		if _, ok := field.(*PerTool); ok || m.given(s.Key) {
			continue
		}
		if err := m.set(field, s); err != nil {
			return err
		}
	}
	if err := m.perTool(&c.Defaults, m.read.Settings, "", nil); err != nil {
		return err
	}
	for i := range m.read.Sources {
		s := &m.read.Sources[i]
		own, err := m.source(c.Defaults, s)
		if err != nil {
			return err
		}
		sources = append(sources, Source{Name: s.Name, Spec: s.Spec, Options: own, From: fmt.Sprintf("%s:%d: source %s", m.file, s.Line, s.Name)})
	}
	c.Sources = append(sources, c.Sources...)
	return nil
}

// source returns the options of one source.
func (m *merger) source(o SourceOptions, s *config.Described) (*SourceOptions, error) {
	own := &o
	for _, x := range s.Settings {
		setting := settingsByName()[x.Key]
		field := setting.source(own)
		_, perTool := field.(*PerTool)
		list, isList := field.(*[]string)
		switch {
		case perTool:
		case setting.pair != "" && isList:
			m.pairs(&setting, list, x, s.Name)
		case !m.given(x.Key):
			if err := m.set(field, x); err != nil {
				return nil, err
			}
		}
	}
	return own, m.perTool(own, append(slices.Clip(m.read.Settings), s.Settings...), s.Name, s.Tools)
}

// perTool sets what can differ between tools: what counts for all of them comes
// from the command line or the last of settings, and of patterns the last that
// matches counts.
func (m *merger) perTool(o *SourceOptions, settings []config.Setting, source string, tools []config.Pattern) error {
	for _, s := range Settings() {
		if s.source == nil {
			continue
		}
		p, ok := s.source(o).(*PerTool)
		given, _ := s.source(&m.line).(*PerTool)
		if !ok {
			continue
		}
		line := given.clone()
		*p = PerTool{All: line.All}
		for _, x := range settings {
			if x.Key == s.Name && line.All == "" {
				p.All = x.Values[0]
			}
		}
		if err := m.patterns(p, s.Name, "", m.read.Tools); err != nil {
			return err
		}
		if err := m.patterns(p, s.Name, source+"/", tools); err != nil {
			return err
		}
		p.Tools = append(p.Tools, line.Tools...)
	}
	return nil
}

// patterns adds what the patterns of one place have for a setting.
func (m *merger) patterns(p *PerTool, setting, prefix string, patterns []config.Pattern) error {
	for _, of := range patterns {
		for _, s := range of.Settings {
			if s.Key != setting {
				continue
			}
			if err := p.Set(prefix + of.Names + "=" + s.Values[0]); err != nil {
				return fmt.Errorf("%s:%d: %w", m.file, s.Line, err)
			}
			p.Tools[len(p.Tools)-1].From = fmt.Sprintf("%s:%d", m.file, s.Line)
		}
	}
	return nil
}

// pairs joins what a source has by name with what was given: that counts where
// both have a name.
func (m *merger) pairs(setting *Setting, field *[]string, s config.Setting, source string) {
	all := []string{}
	if m.given(setting.Name) {
		all, _ = listOf(setting.source(&m.line))
	}
	taken := map[string]bool{}
	name := func(value string) string {
		before, _, _ := strings.Cut(value, strings.TrimSpace(setting.pair))
		return before
	}
	for _, v := range all {
		taken[name(v)] = true
	}
	for _, v := range s.Values {
		if bySource := setting.Name == "auth" || setting.Name == "client-cert"; bySource && !strings.HasPrefix(v, source+"/") {
			v = source + "/" + v
		}
		if !taken[name(v)] {
			all = append(all, v)
		}
	}
	*field = all
}

func listOf(field any) ([]string, bool) {
	list, ok := field.(*[]string)
	if !ok {
		return nil, false
	}
	return slices.Clone(*list), true
}

func (m *merger) set(field any, s config.Setting) error {
	if list, ok := field.(*[]string); ok {
		*list = slices.Clone(s.Values)
		return nil
	}
	if err := parseInto(field, s.Values[0]); err != nil {
		return invalid("", "%s:%d: %s: %v", m.file, s.Line, s.Key, err)
	}
	return nil
}
