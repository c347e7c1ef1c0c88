package docgen_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/docgen"
)

const input = `{"type":"object","properties":{"id":{"type":"integer","description":"its number","minimum":1},
"kind":{"type":["string","null"],"enum":["cat","dog|wolf",null],"default":"cat"}},"required":["id"]}`

const output = `{"type":"object","properties":{"name":{"type":"string","format":"email","example":"tom@example.com"},
"friends":{"type":"array","items":{"$ref":"#/$defs/pet"}}},"required":["name"],
"$defs":{"pet":{"type":"object","description":"A pet","properties":{"age":{"type":"number"},"friends":{"type":"array","items":{"$ref":"#/$defs/pet"}}}}}}`

func catalog(description string) *gateway.Catalog {
	yes := true
	return gateway.Build([]gateway.Mount{{Name: "pets", Features: tenon.Features{Tools: []tenon.Tool{{
		Name: "getPet", Title: "Get a pet", Description: description, Annotations: tenon.Annotations{ReadOnly: &yes},
		Contract: tenon.Contract{Input: []byte(input), Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(output)}, {Status: "404"}}},
		Handler:  func(context.Context, *tenon.Call) (tenon.Response, error) { return tenon.Response{}, nil },
	}}}}}, gateway.BuildOptions{Describe: gateway.ToggleOn})
}

func example(string) (in, out []byte, ok bool) {
	return []byte(`{"id":7,"kind":"it's"}`), []byte(`{"name":"Tom"}`), true
}

func TestMarkdown(t *testing.T) {
	m := docgen.New(catalog("Get a pet\n\nThe whole of it."), docgen.Options{Title: "Pets", Spec: "pets.yaml", Example: example})
	want := strings.ReplaceAll(`# Pets

## getPet

**Get a pet**

The whole of it.

*changes nothing*

### Arguments

| name | type | required | description |
|---|---|---|---|
| §id§ | integer | yes | its number. At least §1§. |
| §kind§ | string or null |  | One of §"cat"§, §"dog\|wolf"§, §null§. Default §"cat"§. |

### Answer 200 §application/json§

| name | type | required | description |
|---|---|---|---|
| *value* | object |  |  |
| §name§ | string (email) | yes | Example §"tom@example.com"§. |
| §friends§ | list of object |  |  |
| §friends[]§ | object |  | A pet. |
| §friends[].age§ | number |  |  |
| §friends[].friends§ | list of object |  |  |

### Answer 404

### Example

§§§sh
tenon call pets.yaml getPet '{"id":7,"kind":"it'\''s"}'
§§§

§§§json
{
  "name": "Tom"
}
§§§
`, "§", "`")
	got := string(m.Markdown())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
}

func TestHTML(t *testing.T) {
	m := docgen.New(catalog("Reads `all` of it,\nsee [the page](https://example.com/a?b=1 \"Title\") or [that](javascript:alert(1)).\n\n<script>alert(1)</script>"), docgen.Options{Example: example})
	page := m.HTML()
	for _, want := range []string{
		`<article id="getPet" data-find="getpet get a pet reads `, `<code>all</code> of it, see <a href="https://example.com/a?b=1" rel="noreferrer">the page</a>`, `[that](javascript:alert(1))`,
		`&lt;script&gt;alert(1)&lt;/script&gt;`, `id <span class="must">required</span>`, `friends[].age`, `<code>&#34;dog|wolf&#34;</code>`,
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", page)
	}
}

// TestAnyText: no description can put an element or a script into the page.
func TestAnyText(t *testing.T) {
	empty := docgen.New(catalog(""), docgen.Options{}).HTML()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"<", ">", "\"", "'", "`", "[", "](", ")", "https://", "javascript:", "script", "\n", "a"})).Draw(t, "parts")
		page := docgen.New(catalog(strings.Join(parts, "")), docgen.Options{}).HTML()
		if got, want := strings.Count(string(page), "<script"), strings.Count(string(empty), "<script"); got != want {
			t.Errorf("%d scripts", got)
		}
		if strings.Contains(string(page), `href="javascript`) {
			t.Errorf("a link runs a script: %s", page)
		}
	})
}

// The tools of a large catalog stand in groups, each on a page of its own, and
// every link leads to what is there.
func TestPages(t *testing.T) {
	var tools []tenon.Tool
	for i, group := range []string{"Pets", "Orders", "Pets", "", "pets!", "Index"} {
		tools = append(tools, tenon.Tool{
			Name: "tool" + string(rune('A'+i)), Title: "Title", Group: group, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) { return tenon.Response{}, nil },
			Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "text/csv", Example: []byte(`"a,b"`)}, {Status: "200", MediaType: "application/json", Example: []byte(`{"declared":true}`)}}},
		})
	}
	c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{})
	m := docgen.New(c, docgen.Options{Title: "Shop", About: []string{"Base URL: `https://api.test`"}, Example: example})
	for format, index := range map[string]string{"markdown": "index.md", "html": "index.html"} {
		pages := m.Pages(format)
		if len(pages) != 6 || pages[0].File != index {
			t.Fatalf("%s: %d pages", format, len(pages))
		}
		texts := map[string]string{}
		for _, p := range pages {
			texts[p.File] = string(p.Text)
		}
		if len(texts) != len(pages) {
			t.Errorf("%s: two pages have one name: %v", format, texts)
		}
		for _, tool := range tools {
			found := 0
			for file, text := range texts {
				chapter := strings.Contains(text, "## "+tool.Name+"\n") || strings.Contains(text, `<article id="`+tool.Name+`"`)
				if chapter {
					found++
					if !strings.Contains(text, "declared") || !strings.Contains(texts[index], file+"#") {
						t.Errorf("%s: the chapter in %s: %s", format, file, text)
					}
				}
			}
			if found != 1 {
				t.Errorf("%s: %d chapters of %s", format, found, tool.Name)
			}
		}
		if !strings.Contains(texts[index], "https://api.test") {
			t.Errorf("%s: the index names no base URL", format)
		}
	}
	if text := string(m.Markdown()); !strings.Contains(text, "\n## Pets\n\n### toolA\n") || strings.Index(text, "toolC") > strings.Index(text, "toolB") {
		t.Errorf("groups on one page: %s", text)
	}
}
