package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Schema is the JSON Schema of a file that Parse reads with these keys, for
// editors: it accepts whatever Parse does.
func Schema(keys []Key) []byte {
	b := []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"tenon.yaml","type":"object","properties":{"sources":`)
	b = append(b, `{"type":"object","description":"What is served: a name for each source, and its file, folder or URL, or an object with spec and other keys.","maxProperties":1000,`...)
	b = append(b, `"propertyNames":{"pattern":"^[A-Za-z0-9_-]+$"},"additionalProperties":{"anyOf":[{"type":"string","minLength":1},{"type":"object","properties":{"spec":{"type":"string","minLength":1,"description":"The file, folder or URL that describes the source."},"tools":{"$ref":"#/$defs/tools"}`...)
	b = appendKeys(b, keys, Source)
	b = append(b, `},"required":["spec"],"additionalProperties":false}]}},"tools":{"$ref":"#/$defs/tools"}`...)
	b = appendKeys(b, keys, Whole)
	b = append(b, `},"additionalProperties":false,"$defs":{"tools":{"type":"object","description":"What counts for some tools: names or patterns with * and ?, and under each its keys.","propertyNames":{"pattern":"^[^=]+$"},"additionalProperties":{"type":"object","properties":{`...)
	members := appendKeys(nil, keys, Tool)
	b = append(b, strings.TrimPrefix(string(members), ",")...)
	b = append(b, `},"additionalProperties":false}}}}`...)
	pretty, err := rawjson.AppendIndent(nil, b, "  ")
	if err != nil {
		return b // cannot be: what was written is JSON
	}
	return append(pretty, '\n')
}

func appendKeys(b []byte, keys []Key, at Place) []byte {
	for i := range keys {
		if keys[i].Places&at != 0 {
			b = append(b, ',')
			b = rawjson.AppendString(b, keys[i].Name)
			b = append(b, ':')
			b = keys[i].appendSchema(b)
		}
	}
	return b
}

func (k *Key) appendSchema(b []byte) []byte {
	b = append(b, '{')
	switch k.Kind {
	case Text:
		b = append(b, `"type":"string"`...)
	case Word:
		b = append(b, `"type":["string","number","boolean"]`...)
	case Number:
		b = append(b, `"type":"integer"`...)
	case Decimal:
		b = append(b, `"type":"number"`...)
	case Switch:
		b = append(b, `"type":"boolean"`...)
	case Duration:
		b = append(b, `"type":"string","pattern":"^[+-]?([0-9.]+[a-zµμ]+)+$|^[+-]?0$"`...)
	case List:
		b = append(b, `"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}`...)
		switch {
		case k.Lists:
			b = append(b, `,{"type":"object","additionalProperties":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}`...)
		case k.Pair != "":
			b = append(b, `,{"type":"object","additionalProperties":{"type":"string"}}`...)
		}
		b = append(b, ']')
	}
	if len(k.Values) > 0 {
		b = append(b, `,"enum":[`...)
		for i, v := range k.Values {
			if i > 0 {
				b = append(b, ',')
			}
			b = rawjson.AppendString(b, v)
		}
		b = append(b, ']')
	}
	b = append(b, `,"description":`...)
	b = rawjson.AppendString(b, k.Doc)
	return append(b, '}')
}

// Markdown is the reference of the keys, as tables.
func Markdown(keys []Key) string {
	var b strings.Builder
	for _, part := range []struct {
		title, text string
		takes       func(Place) bool
	}{
		{"Keys of tools", "Under `tools`, in a source or at the top of the file. Beside `tools` they apply to every tool of the source, or of all sources.", func(p Place) bool { return p&Tool != 0 && p&Source != 0 }},
		{"Keys of single tools", "Only under `tools`, for single tools.", func(p Place) bool { return p == Tool }},
		{"Keys of sources", "In a source, or at the top of the file for every source without a value of its own.", func(p Place) bool { return p&Source != 0 && p&Tool == 0 }},
		{"Keys of the server", "At the top of the file.", func(p Place) bool { return p == Whole }},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | value | what it does |\n|---|---|---|\n", part.title, part.text)
		for _, k := range slices.SortedFunc(slices.Values(keys), func(a, b Key) int { return strings.Compare(a.Name, b.Name) }) {
			if part.takes(k.Places) {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, k.form(), cell(k.Doc))
			}
		}
	}
	return b.String()
}

func (k *Key) form() string {
	form := map[Kind]string{Text: "text", Word: "text or number", Number: "number", Decimal: "number", Switch: "`true` or `false`", Duration: "time", List: "list of texts"}[k.Kind]
	if len(k.Values) > 0 {
		form = "`" + strings.Join(k.Values, "`, `") + "`"
	}
	switch {
	case k.Lists:
		form += ", or object of texts or lists"
	case k.Pair != "":
		form += ", or object"
	}
	if k.Default != "" {
		form += "; default `" + k.Default + "`"
	}
	return form
}

// cell is a text in a table of Markdown.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "*", "\\*", "<", "&lt;").Replace(s)
}
