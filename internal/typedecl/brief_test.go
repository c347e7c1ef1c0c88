package typedecl_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/typedecl"
)

// nested writes schemas whose members all have names of their own.
type nested struct {
	t     *rapid.T
	names []string
}

func (s *nested) pick(of ...string) string { return rapid.SampledFrom(of).Draw(s.t, "kind") }

func (s *nested) schema(depth int) string {
	kinds := []string{"text", "number", "enum", "ref"}
	if depth > 0 {
		kinds = []string{"object", "object", "list", "map", "tuple", "either", "nullable", "both"}
	}
	switch s.pick(kinds...) {
	case "object":
		return s.object(depth, "")
	case "list":
		return `{"type":"array","items":` + s.schema(depth-1) + `}`
	case "map":
		return `{"type":"object","additionalProperties":` + s.schema(depth-1) + `}`
	case "tuple":
		return `{"type":"array","prefixItems":[` + s.schema(depth-1) + `,` + s.schema(depth-1) + `],"items":` + s.schema(0) + `}`
	case "either":
		return `{"anyOf":[` + s.object(depth, "") + `,` + s.object(depth, "") + `,{"type":"string"}]}`
	case "nullable":
		return `{"anyOf":[` + s.schema(depth-1) + `,{"type":"null"}]}`
	case "both":
		return `{"allOf":[` + s.object(depth, "") + `,` + s.object(depth, "") + `]}`
	case "enum":
		return `{"enum":["a","` + strings.Repeat("long", 12) + `",7,null]}`
	case "ref":
		return `{"$ref":"#/$defs/` + s.pick("one", "two") + `"}`
	case "number":
		return `{"type":"number"}`
	default:
		return `{"type":"string","description":"What it is."}`
	}
}

func (s *nested) object(depth int, more string) string {
	var props []string
	for range rapid.IntRange(1, 6).Draw(s.t, "members") {
		name := s.pick("m", "a.b", "with space", "-") + fmt.Sprint(len(s.names)) + "x"
		s.names = append(s.names, name)
		props = append(props, fmt.Sprintf("%q:%s", name, s.schema(depth-1)))
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") + `}` + more + `}`
}

// TestBriefLeavesNothingOut: whatever a tool is and however small the budget, what a
// description leaves out can be asked for by the names that it has, again and again, until
// every member was shown.
func TestBriefLeavesNothingOut(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := &nested{t: r}
		defs := `,"$defs":{"one":` + s.object(2, "") + `,"two":` + s.object(1, "") + `}`
		set := typedecl.NewSet(false)
		input := s.object(3, defs)
		set.Add(typedecl.Tool{Name: "get", Description: "Gets.", Input: []byte(input), Data: []byte(`{"type":"array","items":` + s.object(2, "") + `}`)})
		budget := rapid.IntRange(60, 400).Draw(r, "budget")
		queue, asked := []string{"get"}, map[string]bool{}
		var all strings.Builder
		for len(queue) > 0 {
			name := queue[0]
			if queue = queue[1:]; asked[name] {
				continue
			}
			asked[name] = true
			b := set.Brief(budget, name)
			parses(t, []byte(b.Text))
			if most := 4*budget + 40*len(b.Left) + 600; len(b.Text) > most {
				r.Fatalf("%d bytes in a budget of %d tokens:\n%s", len(b.Text), budget, b.Text)
			}
			if len(b.Unknown) > 0 || name != "get" && !strings.HasPrefix(b.Text, "type ") {
				r.Fatalf("%s cannot be asked for: %+v\n%s", name, b, input)
			}
			for _, left := range b.Left {
				if last := left[strings.LastIndexByte(left, '.')+1:]; !strings.Contains(b.Text, last) && !strings.Contains(b.Text, " …\n") {
					r.Fatalf("%s is left out of %s without a word:\n%s", left, name, b.Text)
				}
			}
			queue = append(queue, b.Left...)
			for line := range strings.Lines(b.Text) {
				if !strings.HasPrefix(strings.TrimSpace(line), "// ") {
					all.WriteString(line)
				}
			}
		}
		for _, name := range s.names {
			shown := strings.Contains(all.String(), " "+name) || strings.Contains(all.String(), fmt.Sprintf("%q", name))
			for path := range asked {
				shown = shown || strings.HasSuffix(path, "."+name)
			}
			if !shown && !strings.Contains(defs, fmt.Sprintf("%q", name)) { // perhaps nothing refers to those
				r.Fatalf("%s is nowhere in\n%s\n%s", name, all.String(), input)
			}
		}
	})
}
