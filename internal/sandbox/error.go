package sandbox

// Kind is the class of an Error.
type Kind string

// The kinds of error.
const (
	Thrown   Kind = "thrown"   // the code threw, or rejected
	Deadline Kind = "deadline" // it ran longer than it may
	Memory   Kind = "memory"   // it used more memory than it may
	Stack    Kind = "stack"    // it called itself more deeply than it may
	TooLarge Kind = "large"    // its arguments or its result have more bytes than allowed
	Unending Kind = "unending" // its promise can never settle
	Broken   Kind = "broken"   // the worker could not be started, or ended by itself
)

// Error says why a call has no result. Message can hold what foreign code
// wrote; it is bounded.
type Error struct {
	Kind    Kind
	Message string
	Detail  string // the last words of a worker that ended; for the log
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// maxMessage bounds the text of an error, in bytes.
const maxMessage = 4 << 10

func clip(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return text[:maxMessage] + "…"
}
