package tenon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Source reads one description (a document, a folder, a set of Go functions)
// and offers what it found.
type Source interface {
	// Load reads the description. What is wrong inside it costs only the part
	// it is in and is reported in Features.Diagnostics; an error means that nothing
	// could be read at all.
	Load(ctx context.Context) (Features, error)
}

// Watcher is a [Source] that notices when its description changes.
type Watcher interface {
	// Watch calls changed, one call at a time and until ctx ends, once for each
	// state of the description that is other than the last good Load found it.
	Watch(ctx context.Context, changed func()) error
}

// Settler is a [Source] that runs something for what it offers, such as a
// process, and needs to know which of two it is to go on with.
type Settler interface {
	// Settle is called after a Load that was not the first: served says whether
	// its offer is in force now, or the one before stays.
	Settle(served bool)
}

// Features is what a source found in its description, in the order of the
// description.
type Features struct {
	Tools             []Tool
	Resources         []Resource
	ResourceTemplates []ResourceTemplate
	Prompts           []Prompt
	Diagnostics       []Diagnostic
}

// Diagnostic is one thing that is wrong with a description.
type Diagnostic struct {
	File    string // file or URL as the operator named it; empty: no file is involved
	Line    int    // 1-based; 0: not known
	Message string // what is wrong
	Hint    string // what the operator can do about it; may be empty
	Kind    string // what it shares with others like it, such as the code of a rule: a summary tells them once; empty: nothing
}

// Kinds of faults that programs look for.
const (
	DiagnosticHeader     = "header" // an argument cannot have the header that the operator gave it
	DiagnosticProjection = "view"   // what the operator wants to show of a tool's answers is not there: the tool is left out
	DiagnosticSelector   = "rule"   // a rule that chooses tools matches none
)

// String formats f as "file:line: what (do)".
func (f Diagnostic) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	if f.Hint != "" {
		b.WriteString(" (" + f.Hint + ")")
	}
	return b.String()
}

// Tool is the middle form: every description becomes tools, every transport serves
// tools. A Tool is a plain value; Build freezes it into a Catalog.
type Tool struct {
	Name            string           // as the source proposes it; Build makes it legal and unique
	Original        string           // as the description has it, for the operator; empty: as Name was proposed
	Title           string           // for people; may be empty
	Description     string           // for the model
	Annotations     Annotations      // behaviour that clients may show or ask about
	Group           string           // what it belongs to among the tools of its description, for people: a tag; may be empty
	Keywords        string           // what else it is found by: tags, the path of an operation; shown to nobody
	Meta            json.RawMessage  // JSON object for the definition's _meta; nil: none
	Policy          Policy           // empty: Enforce
	Envelope        Envelope         // empty: Native
	MaxResult       int              // bytes of a value and its text copy before it is cut into parts; 0: 200 KiB in the envelope OpenAPIMCP, else no limit; negative: no limit
	Projection      Projection       // what callers get to see of an answer; zero: all of it
	Fields          bool             // callers may ask for parts of an answer: the argument fields
	Contract        ContractProvider // what goes in and what comes back; nil: any object in, nothing promised
	RawSchemas      bool             // the schemas are published as they are; the source answers for what clients make of them
	ArgumentHeaders []ArgumentHeader // headers that repeat arguments, for gateways that route by them
	Confirmation    ConfirmRule      // whether somebody has to agree before a call
	Confirm         ConfirmFunc      // what to ask them; nil: whether the call may be made
	Handler         Handler          // what a call does; must not be nil, except where Named.Forward has the tool
	Origin          Diagnostic       // File and Line where the tool is described, for reports about it
}

// ArgumentHeader is a header that clients repeat an argument in, as
// Mcp-Param-Header (x-mcp-header of MCP): a string, integer or boolean.
type ArgumentHeader struct{ Argument, Header string }

// Annotations are the tool annotations of MCP. A nil pointer leaves the member out,
// and the client assumes the default of the protocol.
type Annotations struct {
	ReadOnly    *bool // changes nothing; default false
	Destructive *bool // may destroy what is there; default true
	Idempotent  *bool // the same call twice has the effect of one; default false
	OpenWorld   *bool // talks to things outside its own domain; default true
}

// Handler performs one call: the only thing that differs between sources.
// Response.Sent must be set also when the error is not nil.
type Handler func(ctx context.Context, c *Call) (Response, error)

// ContractProvider holds what a tool promises. The catalog asks for each part at most
// once, when it is first needed: a document with twenty thousand operations
// is served before most of its schemas were ever converted. Both methods may
// be called from several goroutines at once.
type ContractProvider interface {
	// Published returns the contract as clients should read it. It accepts
	// whatever Contract accepts, and may accept more where a size budget asked
	// for it. The diagnostics say what was changed or left out.
	PublishedContract() (Contract, []Diagnostic)
	// Contract returns the contract as calls are checked against it.
	Contract() (Contract, error)
}
