package server

import (
	"bytes"
	"encoding/json"
)

// message is one decoded JSON-RPC message. Its slices lie in the bytes that
// came in; nothing of the arguments is decoded.
type message struct {
	id     []byte // as it was written, a string or an integer; nil: none
	method string

	// What the message is, if it is no request.
	notification bool
	response     bool

	failed       bool // a response that is an error
	hasRevision  bool
	hasCursor    bool
	result       []byte // a response's result or error
	revision     string // _meta: the protocol version
	capabilities []byte // _meta: client capabilities; nil: none
	client       []byte // _meta: what the client says of itself; nil: nothing
	progress     []byte // _meta: the progress token, as it was written; nil: none
	logLevel     string // _meta: the lightest level of log messages that are wanted

	params    []byte // all of them, for methods that are rare; nil: none
	name      string // tools/call, prompts/get
	uri       string // resources
	arguments []byte // tools/call, prompts/get; nil: none
	cursor    string // lists
	requested string // initialize: protocolVersion
	requestID []byte // notifications/cancelled, as it was written
	responses []byte // inputResponses: answers to questions of an earlier round
	taskID    string // tasks
	state     string // requestState: what that round wants back
}

// The _meta keys of a request and of a result.
const (
	metaRevision     = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// decode reads the envelope of a message into m in one pass. With an error,
// m still has its id where one could be read.
func (s *Server) decode(src []byte, m *message) *rpcError {
	d := decoder{scanner: scanner{src: src}, m: m, anyID: s.lax(ruleID)}
	if err := d.document(d.envelope); err != nil {
		*m = message{} // it may not be what was meant
		return parseError(err)
	}
	d.m.response = d.seen&(sawResult|sawMethod) == sawResult
	d.m.notification = d.seen&(sawMethod|sawID) == sawMethod
	switch {
	case d.seen&isObject == 0: // already refused
	case !d.version:
		d.refuse(invalidRequest(`jsonrpc is "2.0"`))
	case d.seen&(sawMethod|sawResult) == 0:
		d.refuse(invalidRequest("a message has a method, a result or an error"))
	}
	return d.wrong
}

// decoder fills a message. What is wrong with the meaning of the message is
// kept until its syntax is read, so that the answer can carry the id.
type decoder struct {
	scanner
	m       *message
	seen    seen
	version bool
	anyID   bool
	wrong   *rpcError
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

func (d *decoder) refuse(e *rpcError) {
	if d.wrong == nil {
		d.wrong = e
	}
}

// once refuses the second member of a name: two readers of such a message
// could disagree about what it says.
func (d *decoder) once(bit seen, name string) {
	if d.seen&bit != 0 {
		d.refuse(invalidRequest("the member " + name + " stands there twice"))
	}
	d.seen |= bit
}

func (d *decoder) envelope() error {
	switch d.peek() {
	case '{':
		d.seen |= isObject
		return d.members(d.envelopeMember)
	case '[':
		d.refuse(invalidRequest("a batch is served only in " + batchRevision + "; send one message at a time"))
	default:
		d.refuse(invalidRequest("a message is a JSON object"))
	}
	return d.skip()
}

func (d *decoder) envelopeMember(key []byte) (err error) {
	switch string(plain(key)) {
	case "jsonrpc":
		d.once(sawVersion, "jsonrpc")
		var v string
		v, err = d.str("jsonrpc", invalidRequest)
		d.version = v == "2.0"
	case "id":
		d.once(sawID, "id")
		d.m.id, err = d.id("id")
	case "method":
		d.once(sawMethod, "method")
		d.m.method, err = d.str("method", invalidRequest)
	case "params":
		d.once(sawParams, "params")
		start := d.pos
		err = d.object("params", d.paramsMember)
		d.m.params = d.src[start:d.pos]
	case "result", "error":
		d.seen |= sawResult
		d.m.failed = string(plain(key)) == "error"
		d.m.result, err = d.value()
	default:
		err = d.skip()
	}
	return err
}

func (d *decoder) paramsMember(key []byte) (err error) {
	switch string(plain(key)) {
	case "_meta":
		d.once(sawMeta, "_meta")
		err = d.object("_meta", d.metaMember)
	case "name":
		d.once(sawName, "name")
		d.m.name, err = d.str("name", invalidParams)
	case "arguments":
		d.once(sawArguments, "arguments")
		d.m.arguments, err = d.rawObject("arguments is an object")
	case "uri":
		d.once(sawURI, "uri")
		d.m.uri, err = d.str("uri", invalidParams)
	case "taskId":
		d.once(sawTask, "taskId")
		d.m.taskID, err = d.str("taskId", invalidParams)
	case "inputResponses":
		d.once(sawResponses, "inputResponses")
		d.m.responses, err = d.rawObject("inputResponses is an object")
	case "requestState":
		d.once(sawState, "requestState")
		d.m.state, err = d.str("requestState", invalidParams)
	case "cursor":
		d.once(sawCursor, "cursor")
		d.m.hasCursor = d.peek() != 'n'
		d.m.cursor, err = d.str("cursor", invalidParams)
	case "protocolVersion":
		d.once(sawRequested, "protocolVersion")
		d.m.requested, err = d.str("protocolVersion", invalidParams)
	case "requestId":
		d.once(sawRequestID, "requestId")
		d.m.requestID, err = d.id("requestId")
	default:
		err = d.skip()
	}
	return err
}

func (d *decoder) metaMember(key []byte) (err error) {
	switch string(plain(key)) {
	case metaRevision:
		d.once(sawRevision, metaRevision)
		d.m.hasRevision = true
		d.m.revision, err = d.str(metaRevision, invalidParams)
	case metaCapabilities:
		d.once(sawCapabilities, metaCapabilities)
		d.m.capabilities, err = d.rawObject(metaCapabilities + " is an object")
	case metaClientInfo: // whatever it is: only told
		d.m.client, err = d.value()
	case "progressToken":
		d.once(sawProgress, "progressToken")
		d.m.progress, err = d.token("progressToken", invalidParams)
	case metaLogLevel:
		d.once(sawLogLevel, metaLogLevel)
		d.m.logLevel, err = d.str(metaLogLevel, invalidParams)
	default:
		err = d.skip()
	}
	return err
}

// object reads the members of an object that may be left out or null.
func (d *decoder) object(name string, member func(key []byte) error) error {
	if d.peek() == '{' {
		return d.members(member)
	}
	_, err := d.rawObject(name + " is an object")
	return err
}

// rawObject goes over an object and returns its text. Null counts as left out: some
// clients write what they do not have.
func (d *decoder) rawObject(rule string) ([]byte, error) {
	c := d.peek()
	v, err := d.value()
	if c == '{' {
		return v, err
	}
	if c != 'n' {
		d.refuse(invalidParams(rule))
	}
	return nil, err
}

func (d *decoder) str(name string, refusal func(string) *rpcError) (string, error) {
	c := d.peek()
	v, err := d.value()
	if err == nil && c == '"' {
		return known(plain(v)), nil
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
	case modernRevision:
		return modernRevision
	}
	return string(text)
}

// id reads an id. It comes back as it was written, so it need not fit into a
// machine word.
func (d *decoder) id(name string) ([]byte, error) { return d.token(name, invalidRequest) }

func (d *decoder) token(name string, refusal func(string) *rpcError) ([]byte, error) {
	c := d.peek()
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	integer := (c == '-' || c >= '0' && c <= '9') && !bytes.ContainsAny(v, ".eE")
	if c == '"' || integer || d.anyID {
		return v, nil
	}
	d.refuse(refusal(name + " is a string or an integer"))
	return nil, nil
}

// plain returns the text of a JSON string. It allocates only for escapes.
func plain(literal []byte) []byte {
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
