package tenon

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Source reads one description (a document, a folder, a set of Go functions)
// and returns its features.
type Source interface {
	// Load reads the description. A defective part is left out and reported in
	// Features.Diagnostics; an error means that nothing could be read.
	Load(ctx context.Context) (Features, error)
}

// Watcher is a [Source] that detects changes of its description.
type Watcher interface {
	// Watch calls changed, one call at a time and until ctx is done, once for
	// each state of the description that differs from the last successful Load.
	Watch(ctx context.Context, changed func()) error
}

// Settler is a [Source] that runs something for its features, such as a process,
// and needs to know which of two it should keep after a reload.
type Settler interface {
	// Settle is called after each Load but the first: served says whether its
	// features are served now, or the previous ones still are.
	Settle(served bool)
}

// Features are the server features of a description, in its order.
type Features struct {
	Tools             []Tool
	Resources         []Resource
	ResourceTemplates []ResourceTemplate
	Prompts           []Prompt
	Diagnostics       []Diagnostic
}

// Diagnostic is one problem in a description.
type Diagnostic struct {
	File    string // file or URL as the operator named it; empty: no file is involved
	Line    int    // 1-based; 0: unknown
	Message string // what is wrong
	Hint    string // what the operator can do about it; may be empty
	Kind    string // groups diagnostics in summaries, such as the code of a rule; may be empty
}

// Kinds of diagnostics that programs check for.
const (
	DiagnosticHeader     = "header" // an argument cannot have the header that the operator gave it
	DiagnosticProjection = "view"   // a path of the operator's projection does not exist: the tool is left out
	DiagnosticSelector   = "rule"   // a selector of tools matches none
)

// String formats d as "file:line: message (hint)", in one line that a terminal
// can show: what a description says may hold control characters.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		if d.Line > 0 {
			fmt.Fprintf(&b, ":%d", d.Line)
		}
		b.WriteString(": ")
	}
	b.WriteString(d.Message)
	if d.Hint != "" {
		b.WriteString(" (" + d.Hint + ")")
	}
	return printable(b.String())
}

// printable escapes control characters as Go writes them; line ends and tabs
// become spaces.
func printable(text string) string {
	hidden := func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Tool is the intermediate form: every description becomes tools, every
// transport serves tools. A Tool is a plain value; gateway.Build freezes it into
// a catalog.
type Tool struct {
	Name            string           // as the source proposes it; gateway.Build makes it legal and unique
	Original        string           // the name in the description, for the operator; empty: Name
	Title           string           // for people; may be empty
	Description     string           // for the model
	Annotations     Annotations      // behaviour that clients can show or ask about
	Group           string           // groups the tools of a description for people: a tag; may be empty
	Keywords        string           // further words that search finds it by: tags, the path of an operation; not shown
	Meta            json.RawMessage  // JSON object for the definition's _meta; nil: none
	Policy          Policy           // empty: Enforce
	Envelope        Envelope         // empty: Native
	MaxResult       int              // bytes of a value and its text copy above which it is split into parts; 0: 200 KiB in the envelope OpenAPIMCP, else no limit; negative: no limit
	Projection      Projection       // the part of a response that callers see; zero: all of it
	Fields          bool             // callers can select parts of a response with the argument fields
	Contract        ContractProvider // schemas of arguments and responses; nil: any object is accepted, no response is declared
	RawSchemas      bool             // the schemas are published unchanged, without the adaptations for clients
	Fixed           bool             // its author wrote what is published: profiles of clients change nothing of it, and definitions stay where they are
	ArgumentHeaders []ArgumentHeader // headers that repeat arguments, for proxies that route by them
	Confirmation    ConfirmRule      // whether a call needs confirmation
	Confirm         ConfirmFunc      // makes the request for confirmation; nil: a general one
	Handler         Handler          // performs a call; must not be nil, unless gateway.Mount.Forward has the tool
	Origin          Diagnostic       // File and Line of the tool's description, for diagnostics
	DefinitionAt    DefinitionAt     // where a definition of its schemas is described; nil: nobody knows
	Upstream        func() string    // origin of the service that calls go to, scheme://host[:port]; nil or empty: none, or it is not known before a call
	Labels          func() Labels    // what the operator's selectors match beside the name; nil: nothing
	Scopes          []string         // all that the access token of a caller must have; others are refused
}

// DefinitionAt returns File and Line of a schema in a definition that several tools may
// share, by its JSON Pointer in the document of a response: /$defs/NAME and what follows.
// Of what follows it knows as much as is described there; File is empty if nothing is
// known.
type DefinitionAt func(pointer string) Diagnostic

// Labels are what the selectors of an operator match, beside a tool's name.
type Labels struct {
	Method, Path string   // of the HTTP operation; empty: there is none
	IDs          []string // its names in the description
	Tags         []string
	Scopes       []string // of OAuth that the description asks for
}

// ArgumentHeader names the header Mcp-Param-Header in which clients repeat an
// argument (x-mcp-header of MCP): a string, integer or boolean.
type ArgumentHeader struct{ Argument, Header string }

// Annotations are the tool annotations of MCP. A nil pointer omits the member,
// so that the client assumes the default of MCP.
type Annotations struct {
	ReadOnly    *bool // changes nothing; default false
	Destructive *bool // may destroy what is there; default true
	Idempotent  *bool // the same call twice has the effect of one; default false
	OpenWorld   *bool // interacts with external systems; default true
}

// Handler performs one call: the only part that differs between sources.
// Response.Execution must be set also when the error is not nil.
type Handler func(ctx context.Context, c *Call) (Response, error)

// ContractProvider makes the contract of a tool. Each method is called at most
// once, when its result is first needed: a document with twenty thousand
// operations is served before most of its schemas are converted. Both must be
// safe for concurrent use.
type ContractProvider interface {
	// PublishedContract returns the contract that clients read. Its output
	// schemas accept whatever those of Contract accept, and more where the size
	// budget required it. The diagnostics say what was changed or left out.
	PublishedContract() (Contract, []Diagnostic)
	// Contract returns the contract that calls are validated against.
	Contract() (Contract, error)
}
