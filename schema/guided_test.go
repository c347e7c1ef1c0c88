package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// guided makes values after a schema: most of them fit it.
type guided struct {
	*maker
	root   any
	sloppy bool // with the mistakes that upstreams make
}

func (m *maker) guided(doc string, sloppy bool) *guided {
	g := &guided{maker: m, sloppy: sloppy}
	if err := json.Unmarshal([]byte(doc), &g.root); err != nil {
		m.Fatalf("%s: %v", doc, err)
	}
	return g
}

// like makes a value after the schema s.
func (g *guided) like(s any, depth int) string {
	if g.sloppy && g.chance(4) {
		return g.pick("null", `"1"`, `"true"`, "{}", "[]", `"a"`)
	}
	o, ok := s.(map[string]any)
	if !ok || depth <= 0 {
		return g.leaf(s)
	}
	for _, k := range []string{"const", "enum"} {
		if v, ok := o[k]; ok {
			return g.told(k, v)
		}
	}
	if to, ok := o["$ref"].(string); ok && g.chance(70) {
		return g.like(g.lookup(to), depth-1)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := o[k].([]any); ok && len(list) > 0 && (o["properties"] == nil && o["items"] == nil || g.chance(30)) {
			return g.like(list[g.below(len(list))], depth-1)
		}
	}
	switch g.kind(o) {
	case "object":
		return g.objectLike(o, depth)
	case "array":
		return g.arrayLike(o, depth)
	}
	return g.leaf(s)
}

// below returns a number from 0 to n-1, each as likely.
func (g *guided) below(n int) int {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	i, _ := strconv.Atoi(g.pick(list...))
	return i
}

func (g *guided) told(keyword string, v any) string {
	if list, ok := v.([]any); keyword == "enum" && ok && len(list) > 0 {
		v = list[g.below(len(list))]
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}

func (g *guided) lookup(ref string) any {
	fragment, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return nil
	}
	at := g.root
	for _, token := range strings.Split(fragment, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(v) {
				return nil
			}
			at = v[i]
		}
	}
	return at
}

func (g *guided) kind(o map[string]any) string {
	switch t := o["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			kind, _ := t[g.below(len(t))].(string)
			return kind
		}
	}
	for _, k := range []string{"properties", "patternProperties", "additionalProperties", "required", "propertyNames", "dependentSchemas", "minProperties", "unevaluatedProperties"} {
		if _, ok := o[k]; ok {
			return "object"
		}
	}
	for _, k := range []string{"items", "prefixItems", "contains", "minItems", "uniqueItems", "unevaluatedItems"} {
		if _, ok := o[k]; ok {
			return "array"
		}
	}
	return ""
}

func (g *guided) leaf(s any) string {
	o, _ := s.(map[string]any)
	switch g.kind(o) {
	case "string":
		return g.pick(`"a"`, `"b"`, `"ab"`, `"a-b"`)
	case "integer", "number":
		if g.sloppy && g.chance(20) {
			return `"2"`
		}
		return g.pick("1", "2", "3")
	case "boolean":
		return g.pick("true", "false")
	case "null":
		return "null"
	case "object":
		return "{}"
	case "array":
		return "[]"
	}
	return g.value(2)
}

func (g *guided) objectLike(o map[string]any, depth int) string {
	var members []string
	add := func(name string, s any) {
		members = append(members, fmt.Sprintf("%q:%s", name, g.like(s, depth-1)))
	}
	known, _ := o["properties"].(map[string]any)
	required := fmt.Sprint(o["required"])
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if strings.Contains(required, name) || g.chance(70) {
			add(name, known[name])
		}
	}
	if list, ok := o["required"].([]any); ok {
		for _, name := range list {
			if name, ok := name.(string); ok && known[name] == nil {
				add(name, nil)
			}
		}
	}
	if o["additionalProperties"] != false || g.sloppy && g.chance(10) {
		for range g.below(2) {
			add(g.name(), o["additionalProperties"])
		}
	}
	return "{" + strings.Join(unique(members), ", ") + "}"
}

func (g *guided) arrayLike(o map[string]any, depth int) string {
	var items []string
	prefix, _ := o["prefixItems"].([]any)
	for _, s := range prefix {
		items = append(items, g.like(s, depth-1))
	}
	if c, ok := o["contains"]; ok && g.chance(70) {
		items = append(items, g.like(c, depth-1))
	}
	for range g.below(4) {
		items = append(items, g.like(o["items"], depth-1))
	}
	return "[" + strings.Join(items, ",") + "]"
}
