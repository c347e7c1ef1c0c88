package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every flag of serve stands under one heading, and no heading names a flag
// that is gone.
func TestFlagGroups(t *testing.T) {
	flags, grouped := serveCommand(noEnv()).LocalFlags(), map[string]bool{"help": true}
	for _, g := range flagGroups() {
		for name := range strings.FieldsSeq(g.names) {
			if name == "help" {
				continue
			}
			if flags.Lookup(name) == nil || grouped[name] {
				t.Errorf("%s: --%s is no flag of serve, or stands there twice", g.title, name)
			}
			grouped[name] = true
		}
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if !grouped[f.Name] {
			t.Errorf("--%s stands under no heading", f.Name)
		}
	})
}
