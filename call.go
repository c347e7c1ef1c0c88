package tenon

import (
	"context"
	"iter"
	"net/http"

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

	// Client is what the program that calls says of itself, a JSON object with
	// name and version; nil: nothing. Nobody has checked it.
	Client []byte

	// OnPage: the caller follows the page of the output structure, and is told
	// the arguments that are ours by the names that stand there: __confirmed.
	OnPage bool

	// What leads back to the caller while the call is under way. Each may be
	// nil; the methods of Call know that.
	Requester    Requester
	ProgressFunc func(done, total float64, note string)
	LogFunc      func(level LoggingLevel, data any)
}

// RequestInput asks the party behind the call: see [Requester]. Meanwhile the time of a
// gateway's call stands still.
func (c *Call) RequestInput(ctx context.Context, questions ...InputRequest) ([]InputResponse, error) {
	if c.Requester == nil {
		for _, q := range questions {
			return nil, &UnsupportedInputError{Kind: q.Kind}
		}
		return nil, nil
	}
	return c.Requester.RequestInput(ctx, questions...)
}

// NotifyProgress says how far the call got: done of total, which is 0 where it is not
// known. Only a done that grows is passed on.
func (c *Call) NotifyProgress(done, total float64, note string) {
	if c.ProgressFunc != nil {
		c.ProgressFunc(done, total, note)
	}
}

// Log sends data, anything that is JSON, to the client's log.
func (c *Call) Log(level LoggingLevel, data any) {
	if c.LogFunc != nil {
		c.LogFunc(level, data)
	}
}

// LoggingLevel is the weight of a line in a client's log: debug, info, notice,
// warning, error, critical, alert or emergency.
type LoggingLevel string

// Subject names the party behind a call: the process owner on stdio, a
// verified identity or a keyed hash on HTTP. Anonymous is empty.
type Subject string

// Response is what a source got for a call: not yet checked, not yet shaped.
type Response struct {
	Status            int          // HTTP status; 0: no HTTP was involved and the response is a success
	MediaType         string       // media type of Body as it was sent, with parameters; empty with an empty Body
	UpstreamMediaType string       // media type that the upstream gave, where the source takes the body for another; empty: Media
	Header            http.Header  // response headers; nil without HTTP
	Body              []byte       // raw bytes, decoded from any transfer or content encoding; text in UTF-8 where its charset is known
	Repairs           []schema.Fix // what the source changed so that Body is legal; it is told as what the gateway changes
	Execution         Execution    // how far the requests got that can change something

	// Items is what a source answers whose items arrive one by one, instead of
	// Body: the JSON items of a list. It is ranged over once, to its end or
	// until nobody wants more, and gives back what it holds then. An error is
	// the last it yields. It may outlive the call, whose context then stays
	// alive as long.
	Items iter.Seq2[[]byte, error]

	// Content is what a source answers that has content of its own: it is
	// delivered as it is. Body then is the structured value beside it, checked
	// and shaped as every other. Failed: the answer says itself that it is an
	// error.
	Content []Content
	Failed  bool
	Meta    []byte // JSON object for the result's _meta; nil: none
}

// Execution tells how far a call's unsafe requests got: those that may change
// something at the far side (anything but GET, HEAD, OPTIONS and operations
// marked safe). The worst of several counts. The zero value: none left.
type Execution struct {
	Unsafe     RequestState
	Reads      RequestState // of the other requests, those that only read
	Idempotent bool         // every unsafe request that left was idempotent (PUT, DELETE, marked so)
}

// RequestState of a request.
type RequestState uint8

// The stages of a request, in their order.
const (
	NotSent    RequestState = iota // no byte left
	NoResponse                     // at least one byte left, no complete answer came back
	Responded                      // an answer came back, whatever it said
)

// Result is the finished answer to a call, ready for a transport to write. Its
// byte slices are valid until the transport has written them and must not be
// changed.
type Result struct {
	Content    []Content // what the model reads
	Structured []byte    // JSON value for structuredContent; nil: none
	Meta       []byte    // JSON object for _meta; nil: none
	IsError    bool

	// Confirmation is the structure that asks the caller for consent, instead of an
	// answer; nil: there is an answer.
	Confirmation []byte

	// What the envelope was made of, for transports with a form of their own.
	Value       []byte   // the value of a success as JSON, or what came of a stream that broke off; nil: the source has content of its own
	Code        Code     // of a failure
	Message     string   // what a failure says
	Details     []byte   // of a failure, a JSON object; nil: none
	Suggestions []string // what to do about a failure
}

// Executed says of the requests that can change something: "no", as no byte of
// one left; "yes", as one was answered; else "unknown".
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

// Retry says whether the same call may be made again without doing its work
// twice.
func (s Execution) Retry() string {
	if s.Unsafe == NotSent || s.Idempotent {
		return "safe"
	}
	return "unsafe"
}
