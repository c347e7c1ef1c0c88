package tenon

import "strings"

// Contract says what a tool accepts and what it answers, as JSON Schema
// 2020-12 documents. Each document stands alone: its references are "#" or
// "#/$defs/…".
type Contract struct {
	Input     []byte           // schema of the arguments object; nil: any object
	Responses []ResponseSchema // the declared answers, successes and errors; nil: nothing is declared
	Formats   bool             // the keyword format is checked; false: it is an annotation
	Wrapper   string           // title of the object in which the envelope native holds the value under "result", even an object; empty: only other values are held, without a title
}

var _ ContractProvider = Contract{}

// PublishedContract makes a fixed Contract usable as a ContractProvider.
func (c Contract) PublishedContract() (Contract, []Diagnostic) { return c, nil }

// Contract makes a fixed Contract usable as a ContractProvider.
func (c Contract) Contract() (Contract, error) { return c, nil }

// ResponseSchema is one declared answer.
type ResponseSchema struct {
	Status    string // "200", "2XX", "default"; empty: no HTTP is involved, always a success
	MediaType string // media type or range, lower case, without parameters; empty: no body is declared
	Open      bool   // the description says nothing about a body: with an empty MediaType, any or none may come
	Schema    []byte // schema of a JSON body; nil: the body is not described
	Check     []byte // Schema with discriminators, which say what is told of a body that does not fit and nothing else; nil: Schema

	Example []byte // a JSON body that the description gives as an example; nil: none
	Name    string // of the schema, where several of the source's tools answer with it; then it stands for the same bytes in all. Empty: none
}

// Policy says what is published and what happens to an answer that breaks its
// contract.
type Policy string

// The policies. See docs/architecture.md, "Contracts".
const (
	Enforce Policy = "enforce" // the exact schema is published; a violation is a tool error
	Repair  Policy = "repair"  // as enforce; what can safely be repaired is repaired and reported
	Warn    Policy = "warn"    // the schema is published as advice; a violation is delivered and reported
	Off     Policy = "off"     // nothing is published, nothing is checked
)

// ParsePolicy reads a policy as an operator writes it.
func ParsePolicy(s string) (Policy, error) {
	return oneOf("policy", Policy(s), Enforce, Repair, Warn, Off)
}

// Envelope says what stands in structuredContent.
type Envelope string

// The envelopes.
const (
	Native     Envelope = "native"      // the value itself, {"result": value} where it is no object
	OpenAPIMCP Envelope = "openapi-mcp" // OutputFormat, OutputType, type, data, metadata or error
	FlowMCP    Envelope = "flowmcp"     // status, messages, data
)

// ParseEnvelope reads a shape as an operator writes it.
func ParseEnvelope(s string) (Envelope, error) {
	return oneOf("shape", Envelope(s), Native, OpenAPIMCP, FlowMCP)
}

func oneOf[T ~string](what string, got T, known ...T) (T, error) {
	names := make([]string, len(known))
	for i, k := range known {
		if k == got {
			return got, nil
		}
		names[i] = string(k)
	}
	return "", Errorf(CodeUsage, "%s %q is not known; use %s", what, got, strings.Join(names, ", "))
}
