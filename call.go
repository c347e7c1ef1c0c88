package tenon

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/tenon-mcp/tenon/schema"
)

// Call is one use of a tool by a client.
type Call struct {
	Tool    string  // name in the catalog
	Args    []byte  // the arguments object as it came, one JSON value; empty: {}
	Subject Subject // on whose behalf

	// Header holds those headers of the caller's HTTP request that the operator
	// lets through to a source, and no others; nil: none. Subject is keyed by
	// them.
	Header http.Header

	// Client is how the calling program identifies itself, a JSON object with
	// name and version; nil: it does not. It is not verified.
	Client []byte

	// OnPage: the caller follows the output-structure page, and messages name
	// reserved arguments as that page does: __confirmed.
	OnPage bool

	// Ways back to the caller during the call. Each may be nil, which the
	// methods of Call handle.
	Requester    Requester
	ProgressFunc func(done, total float64, note string)
	LogFunc      func(level LoggingLevel, data any)
}

// RequestInput asks the party behind the call: see [Requester]. The deadline of
// the call pauses while input is pending.
func (c *Call) RequestInput(ctx context.Context, questions ...InputRequest) ([]InputResponse, error) {
	if c.Requester == nil {
		for _, q := range questions {
			return nil, &UnsupportedInputError{Kind: q.Kind}
		}
		return nil, nil
	}
	return c.Requester.RequestInput(ctx, questions...)
}

// NotifyProgress reports progress: done of total, which is 0 if it is unknown.
// Only increasing values of done are passed on.
func (c *Call) NotifyProgress(done, total float64, note string) {
	if c.ProgressFunc != nil {
		c.ProgressFunc(done, total, note)
	}
}

// Log sends data, any JSON value, to the client's log.
func (c *Call) Log(level LoggingLevel, data any) {
	if c.LogFunc != nil {
		c.LogFunc(level, data)
	}
}

// LoggingLevel is the severity of a log message: debug, info, notice,
// warning, error, critical, alert or emergency.
type LoggingLevel string

// Subject names the party behind a call: the process owner on stdio, a
// verified identity or a keyed hash on HTTP. Anonymous is empty.
type Subject string

// Response is what a source received for a call, before output validation and
// before it is put into an envelope.
type Response struct {
	Status            int          // HTTP status; 0: no HTTP was involved and the response is a success
	MediaType         string       // media type of Body as it was sent, with parameters; empty with an empty Body
	UpstreamMediaType string       // media type that the upstream sent, where the source treats the body as another; empty: MediaType
	Header            http.Header  // response headers; nil without HTTP
	Body              []byte       // raw bytes, decoded from any transfer or content encoding; text in UTF-8 where its charset is known
	Repairs           []schema.Fix // what the source changed so that Body is valid; reported like the gateway's own repairs
	Execution         Execution    // how far the requests got that can change something

	// Items replaces Body where the items of a list arrive one by one, as JSON.
	// It is ranged over once, to its end or until no more items are wanted, and
	// releases its resources then. An error ends it. It may outlive the call,
	// whose context then stays alive as long.
	Items iter.Seq2[[]byte, error]

	// Content holds content blocks that the source made itself; they are
	// delivered unchanged. Body then is the structured value beside them, which
	// is validated and put into an envelope like any other. Failed: the response
	// marks itself as an error.
	Content []Content
	Failed  bool
	Meta    []byte // JSON object for the result's _meta; nil: none
}

// Execution tells how far a call's unsafe requests got: those that can change
// something upstream (anything but GET, HEAD, OPTIONS and operations marked
// safe). The worst of several counts. The zero value: none was sent.
type Execution struct {
	Unsafe     RequestState
	Reads      RequestState // of the safe requests
	Idempotent bool         // every unsafe request that was sent is idempotent (PUT, DELETE, marked so)
}

// RequestState is how far a request got.
type RequestState uint8

// The stages of a request, in their order.
const (
	NotSent    RequestState = iota // no byte was sent
	NoResponse                     // at least one byte was sent, no complete response arrived
	Responded                      // a response arrived, whatever its status
)

// Result is the finished result of a call, ready for a transport to write. Its
// byte slices must not be changed.
type Result struct {
	Content    []Content // what the model reads
	Structured []byte    // JSON value for structuredContent; nil: none
	Meta       []byte    // JSON object for _meta; nil: none
	IsError    bool

	// Confirmation is the structure that asks the caller to confirm, in place of
	// a result; nil: none is needed.
	Confirmation []byte

	// The parts of the envelope, for transports with another format.
	Value       []byte   // success: the value as JSON, or the received part of an interrupted stream; nil: the source made its own content
	Code        Code     // failure
	Message     string   // failure
	Details     []byte   // failure: a JSON object; nil: none
	Suggestions []string // failure: what to do about it

	Outcome Outcome // what _meta["tenon/contract"] says, for programs that observe calls
}

// Outcome says how a call ended.
type Outcome struct {
	Verdict  Verdict
	Status   int    // of the upstream's response; 0: none, or not HTTP
	Executed string // as Execution.Executed
	Retry    string // as Execution.Retry

	RetryAfter time.Duration // when the same call can succeed; 0: not known, or at once
}

// Executed reports on the unsafe requests: "no" if no byte of one was sent,
// "yes" if one got a response, else "unknown".
func (s Execution) Executed() string {
	switch s.Unsafe {
	case NotSent:
		return "no"
	case Responded:
		return "yes"
	case NoResponse:
	}
	return "unknown"
}

// Retry reports whether repeating the call is "safe", because its effect cannot
// happen twice, or "unsafe".
func (s Execution) Retry() string {
	if s.Unsafe == NotSent || s.Idempotent {
		return "safe"
	}
	return "unsafe"
}
