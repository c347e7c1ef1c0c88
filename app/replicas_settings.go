package app

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// ofOneProcess are the settings in which replicas may differ, beside those whose heading
// is in groupsOfOneProcess.
func ofOneProcess(s *Setting) bool {
	return slices.Contains([]string{"Process", "Telemetry", "Replicas", "Audit"}, s.Group) ||
		slices.Contains([]string{"http", "tls-cert", "tls-key", "list-tokens-warn", "max-concurrent-calls", "max-bytes-in-flight"}, s.Name)
}

// folders are those of a file in a value, which each machine may have elsewhere.
var folders = regexp.MustCompile(`([A-Za-z]:)?[^\s,=:]*[/\\]`)

// digests are those of the settings in which replicas have to agree, by their names,
// without those that have their defaults.
func (c *Config) digests(secret []byte) map[string]string {
	all := map[string]string{}
	plain := NewConfig()
	for _, s := range Settings() {
		if ofOneProcess(&s) {
			continue
		}
		value := plainValue(&s, s.Field(c))
		if value != plainValue(&s, s.Field(plain)) {
			all[s.Name] = derived(secret, s.Name+" "+value)[:12]
		}
	}
	for i := range c.Sources {
		name, text := "source "+c.Sources[i].Name, c.Sources[i].digestible(c)
		all[name] = derived(secret, name+" "+text)[:12]
	}
	return all
}

// digestible is a source without where its files are.
func (s *Source) digestible(c *Config) string {
	var b strings.Builder
	if strings.Contains(s.Spec, "://") {
		b.WriteString(s.Spec)
	} else {
		b.WriteString(path.Base(strings.ReplaceAll(s.Spec, `\`, "/")))
	}
	if s.Options == &c.Defaults || s.Options == nil {
		return b.String()
	}
	for _, set := range Settings() {
		if set.source != nil {
			fmt.Fprintf(&b, " %s=%s", set.Name, plainValue(&set, set.source(s.Options)))
		}
	}
	return b.String()
}

// plainValue is a value as text, without the lines of a config that it came from and
// the folders of its files.
func plainValue(s *Setting, field any) string {
	var text string
	switch p := field.(type) {
	case *PerTool:
		text = p.All
		for _, v := range p.Tools {
			text += fmt.Sprintf(" %q=%q", v.Pattern, v.Value)
		}
	case *[]string:
		text = fmt.Sprintf("%q", *p)
	default:
		text = fmt.Sprint(reflect.ValueOf(field).Elem().Interface())
	}
	if s.rebase != nil {
		text = folders.ReplaceAllString(text, "")
	}
	return text
}
