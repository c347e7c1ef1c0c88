package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/internal/config"
	"github.com/tenon-mcp/tenon/internal/jq"
	"github.com/tenon-mcp/tenon/openapi"
)

// configKeys are the keys of the config: the flags of serve, under the same
// names. Whoever adds a flag has added the key.
func configKeys(serve *cobra.Command) []config.Key {
	ofSources := pflag.NewFlagSet("", pflag.ContinueOnError)
	registerSource(ofSources)
	var keys []config.Key
	serve.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || strings.HasPrefix(f.Name, configFlag) { // nor config-schema
			return
		}
		k := config.Key{Name: f.Name, Kind: kindOf(f), Places: config.Whole, Doc: docOf(f.Usage), Pair: pairOf(f.Name), Rebase: rebaseOf(f.Name), Check: checkOf(f.Name), Values: valuesOf(serve, f.Name)}
		if k.Kind != config.List && k.Kind != config.Switch && k.Kind != config.Word || f.DefValue == "true" {
			k.Default = f.DefValue
		}
		if k.Default == "0s" || k.Default == "0" {
			k.Default = ""
		}
		if ofSources.Lookup(f.Name) != nil && !ofAll(f.Name) {
			k.Places |= config.Source
		}
		if _, ok := f.Value.(*choice); ok {
			k.Places |= config.Tool
			if toolsOnly(f.Name) {
				k.Places = config.Tool
			}
		}
		keys = append(keys, k)
	})
	return keys
}

// registerSource registers the flags about sources alone.
func registerSource(fs *pflag.FlagSet) *sourceFlags {
	cmd := &cobra.Command{}
	f := &sourceFlags{}
	f.register(cmd)
	fs.AddFlagSet(cmd.Flags())
	return f
}

// ofAll tells the flags of sourceFlags that count for all sources together.
func ofAll(flag string) bool {
	return slices.Contains([]string{"prefix", "describe", "tools-mode", "verbose"}, flag)
}

// toolsOnly tells the flags that mean nothing without a tool.
func toolsOnly(flag string) bool {
	return slices.Contains([]string{"select", "jq", "jq-schema", "mcp-header"}, flag)
}

func kindOf(f *pflag.Flag) config.Kind {
	switch f.Value.Type() {
	case "bool":
		return config.Switch
	case "int", "int64":
		return config.Number
	case "duration":
		return config.Duration
	case "stringArray":
		return config.List
	case "string":
		return config.Text
	}
	return config.Word
}

// docOf is a flag's help without what is about command lines.
func docOf(usage string) string {
	usage = regexp.MustCompile(`; TOOL=[^(;]*`).ReplaceAllString(usage, "")
	usage = regexp.MustCompile(`, as TOOL=([A-Z,]+)`).ReplaceAllString(usage, ", as $1")
	usage = strings.ReplaceAll(usage, ", as TOOL.ARG=NAME or TOOL=ARG", ", as ARG")
	usage = strings.ReplaceAll(usage, "(repeatable; ", "(")
	usage = strings.ReplaceAll(usage, "; repeatable)", ")")
	usage = strings.ReplaceAll(usage, ", repeatable, in order)", ", in order)")
	usage = strings.ReplaceAll(usage, "(repeatable, in order)", "(in order)")
	return strings.TrimSpace(strings.ReplaceAll(usage, "(repeatable)", ""))
}

// pairOf is what stands between name and value in flags that have both.
func pairOf(flag string) string {
	switch flag {
	case "auth", "api-key", "client-cert", "app-env", "server-variable":
		return "="
	case "header":
		return ": "
	}
	return ""
}

// rebaseOf finds the files that a flag's value names.
func rebaseOf(flag string) func(folder, value string) string {
	behind := func(marks ...string) func(string, string) string {
		return func(folder, value string) string {
			for _, mark := range marks {
				if before, file, ok := strings.Cut(value, mark); ok {
					return before + mark + config.Beside(folder, file)
				}
			}
			return value
		}
	}
	switch flag {
	case "overlay", "file-root", "ref-root", "libs", "lists", "jq-schema", "upstream-ca", "cache-dir", "project-dir", "user-dir", "selection":
		return config.Beside
	case "only", "except":
		return func(folder, value string) string {
			if file, ok := strings.CutPrefix(value, "@"); ok {
				return "@" + config.Beside(folder, file)
			}
			return value
		}
	case "auth", "api-key":
		return behind("=file:", "=oauth2:file:")
	case "client-cert":
		return func(folder, value string) string {
			name, files, _ := strings.Cut(value, "=")
			parts := strings.Split(files, ",")
			for i := range parts {
				parts[i] = config.Beside(folder, parts[i])
			}
			return name + "=" + strings.Join(parts, ",")
		}
	}
	return nil
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

// checkOf finds what can be said of a value before anything is read.
func checkOf(flag string) func(value string) error {
	switch flag {
	case "max-result-bytes":
		return func(value string) error {
			_, err := parseBytes(value)
			return err
		}
	case "jq":
		return func(value string) error {
			_, err := jq.Compile(value)
			return err
		}
	case "only", "except":
		return func(value string) error {
			if err := openapi.ParseSelector(value); err != nil {
				return fmt.Errorf("rule %q: %w", value, err)
			}
			return nil
		}
	}
	return secretCheck(flag)
}
