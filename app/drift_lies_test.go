package app

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// way is one way in which a response can be what its description does not say.
type way struct {
	name    string
	keyword string // that notices
	answer
}

// leastTold is the way that was told least of all.
func leastTold(told map[string]int, all []way) way {
	return slices.MinFunc(all, func(a, b way) int { return told[a.name] - told[b.name] })
}

// waysToLie are those that a true answer has: of the response as a whole, and of each
// place that its schema describes, where it breaks this keyword there and no other.
func waysToLie(declared []tenon.ResponseSchema, truth answer) []way {
	all := []way{
		{"another media type", "mediaType", answer{truth.status, "text/html", "<p>"}},
		{"half a body", "syntax", answer{truth.status, truth.media, truth.body[:len(truth.body)-1]}},
		{"no body", "mediaType", answer{truth.status, "", ""}},
		{"a text for all", "type", answer{truth.status, truth.media, `"a text"`}},
	}
	if !slices.ContainsFunc(declared, func(r tenon.ResponseSchema) bool { return r.Status == "default" || r.Status == "5XX" }) {
		all = append(all, way{"another status", "status", answer{599, truth.media, truth.body}})
	}
	i := slices.IndexFunc(declared, func(r tenon.ResponseSchema) bool { return r.Status == "200" && r.MediaType == truth.media })
	doc, err := rawjson.Parse(declared[i].Schema)
	against, failed := schema.Compile(declared[i].Schema, schema.Options{})
	var value any
	if err != nil || failed != nil || json.Unmarshal([]byte(truth.body), &value) != nil {
		return all
	}
	l := &liar{doc: doc}
	l.at(doc.Root(), value, 12, func(name, keyword string, lie any) {
		if slices.ContainsFunc(all, func(w way) bool { return w.name == name }) {
			return
		}
		body, err := json.Marshal(lie)
		if err != nil {
			return
		}
		if found := against.Validate(body); len(found) == 1 && found[0].Keyword == keyword {
			all = append(all, way{name, keyword, answer{truth.status, truth.media, string(body)}})
		}
	})
	return all
}

// liar changes values so that they break a schema.
type liar struct{ doc *rawjson.Doc }

// at tells whole, which is the value with one place changed.
func (l *liar) at(s rawjson.Node, value any, depth int, whole func(name, keyword string, lie any)) {
	d := l.doc
	if ref := d.Get(s, "$ref"); ref != rawjson.None {
		s = d.Pointer(strings.TrimPrefix(d.Str(ref), "#"))
	}
	if depth == 0 || d.Kind(s) != rawjson.Object {
		return
	}
	has := func(keyword string) bool { return d.Get(s, keyword) != rawjson.None }
	switch v := value.(type) {
	case string:
		whole("a number for a text", "type", 7)
		if has("enum") {
			whole("none of the values", "enum", "none of them")
		}
		if has("maxLength") {
			whole("a text that is too long", "maxLength", strings.Repeat("a", 100_000))
		}
		if has("minLength") {
			whole("a text that is too short", "minLength", "")
		}
		if has("pattern") {
			whole("a text of another pattern", "pattern", "\u2603 \u2603")
		}
	case float64:
		whole("a text for a number", "type", "7")
		whole("a fraction", "type", v+0.5)
		if has("minimum") || has("exclusiveMinimum") {
			whole("a number that is too small", "minimum", -1e15)
		}
		if has("maximum") {
			whole("a number that is too large", "maximum", 1e15)
		}
	case bool:
		whole("a text for a truth value", "type", "true")
	case []any:
		whole("an object for a list", "type", map[string]any{"items": v})
		if has("minItems") {
			whole("too few", "minItems", []any{})
		}
		if has("uniqueItems") && len(v) > 0 {
			whole("twice the same", "uniqueItems", append(slices.Clone(v), v[0]))
		}
		if len(v) > 0 {
			whole("null in a list", "type", append(slices.Clone(v), nil))
			l.at(d.Get(s, "items"), v[0], depth-1, func(name, keyword string, lie any) {
				whole(name, keyword, append([]any{lie}, v[1:]...))
			})
		}
	case map[string]any:
		whole("a list for an object", "type", []any{v})
		whole("null", "type", nil)
		whole("a further member", "additionalProperties", with(v, "somethingElse", 1))
		for name, one := range v {
			less := with(v, name, nil)
			delete(less, name)
			whole("a member is missing", "required", less)
			l.at(d.Get(d.Get(s, "properties"), name), one, depth-1, func(way, keyword string, lie any) {
				whole(way, keyword, with(v, name, lie))
			})
		}
	}
}

func with(v map[string]any, name string, value any) map[string]any {
	other := make(map[string]any, len(v)+1)
	maps.Copy(other, v)
	other[name] = value
	return other
}
