package sandbox

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
