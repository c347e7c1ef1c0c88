package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/config"
)

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
