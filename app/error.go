package app

import (
	"fmt"
	"regexp"

	"github.com/tenon-mcp/tenon"
)

// ConfigError is a mistake in a [Config].
type ConfigError struct {
	Key  string // the setting; empty: it is about several, or none
	From string // where a config file names the source; empty: nowhere
	text string // with settings as flags, --name
}

// invalid makes a ConfigError. The text follows the key as it is, so that it
// begins with a blank or a colon.
func invalid(key, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if key != "" {
		text = "--" + key + text
	}
	return &ConfigError{Key: key, text: text}
}

var flagName = regexp.MustCompile(`--([a-z]+(?:-[a-z]+)*)\b`)

// Error is the message. Settings have the names that they have in a config file.
func (e *ConfigError) Error() string {
	return e.located(flagName.ReplaceAllStringFunc(e.text, func(flag string) string {
		if _, known := settingsByName()[flag[2:]]; known {
			return flag[2:]
		}
		return flag
	}))
}

// CommandLine is the message for somebody who writes settings as flags, --name.
func (e *ConfigError) CommandLine() string { return e.located(e.text) }

func (e *ConfigError) located(text string) string {
	if e.From != "" {
		return e.From + ": " + text
	}
	return text
}

// Unwrap returns the error of class usage that every ConfigError is.
func (e *ConfigError) Unwrap() error { return &tenon.Error{Code: tenon.CodeUsage, Message: e.text} }

// asFlags is the message of an error with settings as flags.
func asFlags(err error) string {
	if e, ok := err.(*ConfigError); ok { //nolint:errorlint // a wrapped one is part of a longer text
		return e.CommandLine()
	}
	return err.Error()
}
