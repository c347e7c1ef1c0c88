package functionapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Type is the type of a binding. Hosts compare it ignoring case: use
// [TypeOf].
type Type string

// The types that belong to MCP.
const (
	ToolTrigger     Type = "mcpToolTrigger"
	ToolProperty    Type = "mcpToolProperty"
	ResourceTrigger Type = "mcpResourceTrigger"
	PromptTrigger   Type = "mcpPromptTrigger"
	PromptArgument  Type = "mcpPromptArgument"
)

// TypeOf returns a binding's type: one of the constants, ignoring case, else
// the type as written.
func TypeOf(b Object) Type {
	written, _ := b.Text("type")
	for _, t := range []Type{ToolTrigger, ToolProperty, ResourceTrigger, PromptTrigger, PromptArgument} {
		if strings.EqualFold(written, string(t)) {
			return t
		}
	}
	return Type(written)
}

// Function is a function.json: one function of an app.
type Function struct {
	Bindings []Object
	Others   Object // other members of the file
}

// ParseFunction parses a function.json. The error is a *[Error]. The bindings
// are not validated: see [Function.Trigger].
func ParseFunction(text []byte) (Function, error) {
	doc, err := parseFile(text, FunctionFile)
	if err != nil {
		return Function{}, err
	}
	var f Function
	for _, m := range objectAt(doc, doc.Root()) {
		if !strings.EqualFold(m.Key, "bindings") {
			f.Others = append(f.Others, m)
		}
	}
	list := childAt(doc, doc.Root(), "bindings")
	if doc.Kind(list) != rawjson.Array {
		return Function{}, &Error{Key: "bindings", Offset: doc.Offset(list), What: "must be a list of bindings"}
	}
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) != rawjson.Object {
			return Function{}, &Error{Key: "bindings", Offset: doc.Offset(n), What: "a binding must be an object"}
		}
		f.Bindings = append(f.Bindings, objectAt(doc, n))
	}
	return f, nil
}

// parseFile parses a file that may start with a byte order mark.
func parseFile(text []byte, name string) (*rawjson.Doc, error) {
	if len(text) > maxFile {
		return nil, &Error{What: fmt.Sprintf("%s is larger than %d bytes", name, maxFile)}
	}
	if rest := rawjson.WithoutMark(text); len(rest) < len(text) {
		text = append([]byte("   "), rest...) // keeps offsets
	}
	return parse(Relaxed(text), name)
}

// childAt returns the member of an object by key, ignoring case; an exact match
// wins.
func childAt(doc *rawjson.Doc, n rawjson.Node, key string) rawjson.Node {
	if m := doc.Get(n, key); m != rawjson.None {
		return m
	}
	found := rawjson.None
	for m := doc.First(n); m != rawjson.None; m = doc.Next(m) {
		if strings.EqualFold(doc.Key(m), key) {
			found = m
		}
	}
	return found
}

// Append writes f as a file. The output is deterministic.
func (f Function) Append(dst []byte) []byte {
	list := []byte{'['}
	for i, b := range f.Bindings {
		if i > 0 {
			list = append(list, ',')
		}
		list = b.Append(list)
	}
	whole := append(slices.Clip(f.Others), Member{Key: "bindings", Value: append(list, ']')})
	return appendFile(dst, whole)
}

// appendFile writes o indented, with a final newline.
func appendFile(dst []byte, o Object) []byte {
	text, err := rawjson.AppendIndent(dst, o.Append(nil), "  ")
	if err != nil { // a member that is not JSON: constructors of members create none
		text = o.Append(dst)
	}
	return append(text, '\n')
}

// Trigger returns the one binding that starts the function. The error names the
// rule of the host that f violates: it has bindings with valid, distinct names,
// and exactly one trigger.
func (f Function) Trigger() (Object, error) {
	if len(f.Bindings) == 0 {
		return nil, &Error{Key: "bindings", What: "there is none; a function has at least its trigger"}
	}
	var trigger Object
	names := map[string]bool{}
	for _, b := range f.Bindings {
		name, err := b.need("name")
		if err != nil {
			return nil, err
		}
		folded := strings.ToLower(name)
		if !legalBinding(name) {
			return nil, b.bad("name", fmt.Sprintf("%q is no name for a binding: take a letter and up to 127 letters and digits", name))
		}
		if names[folded] {
			return nil, b.bad("name", fmt.Sprintf("%q stands twice; case does not count", name))
		}
		names[folded] = true
		kind, err := b.need("type")
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(strings.ToLower(kind), "trigger") {
			continue
		}
		if trigger != nil {
			return nil, b.bad("type", "a second trigger; a function has exactly one")
		}
		trigger = b
	}
	if trigger == nil {
		return nil, &Error{Key: "bindings", What: "none is a trigger; a function has exactly one"}
	}
	return trigger, nil
}

// legalBinding is the host's pattern for names of bindings.
func legalBinding(name string) bool {
	if name == "$return" {
		return true
	}
	for i, c := range []byte(name) {
		if !isLetter(c) && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return len(name) <= 128
}

// IsFunctionName reports whether a name is valid for a function and its folder.
func IsFunctionName(name string) bool {
	for i, c := range []byte(name) {
		if !isLetter(c) && (i == 0 || !isDigit(c) && c != '_' && c != '-') {
			return false
		}
	}
	return name != "" && len(name) <= 128 && !strings.EqualFold(name, "host")
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
