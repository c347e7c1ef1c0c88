package jsonrpc

import (
	"bytes"
	"encoding/json"
)

// The revisions of the protocol that answer differently. Modern requests say
// in _meta who asks and in which revision, each for itself; legacy ones begin
// with initialize and are told apart by nothing that matters here.
const (
	ModernRevision       = "2026-07-28"
	NewestLegacyRevision = "2025-11-25"
	// BatchRevision is the only one that has batches.
	BatchRevision = OldestHTTPRevision
	// OldestHTTPRevision is what a request means that has no version header:
	// the header came with 2025-06-18.
	OldestHTTPRevision = "2025-03-26"
)

// Message is one decoded JSON-RPC message. Its slices lie in the bytes that
// came in; nothing of the arguments is decoded.
type Message struct {
	ID     []byte // as it was written, a string or an integer; nil: none
	Method string

	// What the message is, if it is no request.
	Notification bool
	Response     bool

	Failed       bool // a response that is an error
	HasRevision  bool
	HasCursor    bool
	Result       []byte // a response's result or error
	Revision     string // _meta: the protocol version
	Capabilities []byte // _meta: client capabilities; nil: none
	Client       []byte // _meta: what the client says of itself; nil: nothing
	Progress     []byte // _meta: the progress token, as it was written; nil: none
	LogLevel     string // _meta: the lightest level of log messages that are wanted
	Trace        TraceContext

	Params    []byte // all of them, for methods that are rare; nil: none
	Name      string // tools/call, prompts/get
	URI       string // resources
	Arguments []byte // tools/call, prompts/get; nil: none
	Cursor    string // lists
	Requested string // initialize: protocolVersion
	RequestID []byte // notifications/cancelled, as it was written
	Responses []byte // inputResponses: answers to questions of an earlier round
	TaskID    string // tasks
	State     string // requestState: what that round wants back
}

// TraceContext is what _meta says of the trace that a message belongs to, unchecked;
// empty where it says nothing, or no string. See W3C Trace Context and Baggage, whose
// names stand in _meta without a prefix (SEP-414).
type TraceContext struct{ Parent, State, Baggage string }

// maxTrace bounds what is taken of each; longer ones are no trace context. W3C
// Baggage allows the most, 8192 bytes.
const maxTrace = 8192

