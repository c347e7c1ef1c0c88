package app

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/config"
)

// Setting is one entry of the list of settings: a flag of the command tenon, a key
// of config files, and a field of [Config].
type Setting struct {
	Name   string
	Short  string // one letter; empty: none
	Group  string // heading in the help
	Help   string
	Values []string // the words that it takes; nil: any

	whole  func(*Config) any        // pointer to the field
	source func(*SourceOptions) any // of a setting that sources can have
	def    any                      // default; nil: the zero value
	least  int64                    // lowest number but 0
	signed bool                     // negative numbers and times mean something
	single bool                     // only for single tools: it means nothing for all
	pair   string                   // between name and value where a list can be an object
	lists  bool                     // of which a value can be a list
	rebase func(folder, value string) string
	check  func(value string) error // what can be checked before anything is read
	secret func(value string) error // refuses values that are secrets themselves
	// atStart: it takes effect at the next start, because what is served cannot follow.
	// All others reload: what is made of them is in inForce or replaced in adopt.
	atStart bool
}

// Settings are all settings, by their headings in the help.
func Settings() []Setting {
	return slices.Concat(toolSettings(), callSettings(), formatSettings(), serverSettings())
}

// settingsByName are the settings by their names.
func settingsByName() map[string]Setting {
	all := map[string]Setting{}
	for _, s := range Settings() {
		all[s.Name] = s
	}
	return all
}

// Find returns the setting of a name.
func Find(name string) (Setting, bool) {
	s, ok := settingsByName()[name]
	return s, ok
}

// Field returns a pointer to the field of c that the setting is; of a setting of
// sources that of the defaults. It is a *string, *bool, *int, *int64, *float64,
// *time.Duration, *[]string or *[PerTool].
func (s *Setting) Field(c *Config) any {
	if s.source != nil {
		return s.source(&c.Defaults)
	}
	return s.whole(c)
}

// AtStart reports whether a change of the setting takes effect at the next start and
// not when a config is read again.
func (s *Setting) AtStart() bool { return s.atStart }

// OfSources reports whether a source can have the setting for itself.
func (s *Setting) OfSources() bool { return s.source != nil }

// Single reports whether the setting is for single tools and means nothing for all.
func (s *Setting) Single() bool { return s.single }

// CheckSecret refuses a value that is a secret itself: config files and command
// lines are shown and copied. Its error does not repeat the value.
func (s *Setting) CheckSecret(value string) error {
	if s.secret == nil {
		return nil
	}
	return s.secret(value)
}

// Beside is a value whose files are relative to a folder as one with absolute
// files.
func (s *Setting) Beside(folder, value string) string {
	if s.rebase == nil {
		return value
	}
	return s.rebase(folder, value)
}

// NamesFile reports whether values of the setting name files.
func (s *Setting) NamesFile() bool { return s.rebase != nil }

// reset gives the setting its default.
func (s *Setting) reset(c *Config) {
	switch p := s.Field(c).(type) {
	case *string:
		*p, _ = s.def.(string)
	case *bool:
		*p, _ = s.def.(bool)
	case *int:
		*p, _ = s.def.(int)
	case *int64:
		*p, _ = s.def.(int64)
	case *float64:
		*p, _ = s.def.(float64)
	case *time.Duration:
		*p, _ = s.def.(time.Duration)
	case *[]string:
		*p = nil
	case *PerTool:
		*p = PerTool{}
	}
}

// key is the setting as a key of config files.
func (s *Setting) key() config.Key {
	field := s.Field(&Config{})
	k := config.Key{Name: s.Name, Places: config.Whole, Doc: docOf(s.Help), Pair: s.pair, Lists: s.lists, Rebase: s.rebase, Check: s.check, Values: s.Values}
	if k.Check == nil {
		k.Check = s.secret
	}
	switch field.(type) {
	case *string:
		k.Kind = config.Text
	case *bool:
		k.Kind = config.Switch
	case *int, *int64:
		k.Kind = config.Number
	case *float64:
		k.Kind = config.Decimal
	case *time.Duration:
		k.Kind = config.Duration
	case *[]string:
		k.Kind = config.List
	case *PerTool:
		k.Kind = config.Word
		k.Places |= config.Tool
	}
	if s.source != nil {
		k.Places |= config.Source
	}
	if s.single {
		k.Places = config.Tool
	}
	if s.atStart {
		k.Doc += "; a change takes effect at the next start"
	}
	k.Default = s.defaultText()
	return k
}

// defaultText is the default as the documentation has it; empty: the help says
// what holds without the setting.
func (s *Setting) defaultText() string {
	switch d := s.def.(type) {
	case nil:
		return ""
	case time.Duration:
		return d.String()
	default:
		return fmt.Sprint(d)
	}
}

// docOf is a setting's help without what is about command lines.
func docOf(help string) string {
	help = regexp.MustCompile(`; TOOL=[^(;]*`).ReplaceAllString(help, "")
	help = regexp.MustCompile(`, as TOOL=([A-Z,]+)`).ReplaceAllString(help, ", as $1")
	help = strings.ReplaceAll(help, ", as TOOL.ARG=NAME or TOOL=ARG", ", as ARG")
	help = strings.ReplaceAll(help, "(repeatable; ", "(")
	help = strings.ReplaceAll(help, "; repeatable)", ")")
	help = strings.ReplaceAll(help, ", repeatable, in order)", ", in order)")
	help = strings.ReplaceAll(help, "(repeatable, in order)", "(in order)")
	return strings.TrimSpace(strings.ReplaceAll(help, "(repeatable)", ""))
}

// checkRanges refuses numbers and times below the least that settings can have.
// field returns the pointer to a setting's field; nil: it is not of interest.
func checkRanges(field func(*Setting) any) error {
	byName := settingsByName()
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		s := byName[name]
		if s.signed {
			continue
		}
		switch p := field(&s).(type) {
		case *int:
			if err := s.inRange(int64(*p)); err != nil {
				return err
			}
		case *int64:
			if err := s.inRange(*p); err != nil {
				return err
			}
		case *float64:
			if *p < 0 || math.IsNaN(*p) || math.IsInf(*p, 0) {
				return invalid(name, " is at least 0, not %v", *p)
			}
		case *time.Duration:
			if *p < 0 {
				return invalid(name, " is a time of at least 0s, such as 30s, not %v", *p)
			}
		}
	}
	return nil
}

func (s *Setting) inRange(n int64) error {
	if n != 0 && n < s.least || n < 0 {
		return invalid(s.Name, " is at least %d, not %d", s.least, n)
	}
	return nil
}

// group gives settings their heading.
func group(title string, all []Setting) []Setting {
	for i := range all {
		all[i].Group = title
	}
	return all
}

// parseInto reads the text of a value into the field that p points to.
func parseInto(p any, text string) (err error) {
	switch p := p.(type) {
	case *string:
		*p = text
	case *bool:
		*p, err = strconv.ParseBool(text)
	case *int:
		*p, err = strconv.Atoi(text)
	case *int64:
		*p, err = strconv.ParseInt(text, 10, 64)
	case *float64:
		*p, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		*p, err = time.ParseDuration(text)
	case *PerTool:
		err = p.Set(text)
	default:
		err = fmt.Errorf("a setting cannot be a %T", p)
	}
	return err
}
