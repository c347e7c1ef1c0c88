package app

import (
	"strings"
)

// serverVariables are the values of variables in the URLs of servers, by name.
func serverVariables(pairs []string) (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, invalid("server-variable", " wants NAME=VALUE, not %q", pair)
		}
		values[name] = value
	}
	return values, nil
}
