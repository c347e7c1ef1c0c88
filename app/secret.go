package main

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
)

// secretName is what secrets are called, and secretValue how credentials of
// HTTP begin.
var (
	secretName  = regexp.MustCompile(`(?i)authorization|cookie|token|secret|passw|credential|api.?key|(^|[-_.])key$`)
	secretValue = regexp.MustCompile(`(?i)^\s*(bearer|basic|digest|token|apikey)\s+\S`)
)

// noSecrets refuses flags whose values are secrets themselves: the command line
// of a process is shown to every user of the machine, and shells keep it.
func noSecrets(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		check := secretCheck(f.Name)
		if check == nil {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if bad := check(value); bad != nil && err == nil {
				err = usagef("--%s: %v", f.Name, bad)
			}
		}
	})
	return err
}

// secretCheck refuses values that look like secrets themselves; nil: the flag
// takes none. A config is copied, committed and shown as a command line is. Its
// errors do not repeat the value.
func secretCheck(flag string) func(value string) error {
	switch flag {
	case "header":
		return noSecretHeader
	case "app-env":
		return noSecretVariable
	case "param-fix":
		return noSecretArgument
	case "base-url", "url":
		return noUserInURL
	case "azure-key":
		return noLiteralKey
	}
	return nil
}

func noSecretHeader(value string) error {
	name, rest, _ := strings.Cut(value, ":")
	if (secretName.MatchString(strings.TrimSpace(name)) || secretValue.MatchString(rest)) && !variable.MatchString(rest) {
		return errors.New(strings.TrimSpace(name) + " is a secret: write '${VAR}' in single quotes, which is read from the environment")
	}
	return nil
}

func noSecretVariable(value string) error {
	if name, _, set := strings.Cut(value, "="); set && secretName.MatchString(name) {
		return errors.New(name + " is a secret: write the name alone, and its value is taken from the environment")
	}
	return nil
}

func noSecretArgument(value string) error {
	name, rest, _ := strings.Cut(value, "=")
	if secretName.MatchString(name) && secretValue.MatchString(rest) {
		return errors.New(name + " is a secret: a credential comes by --auth, which names where it is")
	}
	return nil
}

func noUserInURL(value string) error {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return errors.New("it holds a user and a password: give them by --auth or --header, which read them from the environment")
	}
	return nil
}

func noLiteralKey(value string) error {
	if !variable.MatchString(value) {
		return errors.New("it is a secret: write ${VAR}, which is read from the environment")
	}
	return nil
}