// The _meta keys of a request and of a result.
const (
	MetaRevision     = "io.modelcontextprotocol/protocolVersion"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// Decode reads the envelope of a message into m in one pass. With an error,
// m still has its id where one could be read.
func Decode(src []byte, m *Message) *Error {
	d := decoder{Scanner: Scanner{Src: src}, m: m}
	if err := d.Document(d.envelope); err != nil {
		*m = Message{} // it may not be what was meant
		return ParseError(err)
	}
	d.m.Response = d.seen&(sawResult|sawMethod) == sawResult
	d.m.Notification = d.seen&(sawMethod|sawID) == sawMethod
	switch {
	case d.seen&isObject == 0: // already refused
	case !d.version:
		d.refuse(InvalidRequest(`jsonrpc is "2.0"`))
	case d.seen&(sawMethod|sawResult) == 0:
		d.refuse(InvalidRequest("a message has a method, a result or an error"))
	}
	return d.wrong
}

// decoder fills a message. What is wrong with the meaning of the message is
// kept until its syntax is read, so that the answer can carry the id.
type decoder struct {
	Scanner
	m       *Message
	seen    seen
	version bool
	wrong   *Error
}

// seen are the members that were met.
type seen uint32

const (
	isObject seen = 1 << iota
	sawVersion
	sawID
	sawMethod
	sawResult
	sawParams
	sawMeta
	sawName
	sawArguments
	sawCursor
	sawRequested
	sawRequestID
	sawRevision
	sawCapabilities
	sawProgress
	sawLogLevel
	sawURI
	sawResponses
	sawState
	sawTask
)

func (d *decoder) refuse(e *Error) {
	if d.wrong == nil {
		d.wrong = e
	}
}

// once refuses the second member of a name: two readers of such a message
// could disagree about what it says.
func (d *decoder) once(bit seen, name string) {
	if d.seen&bit != 0 {
		d.refuse(InvalidRequest("the member " + name + " stands there twice"))
	}
	d.seen |= bit
}

func (d *decoder) envelope() error {
	switch d.Peek() {
	case '{':
		d.seen |= isObject
		return d.members(d.envelopeMember)
	case '[':
		d.refuse(InvalidRequest("a batch is served only in " + BatchRevision + "; send one message at a time"))
	default:
		d.refuse(InvalidRequest("a message is a JSON object"))
	}
	return d.skip()
}

func (d *decoder) envelopeMember(key []byte) (err error) {
	switch string(Plain(key)) {
	case "jsonrpc":
		d.once(sawVersion, "jsonrpc")
		var v string
		v, err = d.str("jsonrpc", InvalidRequest)
		d.version = v == "2.0"
	case "id":
		d.once(sawID, "id")
		d.m.ID, err = d.id("id")
	case "method":
		d.once(sawMethod, "method")
		d.m.Method, err = d.str("method", InvalidRequest)
	case "params":
		d.once(sawParams, "params")
		start := d.pos
		err = d.object("params", d.paramsMember)
		d.m.Params = d.Src[start:d.pos]
	case "result", "error":
		d.seen |= sawResult
		d.m.Failed = string(Plain(key)) == "error"
		d.m.Result, err = d.Value()
	default:
		err = d.skip()
	}
	return err
}

func (d *decoder) paramsMember(key []byte) (err error) {
	switch string(Plain(key)) {
	case "_meta":
		d.once(sawMeta, "_meta")
		err = d.object("_meta", d.metaMember)
	case "name":
		d.once(sawName, "name")
		d.m.Name, err = d.str("name", InvalidParams)
	case "arguments":
		d.once(sawArguments, "arguments")
		d.m.Arguments, err = d.rawObject("arguments is an object")
	case "uri":
		d.once(sawURI, "uri")
		d.m.URI, err = d.str("uri", InvalidParams)
	case "taskId":
		d.once(sawTask, "taskId")
		d.m.TaskID, err = d.str("taskId", InvalidParams)
	case "inputResponses":
		d.once(sawResponses, "inputResponses")
		d.m.Responses, err = d.rawObject("inputResponses is an object")
	case "requestState":
		d.once(sawState, "requestState")
		d.m.State, err = d.str("requestState", InvalidParams)
	case "cursor":
		d.once(sawCursor, "cursor")
		d.m.HasCursor = d.Peek() != 'n'
		d.m.Cursor, err = d.str("cursor", InvalidParams)
	case "protocolVersion":
		d.once(sawRequested, "protocolVersion")
		d.m.Requested, err = d.str("protocolVersion", InvalidParams)
	case "requestId":
		d.once(sawRequestID, "requestId")
		d.m.RequestID, err = d.id("requestId")
	default:
		err = d.skip()
	}
	return err
}

func (d *decoder) metaMember(key []byte) (err error) {
	switch string(Plain(key)) {
	case MetaRevision:
		d.once(sawRevision, MetaRevision)
		d.m.HasRevision = true
		d.m.Revision, err = d.str(MetaRevision, InvalidParams)
	case MetaCapabilities:
		d.once(sawCapabilities, MetaCapabilities)
		d.m.Capabilities, err = d.rawObject(MetaCapabilities + " is an object")
	case MetaClientInfo: // whatever it is: only told
		d.m.Client, err = d.Value()
	case "progressToken":
		d.once(sawProgress, "progressToken")
		d.m.Progress, err = d.token("progressToken", InvalidParams)
	case metaLogLevel:
		d.once(sawLogLevel, metaLogLevel)
		d.m.LogLevel, err = d.str(metaLogLevel, InvalidParams)
	case "traceparent":
		d.m.Trace.Parent, err = d.traced()
	case "tracestate":
		d.m.Trace.State, err = d.traced()
	case "baggage":
		d.m.Trace.Baggage, err = d.traced()
	default:
		err = d.skip()
	}
	return err
}

// traced reads a part of the trace context. What is none is ignored: telemetry
// refuses no request.
func (d *decoder) traced() (string, error) {
	c := d.Peek()
	v, err := d.Value()
	if err != nil || c != '"' || len(v) > maxTrace {
		return "", err
	}
	return string(Plain(v)), nil
}

// object reads the members of an object that may be left out or null.
func (d *decoder) object(name string, member func(key []byte) error) error {
	if d.Peek() == '{' {
		return d.members(member)
	}
	_, err := d.rawObject(name + " is an object")
	return err
}

// rawObject goes over an object and returns its text. Null counts as left out: some
// clients write what they do not have.
func (d *decoder) rawObject(rule string) ([]byte, error) {
	c := d.Peek()
	v, err := d.Value()
	if c == '{' {
		return v, err
	}
	if c != 'n' {
		d.refuse(InvalidParams(rule))
	}
	return nil, err
}

func (d *decoder) str(name string, refusal func(string) *Error) (string, error) {
	c := d.Peek()
	v, err := d.Value()
	if err == nil && c == '"' {
		return known(Plain(v)), nil
	}
	if c != 'n' || name == "method" {
		d.refuse(refusal(name + " is a string"))
	}
	return "", err
}

// known is text as a string. What nearly every message says is not made anew.
func known(text []byte) string {
	switch string(text) {
	case "2.0":
		return "2.0"
	case "tools/call":
		return "tools/call"
	case ModernRevision:
		return ModernRevision
	}
	return string(text)
}

// id reads an id. It comes back as it was written, so it need not fit into a
// machine word.
func (d *decoder) id(name string) ([]byte, error) { return d.token(name, InvalidRequest) }

func (d *decoder) token(name string, refusal func(string) *Error) ([]byte, error) {
	c := d.Peek()
	v, err := d.Value()
	if err != nil {
		return nil, err
	}
	integer := (c == '-' || c >= '0' && c <= '9') && !bytes.ContainsAny(v, ".eE")
	if c == '"' || integer {
		return v, nil
	}
	d.refuse(refusal(name + " is a string or an integer"))
	return nil, nil
}

// Plain returns the text of a JSON string. It allocates only for escapes.
func Plain(literal []byte) []byte {
	inner := literal[1 : len(literal)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if json.Unmarshal(literal, &s) != nil {
		return nil // cannot be: the scanner went over it
	}
	return []byte(s)
}
