package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// serverVariables chooses values for variables in the URLs of an OpenAPI
// document's servers.
type serverVariables struct{ pairs []string }

func (v *serverVariables) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&v.pairs, "server-variable", nil, "give a variable in the server URLs of an OpenAPI document this value, as NAME=VALUE (repeatable)")
}

// read returns the values by name.
func (v *serverVariables) read() (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range v.pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("--server-variable wants NAME=VALUE, not %q", pair)
		}
		values[name] = value
	}
	return values, nil
}
