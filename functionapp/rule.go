package functionapp

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Schema is a schema that the contract accepts: JSON whose root is an object
// with the type "object". The zero value means no schema. It is immutable.
type Schema struct{ text string }

// JSON returns the compact schema, or nil.
func (s Schema) JSON() []byte {
	if s.text == "" {
		return nil
	}
	return []byte(s.text)
}

// String returns the schema as text.
func (s Schema) String() string { return s.text }

// SchemaKind tells the schemas of a tool apart.
type SchemaKind uint8

// The kinds of schema.
const (
	Input SchemaKind = iota
	Output
)

func (k SchemaKind) String() string {
	if k == Output {
		return "Output"
	}
	return "Input"
}

// SchemaRule is the rule that a schema violates.
type SchemaRule string

// The rules, which both sides apply to the root only.
const (
	SchemaEmpty      SchemaRule = "empty"                 // missing
	SchemaSyntax     SchemaRule = "invalid_json"          // not one JSON value
	SchemaDepth      SchemaRule = "too_deep"              // nested deeper than 64
	SchemaDuplicate  SchemaRule = "duplicate_member"      // the root has a duplicate member: only workers reject that
	SchemaObject     SchemaRule = "not_object"            // the root is not an object
	SchemaType       SchemaRule = "type_not_object"       // its type is not the string "object"
	SchemaProperties SchemaRule = "properties_not_object" // its properties are not an object
	SchemaRequired   SchemaRule = "required_not_array"    // its required is not an array
)

// maxSchemaDepth is the maximum nesting of a schema, as in System.Text.Json,
// which both sides of Azure use.
const maxSchemaDepth = 64

// SchemaError tells why a schema is invalid.
type SchemaError struct {
	Kind SchemaKind
	Rule SchemaRule
	Tool string // empty: unknown; only for the host's wording
	Host bool   // use the host's wording
	Err  error  // error of the JSON parser; may be nil
}

// Error formats e like the side that found it: a worker names the rule, Azure's
// host only tells invalid JSON from other errors.
func (e *SchemaError) Error() string {
	if e.Host {
		return e.hostText()
	}
	text := e.Kind.String() + " schema "
	switch e.Rule {
	case SchemaEmpty:
		text += "must not be empty"
	case SchemaSyntax:
		text += "must be valid JSON"
	case SchemaDepth:
		text += fmt.Sprintf("must not nest deeper than %d", maxSchemaDepth)
	case SchemaDuplicate:
		text += "must not have a root member twice"
	case SchemaObject:
		text += "must be a JSON object"
	case SchemaType:
		text += `must have a root "type" of "object"`
	case SchemaProperties:
		text += `"properties" must be a JSON object when present`
	case SchemaRequired:
		text += `"required" must be a JSON array when present`
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *SchemaError) hostText() string {
	if e.Rule != SchemaSyntax && e.Rule != SchemaDepth {
		return fmt.Sprintf("The specified document is not a valid MCP tool %s JSON schema.", strings.ToLower(e.Kind.String()))
	}
	text := fmt.Sprintf("Failed to parse %sSchema for tool '%s'. Schema must be valid JSON.", e.Kind, e.Tool)
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	return text
}

// Unwrap returns the error of the JSON parser.
func (e *SchemaError) Unwrap() error { return e.Err }

// ParseSchema parses the schema that a worker declares. An empty or blank text
// is an error. The error is a *[SchemaError] that names the rule.
func ParseSchema(kind SchemaKind, text string) (Schema, error) {
	if strings.TrimSpace(text) == "" {
		return Schema{}, &SchemaError{Kind: kind, Rule: SchemaEmpty}
	}
	s, rule, err := judge(text, true)
	if rule != "" {
		return Schema{}, &SchemaError{Kind: kind, Rule: rule, Err: err}
	}
	return s, nil
}

// ReadSchema parses the schema in a binding, as a host does. The empty text is
// no schema; white space is an error. The error is a *[SchemaError] in the
// host's wording.
func ReadSchema(kind SchemaKind, tool, text string) (Schema, error) {
	if text == "" {
		return Schema{}, nil
	}
	s, rule, err := judge(text, false)
	if rule == SchemaDepth {
		rule = SchemaSyntax // the same to Azure's host
	}
	if rule != "" {
		return Schema{}, &SchemaError{Kind: kind, Rule: rule, Tool: tool, Host: true, Err: err}
	}
	return s, nil
}

// judge checks the rule that both sides share. The last of duplicate members
// counts, as in Azure's host; its worker rejects them.
func judge(text string, worker bool) (Schema, SchemaRule, error) {
	doc, err := rawjson.Parse([]byte(text))
	if err != nil {
		return Schema{}, SchemaSyntax, err
	}
	root := doc.Root()
	if depth(text) > maxSchemaDepth {
		return Schema{}, SchemaDepth, nil
	}
	if doc.Kind(root) != rawjson.Object {
		return Schema{}, SchemaObject, nil
	}
	if worker {
		for m := doc.First(root); m != rawjson.None; m = doc.Next(m) {
			if doc.Get(root, doc.Key(m)) != m {
				return Schema{}, SchemaDuplicate, nil
			}
		}
	}
	if !doc.IsStr(doc.Get(root, "type"), "object") {
		return Schema{}, SchemaType, nil
	}
	if p := doc.Get(root, "properties"); p != rawjson.None && doc.Kind(p) != rawjson.Object {
		return Schema{}, SchemaProperties, nil
	}
	if r := doc.Get(root, "required"); r != rawjson.None && doc.Kind(r) != rawjson.Array {
		return Schema{}, SchemaRequired, nil
	}
	return Schema{text: string(doc.AppendCompact(nil, root))}, "", nil
}

// depth returns the nesting of JSON.
func depth(text string) int {
	deepest, now, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString:
			if c == '\\' {
				i++
			}
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
