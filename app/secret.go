package app

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// secretName is what secrets are called, and secretValue how credentials of
// HTTP begin.
var (
	secretName  = regexp.MustCompile(`(?i)authorization|cookie|token|secret|passw|credential|api.?key|(^|[-_.])key$`)
	secretValue = regexp.MustCompile(`(?i)^\s*(bearer|basic|digest|token|apikey)\s+\S`)
)

// variable is a reference to a variable of the environment.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// What a secret is refused by. A config file is copied, committed and shown as a
// command line is. No error repeats the value.

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
