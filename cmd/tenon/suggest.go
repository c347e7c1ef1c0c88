package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/internal/suggest"
)

// The most names in a question.
const (
	maxSuggested      = 3
	maxToolsSuggested = 5
)

// knownCommand refuses a word that is no subcommand of cmd, with those that it
// may stand for: one of that name elsewhere, else those that look like it.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	name := args[0]
	near := commandsWith(cmd.Root(), func(c *cobra.Command) bool { return c.Name() == name })
	if near == nil {
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		near = suggest.Near(name, names, maxSuggested)
	}
	near = near[:min(len(near), maxSuggested)]
	return usagef("there is no command %q%s", name, suggest.Question(near))
}

// knownTopic is knownCommand for the words behind 'tenon help'.
func knownTopic(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	if err != nil || len(rest) == 0 {
		return err
	}
	return knownCommand(cmd, rest)
}

// flagProblem is what somebody is told whose flags cannot be read.
func flagProblem(cmd *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return badValue(bad)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usagef("%v", err)
	}
	// "-policy" is read as seven flags of one letter.
	name := unknown.GetSpecifiedName()
	if word := unknown.GetSpecifiedShortnames(); len(word) > 1 {
		name, _, _ = strings.Cut(word, "=")
	}
	if len(name) == 1 {
		return usagef("%v", err)
	}
	if others := flagElsewhere(cmd, name); others != nil {
		return usagef("%v; it is a flag of %s", err, strings.Join(others[:min(len(others), maxSuggested)], ", "))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := suggest.Near(name, names, maxSuggested)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return usagef("%v%s", err, suggest.Question(near))
}

// flagElsewhere are the commands that have a flag which cmd has not: serve
// first, from which the others have most of theirs.
func flagElsewhere(cmd *cobra.Command, name string) []string {
	has := func(c *cobra.Command) bool { return c.Flags().Lookup(name) != nil }
	if has(cmd) {
		return nil
	}
	all := commandsWith(cmd.Root(), has)
	if at := slices.Index(all, "'tenon serve'"); at > 0 {
		all[0], all[at] = all[at], all[0]
	}
	return all
}

// commandsWith are the commands below root of which something is true, as they
// are called.
func commandsWith(root *cobra.Command, is func(*cobra.Command) bool) (paths []string) {
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if is(c) {
			paths = append(paths, "'"+c.CommandPath()+"'")
		}
		paths = append(paths, commandsWith(c, is)...)
	}
	return paths
}
