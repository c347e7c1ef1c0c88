package tenon

import "strings"

// Contract holds the schemas of a tool's arguments and responses, as JSON Schema
// 2020-12 documents. Each document is self-contained: its references are "#" or
// "#/$defs/…".
type Contract struct {
	Input     []byte           // schema of the arguments object; nil: any object
	Responses []ResponseSchema // the declared responses, successes and errors; nil: none is declared
	Formats   bool             // the keyword format is asserted; false: it is an annotation
	Wrapper   string           // title of the object in which the envelope native wraps every value as "result"; empty: only values that are no objects are wrapped, without a title
}

var _ ContractProvider = Contract{}

// PublishedContract makes a fixed Contract usable as a ContractProvider.
func (c Contract) PublishedContract() (Contract, []Diagnostic) { return c, nil }

// Contract makes a fixed Contract usable as a ContractProvider.
func (c Contract) Contract() (Contract, error) { return c, nil }

// ResponseSchema is one declared response.
type ResponseSchema struct {
	Status    string // "200", "2XX", "default"; empty: no HTTP is involved, always a success
	MediaType string // media type or range, lower case, without parameters; empty: no body is declared
	Open      bool   // with an empty MediaType: the body is not described, any or none is valid
	Schema    []byte // schema of a JSON body; nil: the body is not described
	Check     []byte // Schema with discriminators, which only choose the violations that are reported; nil: Schema

	// Definition names the definition that Schema is, where several responses share it
	// and others have it under $defs by this name; empty: none is known.
	Definition string

	Example []byte // a JSON body that the description gives as an example; nil: none
}

// Policy says what is published and how a response that violates its contract
// is handled.
type Policy string

// The policies. See docs/contracts.md.
const (
	Enforce Policy = "enforce" // the exact schema is published; a violation is a tool error
	Repair  Policy = "repair"  // as enforce; what can safely be repaired is repaired and reported
	Warn    Policy = "warn"    // the schema is published as advice; a violation is delivered and reported
	Off     Policy = "off"     // nothing is published, nothing is checked
)

// ParsePolicy parses the value of a flag or config key.
func ParsePolicy(s string) (Policy, error) {
	return oneOf("policy", Policy(s), Enforce, Repair, Warn, Off)
}

// Envelope is the form of structuredContent.
type Envelope string

// The envelopes.
const (
	Native     Envelope = "native"      // the value itself, {"result": value} where it is no object
	OpenAPIMCP Envelope = "openapi-mcp" // OutputFormat, OutputType, type, data, metadata or error
	FlowMCP    Envelope = "flowmcp"     // status, messages, data
)

// ParseEnvelope parses the value of a flag or config key.
func ParseEnvelope(s string) (Envelope, error) {
	return oneOf("envelope", Envelope(s), Native, OpenAPIMCP, FlowMCP)
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
