package functionapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Property is one argument of a tool, as a binding without an input schema
// describes it.
type Property struct {
	Name        string
	Type        string // of the value, or of its elements: see [Property.SchemaType]
	Description string
	Required    bool
	Array       bool
	Enum        []string // the values that are allowed, as text; nil: all of the type
}

// SchemaType returns p's type as JSON Schema has it, "" where there is no
// such: then any value is allowed. Workers of some languages send the names
// that the types have there, and Azure's host hands those on as they are.
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

// readProperties reads the list in a binding's toolProperties.
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

// ReadProperty reads the binding of one argument as a member of toolProperties.
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

// appendInputSchema writes the schema that a host makes of properties. Of
// several with one name the last one counts; required is always there.
func appendInputSchema(dst []byte, properties []Property) []byte {
	dst = append(dst, `{"type":"object","properties":{`...)
	var required []string
	first := true
	for i, p := range properties {
		if p.Required && !slices.Contains(required, p.Name) {
			required = append(required, p.Name)
		}
		later := func(q Property) bool { return q.Name == p.Name }
		if slices.ContainsFunc(properties[i+1:], later) {
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

// appendEnum writes the values of an enum, which are text in the file, as values
// of the property's type: no number would be among texts.
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
