package sandbox

import (
	"errors"
	"strings"
)

// Kind is the class of an Error.
type Kind string

// The kinds of error.
const (
	Thrown   Kind = "thrown"   // the code threw, or rejected
	Deadline Kind = "deadline" // it exceeded the time limit
	Memory   Kind = "memory"   // it exceeded the memory limit
	Stack    Kind = "stack"    // it exceeded the stack limit
	TooLarge Kind = "large"    // its arguments or its result exceed the size limit
	Unending Kind = "unending" // its promise can never settle
	Broken   Kind = "broken"   // the worker could not be started, or ended by itself
)

// Error is the error of a call. Message may contain text of untrusted code; its
// length is limited.
type Error struct {
	Kind    Kind
	Message string
	Detail  string // last output of a worker that ended; for the log
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// maxMessage limits the text of an error, in bytes.
const maxMessage = 4 << 10

func clip(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return text[:maxMessage] + "…"
}

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

// isOutOfMemory reports whether a worker ended for lack of memory: by the parent's
// limit or in the Go runtime.
func isOutOfMemory(text string) bool {
	return strings.Contains(text, "of memory") || strings.Contains(text, "cannot allocate memory") || strings.Contains(text, "out of memory")
}
