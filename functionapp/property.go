package functionapp

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Property is one argument of a tool in a binding without an input schema.
type Property struct {
	Name        string
	Type        string // type of the value, or of its elements: see [Property.SchemaType]
	Description string
	Required    bool
	Array       bool
	Enum        []string // allowed values, as text; nil: any
}

// SchemaType returns p's type in JSON Schema, or "" for any value. Workers of
// some languages send the names of their own types, which Azure's host passes
// on unchanged.
func (p Property) SchemaType() (name string, exact bool) {
	switch p.Type {
	case "string", "number", "integer", "boolean", "object", "array", "null":
		return p.Type, true
	}
	switch strings.ToLower(p.Type) {
	case "string", "str", "char", "datetime", "guid", "uuid":
		return "string", false
	case "number", "float", "double", "decimal":
		return "number", false
	case "integer", "int", "long", "short":
		return "integer", false
	case "boolean", "bool":
		return "boolean", false
	case "object", "dict", "map":
		return "object", false
	case "array", "list":
		return "array", false
	}
	return "", false
}

// readProperties parses a binding's toolProperties.
func readProperties(text string) ([]Property, []Diagnostic, error) {
	doc, err := rawjson.Parse([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	switch doc.Kind(doc.Root()) {
	case rawjson.Null:
		return nil, nil, nil
	case rawjson.Array:
	default:
		return nil, nil, &Error{What: "must be a list of properties"}
	}
	properties := make([]Property, 0, doc.Len(doc.Root()))
	var notes []Diagnostic
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) != rawjson.Object {
			return nil, nil, &Error{What: "a property must be an object"}
		}
		p, err := readProperty(objectAt(doc, n))
		if err != nil {
			return nil, nil, err
		}
		if strings.TrimSpace(p.Name) == "" {
			notes = append(notes, Diagnostic{Key: "toolProperties", What: "a property without a name was left out"})
			continue
		}
		if name, exact := p.SchemaType(); !exact {
			notes = append(notes, Diagnostic{Key: "toolProperties", What: fmt.Sprintf("%s: propertyType %q is no type of JSON Schema; published as %s", p.Name, p.Type, orElse(name, "any value"))})
		}
		properties = append(properties, p)
	}
	return properties, notes, nil
}

func readProperty(o Object) (p Property, err error) {
	r := newReader(o)
	p = Property{
		Name:        r.text("propertyName"),
		Type:        r.text("propertyType"),
		Description: r.text("description"),
		Required:    r.flag("isRequired"),
		Array:       r.flag("isArray"),
	}
	if values := o.Get("enumValues"); values != nil && r.err == nil {
		doc, err := rawjson.Parse(values)
		if err != nil || doc.Kind(doc.Root()) != rawjson.Array {
			return p, o.bad("enumValues", "must be a list of strings or numbers")
		}
		for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
			switch doc.Kind(n) {
			case rawjson.String:
				p.Enum = append(p.Enum, doc.Str(n))
			case rawjson.Number:
				p.Enum = append(p.Enum, string(doc.Raw(n)))
			default:
				return p, o.bad("enumValues", "must be a list of strings or numbers")
			}
		}
	}
	return p, r.err
}

// ReadProperty parses the binding of one argument as a member of
// toolProperties.
func ReadProperty(b Object) (Property, error) { return readProperty(b) }

func appendProperties(dst []byte, properties []Property) []byte {
	dst = append(dst, '[')
	for i, p := range properties {
		if i > 0 {
			dst = append(dst, ',')
		}
		o := Object{
			textMember("propertyName", p.Name),
			textMember("propertyType", p.Type),
			textMember("description", p.Description),
			flagMember("isRequired", p.Required),
			flagMember("isArray", p.Array),
		}
		if len(p.Enum) > 0 {
			o = append(o, Member{Key: "enumValues", Value: appendStrings(nil, p.Enum)})
		}
		dst = o.Append(dst)
	}
	return append(dst, ']')
}

// appendInputSchema writes the schema that a host derives from properties. The
// last of several with one name wins; required is always present.
func appendInputSchema(dst []byte, properties []Property) []byte {
	last, need := make(map[string]int, len(properties)), map[string]bool{}
	for i, p := range properties {
		last[p.Name] = i
	}
	dst = append(dst, `{"type":"object","properties":{`...)
	var required []string
	first := true
	for i, p := range properties {
		if p.Required && !need[p.Name] {
			required, need[p.Name] = append(required, p.Name), true
		}
		if last[p.Name] != i {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(rawjson.AppendString(dst, p.Name), ':')
		dst = p.appendSchema(dst)
	}
	dst = append(dst, `},"required":`...)
	return append(appendStrings(dst, required), '}')
}

func (p Property) appendSchema(dst []byte) []byte {
	var value []byte
	name, _ := p.SchemaType()
	if name != "" {
		value = append(append(append(value, `"type":"`...), name...), `",`...)
	}
	if len(p.Enum) > 0 {
		value = append(p.appendEnum(append(value, `"enum":`...), name), ',')
	}
	dst = append(dst, '{')
	if p.Array {
		dst = append(dst, `"type":"array","items":{`...)
		dst = append(append(dst, value[:max(len(value)-1, 0)]...), `},`...)
	} else {
		dst = append(dst, value...)
	}
	return append(rawjson.AppendString(append(dst, `"description":`...), p.Description), '}')
}

// appendEnum writes the values of an enum, which are strings in the file, as
// values of the property's type: otherwise no number would match.
func (p Property) appendEnum(dst []byte, schemaType string) []byte {
	dst = append(dst, '[')
	for i, text := range p.Enum {
		if i > 0 {
			dst = append(dst, ',')
		}
		doc, err := rawjson.Parse([]byte(text))
		number := err == nil && doc.Kind(doc.Root()) == rawjson.Number && (schemaType == "integer" || schemaType == "number")
		if number || err == nil && doc.Kind(doc.Root()) == rawjson.Bool && schemaType == "boolean" {
			dst = append(dst, doc.Raw(doc.Root())...)
		} else {
			dst = rawjson.AppendString(dst, text)
		}
	}
	return append(dst, ']')
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, s)
	}
	return append(dst, ']')
}
