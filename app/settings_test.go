package app

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
)

// TestEveryFieldIsASetting: whatever a Config holds can be set by a flag and by a
// config file, once.
func TestEveryFieldIsASetting(t *testing.T) {
	c := NewConfig()
	fields := map[any]string{}
	for _, of := range []reflect.Value{reflect.ValueOf(c).Elem(), reflect.ValueOf(&c.Defaults).Elem()} {
		for i := range of.NumField() {
			if name := of.Type().Field(i).Name; of.Type().Field(i).IsExported() && name != "Sources" && name != "Defaults" {
				fields[of.Field(i).Addr().Interface()] = name
			}
		}
	}
	for _, s := range Settings() {
		if s.Group == "" || s.Help == "" {
			t.Errorf("%s has no heading or no help", s.Name)
		}
		if fields[s.Field(c)] == "" {
			t.Errorf("%s is no field, or that of another setting", s.Name)
		}
		delete(fields, s.Field(c))
	}
	for _, name := range fields {
		t.Errorf("no setting sets %s", name)
	}
}

// TestConfigErrors have the name of the setting: as a key of config files, and for
// the command as a flag.
func TestConfigErrors(t *testing.T) {
	c := NewConfig()
	c.Defaults.Retries = -1
	c.AddSpec("x.json")
	_, err := New(t.Context(), c, Env{})
	e, ok := errors.AsType[*ConfigError](err)
	if !ok || e.Key != "retries" || tenon.CodeOf(err) != tenon.CodeUsage {
		t.Fatalf("%#v", err)
	}
	if !strings.HasPrefix(e.Error(), "retries is at least 0") || !strings.HasPrefix(e.CommandLine(), "--retries is at least 0") {
		t.Errorf("%q, %q", e.Error(), e.CommandLine())
	}
	for text, want := range map[string]string{
		"--jq-schema x: --jq is read":      "jq-schema x: jq is read",
		"--allow-private-host and --other": "allow-private-host and --other",
	} {
		if e := (&ConfigError{text: text}); e.Error() != want {
			t.Errorf("%q", e.Error())
		}
	}
}
