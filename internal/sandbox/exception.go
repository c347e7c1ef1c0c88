package sandbox

import (
	"errors"
	"strings"
)

const (
	memoryMessage = "the code used too much memory"
	stackMessage  = "the code called itself too deeply"
)

// engineError converts an error of the engine by the texts of QuickJS.
func (r *realm) engineError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "InternalError: interrupted"):
		return &Error{Kind: Deadline, Message: "the code ran too long"}
	case strings.Contains(text, "InternalError: out of memory"), r.lacksError(text):
		return &Error{Kind: Memory, Message: memoryMessage}
	case strings.Contains(text, "InternalError: stack overflow"), strings.Contains(text, "Maximum call stack"):
		return &Error{Kind: Stack, Message: stackMessage}
	}
	return &Error{Kind: Thrown, Message: text}
}

// thrown converts an exception; code can catch the engine's own errors and
// throw them again.
func (r *realm) thrown(text string) error {
	switch {
	case text == "interrupted":
		return &Error{Kind: Deadline, Message: "the code ran too long"}
	case text == "out of memory", r.lacksError(text):
		return &Error{Kind: Memory, Message: memoryMessage}
	case text == "stack overflow" || strings.HasPrefix(text, "Maximum call stack"):
		return &Error{Kind: Stack, Message: stackMessage}
	}
	return &Error{Kind: Thrown, Message: clip(text)}
}

// lacksError reports whether an exception has the text of one for which the
// engine had no memory: it throws null without memory for the error, an error
// without a message without memory for that, and core.js may be unable to read
// it. Code can throw each of them too; then no memory was refused.
func (r *realm) lacksError(text string) bool {
	switch text {
	case "null", "", "InternalError", "an error that cannot be printed":
		return r.engine.Refused()
	}
	return false
}

// unending returns the error for a promise that does not settle. Where memory
// was refused, the engine may have had none to settle it.
func (r *realm) unending(text string, kind Kind) error {
	if r.engine.Refused() {
		return &Error{Kind: Memory, Message: memoryMessage}
	}
	return &Error{Kind: kind, Message: text}
}
