package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/config"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// usagef makes an error that ends with exit 2 and points to the help.
func usagef(format string, args ...any) error {
	return &tenon.Error{Code: tenon.CodeUsage, Message: fmt.Sprintf(format, args...)}
}

// atLeast refuses a command line with fewer than n arguments, saying what is
// missing.
func atLeast(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return usagef("%s", what)
		}
		return nil
	}
}

// exactly refuses any other number of arguments than n.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s", what)
		}
		return nil
	}
}

// atMostOne refuses more arguments than one.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s", what)
		}
		return nil
	}
}

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

// A value that a flag cannot have is answered with the flag, what it takes and
// what was given, in the words of the config.

// badValue says what a flag takes that was given something else.
func badValue(bad *pflag.InvalidValueError) error {
	f := bad.GetFlag()
	k := config.Key{Name: f.Name, Kind: kindOf(f), Default: defaultOf(f)}
	switch k.Kind {
	case config.Number, config.Decimal, config.Duration, config.Switch:
		text := fmt.Sprintf("--%s is %s, not %q", f.Name, k.Expected(), clipped(bad.GetValue()))
		if errors.Is(bad, strconv.ErrRange) {
			text += ", which is out of range"
		}
		return usagef("%s", text)
	case config.Text, config.Word, config.List:
	}
	return usagef("--%s: %v", f.Name, errors.Unwrap(bad))
}

// clipped is the beginning of what somebody wrote.
func clipped(value string) string {
	const shown = 80
	if len(value) > shown {
		return strings.ToValidUTF8(value[:shown], "") + "…"
	}
	return value
}

// defaultOf is a value that a flag can have: its default, also one that it
// stands for, or nothing where there is none.
func defaultOf(f *pflag.Flag) string {
	if slices.Contains([]string{"", "0", "0s"}, f.DefValue) {
		_, suggested, _ := strings.Cut(f.Usage, "(0: ")
		return suggested[:len(suggested)-len(strings.TrimLeft(suggested, "0123456789"))]
	}
	return f.DefValue
}

// knownWords refuses a value of a flag that takes only some words.
func knownWords(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		words := valuesOf(cmd, f.Name)
		if words == nil || err != nil {
			return
		}
		given := []app.ToolValue{{Value: f.Value.String()}}
		if c, ok := f.Value.(*app.PerTool); ok {
			given = append(given, c.Tools...)
		}
		for _, g := range given {
			if g.Value == "" && g.Pattern == "" || slices.Contains(words, g.Value) {
				continue
			}
			name := strings.TrimSuffix("--"+f.Name+" "+g.Pattern, " ")
			err = usagef("%s is one of %s, not %q", name, strings.Join(words, ", "), clipped(g.Value))
			return
		}
	})
	return err
}

func kindOf(f *pflag.Flag) config.Kind {
	switch f.Value.Type() {
	case "bool":
		return config.Switch
	case "int", "int64":
		return config.Number
	case "float64":
		return config.Decimal
	case "duration":
		return config.Duration
	case "stringArray":
		return config.List
	case "string":
		return config.Text
	}
	return config.Word
}

// takes says which words a flag takes: shells complete them, and a config holds
// no other.
func takes(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// valuesOf are the words that a flag takes; nil: any.
func valuesOf(cmd *cobra.Command, flag string) []string {
	complete, ok := cmd.GetFlagCompletionFunc(flag)
	if !ok {
		return nil
	}
	words, _ := complete(cmd, nil, "")
	return words
}

// noSecrets refuses flags whose values are secrets themselves: the command line
// of a process is shown to every user of the machine, and shells keep it.
func noSecrets(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		name := f.Name
		if name == "url" { // of shell
			name = "base-url"
		}
		setting, ok := app.Find(name)
		if !ok {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if bad := setting.CheckSecret(value); bad != nil && err == nil {
				err = usagef("--%s: %v", f.Name, bad)
			}
		}
	})
	return err
}

// namedFiles refuses flags that name what is only read and is not there.
func namedFiles(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			name := value
			switch f.Name {
			case "overlay":
				if strings.Contains(value, "://") {
					continue
				}
			case "include", "exclude":
				var file bool
				if name, file = strings.CutPrefix(value, "@"); !file {
					continue
				}
			case "selection", "upload-root", "ref-root", "upstream-ca", "lists-dir":
			default:
				continue
			}
			if text := suggest.MissingFile(name); text != "" && err == nil {
				err = usagef("--%s %s cannot be read: %s", f.Name, value, text)
			}
		}
	})
	return err
}
