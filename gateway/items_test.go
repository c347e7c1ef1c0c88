package gateway_test

import (
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/search"
)

// TestContentBesideItems: what a source has made itself stays where the answer
// is a stream, whether that ends at once or not.
func TestContentBesideItems(t *testing.T) {
	said, picture := tenon.Content{Text: []byte("said by the source")}, tenon.Content{Type: tenon.ImageContent, Data: []byte("png"), MediaType: "image/png"}
	for _, form := range allEnvelopes {
		for name, selected := range map[string][]string{"all": nil, "selected": {"[].n"}} {
			t.Run(string(form)+" "+name, func(t *testing.T) {
				var items []string
				for range 40 {
					items = append(items, `{"n":1}`)
				}
				tool := tenon.Tool{Envelope: form, MaxResult: 100, Projection: tenon.Projection{Select: selected}, Contract: tenon.Contract{Responses: []tenon.ResponseSchema{
					{Status: "200", MediaType: "application/x-ndjson", Schema: []byte(`{"type":"array","items":{"type":"object","properties":{"n":{}}}}`)},
				}}}
				g := one(tool, answer(tenon.Response{Status: 200, MediaType: "application/x-ndjson", Items: partsOf(items...).seq(), Content: []tenon.Content{said, picture}, Meta: []byte(`{"their/own":1}`)}))
				res := call(t, g, `{}`)
				if res.IsError || res.Value == nil || !strings.HasPrefix(string(res.Meta), `{"their/own":1,`) {
					t.Fatalf("%s %s", res.Content[0].Text, res.Meta)
				}
				content := res.Content
				if selected == nil {
					if string(content[0].Text) != "said by the source" {
						t.Errorf("the text is lost: %q", content[0].Text)
					}
					content = content[1:]
				}
				if content[0].Type != tenon.ImageContent || len(content) < 2 {
					t.Errorf("%+v", content)
				}
				for _, b := range content {
					if string(b.Text) == "said by the source" {
						t.Error("the text shows what the view leaves out")
					}
				}
				if token := partialOf(t, res).ResumeToken; token == "" || call(t, g, `{"resume_token":"`+token+`"}`).Content[0].Type == tenon.ImageContent {
					t.Error("the content comes with the first part alone")
				}
			})
		}
	}
}

// TestPlacesBelowCallTool: what was changed in the arguments of a tool is told
// where it stands in those that the caller sent.
func TestPlacesBelowCallTool(t *testing.T) {
	catalog, _ := library(`{"page":7,"items":[]}`, 0, tenon.Native)
	g := gateway.New(search.Wrap(catalog), gateway.Options{})
	for args, want := range map[string]string{
		`{"tool":"list","arguments":{"page":"7"}}`:       `"coerced":[{"path":"/arguments/page",`,
		`{"tool":"list","arguments":"{\"page\":7}"}`:     `"coerced":[{"path":"/arguments",`,
		`{"tool":"list","arguments":"{\"page\":\"7\"}"}`: `{"path":"/arguments/page",`,
	} {
		if res := get(t, g, "call_tool", "", args); res.IsError || !strings.Contains(string(res.Meta), want) {
			t.Errorf("%s: %s", args, res.Meta)
		}
	}
}

// TestTokenAloneFitsWhatIsPublished: where an input schema lists resume_token, a
// call with nothing else fits it.
func TestTokenAloneFitsWhatIsPublished(t *testing.T) {
	listed := map[string]bool{}
	for input, alone := range map[string]bool{
		``: true,
		`{"type":"object","properties":{"page":{"type":"integer"}}}`:                                                true,
		`{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"]}`:                            false,
		`{"type":"object","properties":{"page":{}},"allOf":[{"required":["page"]}]}`:                                false,
		`{"type":"object","properties":{"resume_token":{"type":"integer"},"page":{}},"additionalProperties":false}`: true,
		`{"type":"object","minProperties":2}`:                                                                       false,
	} {
		for _, limit := range []int{0, 1000} {
			for _, media := range []string{"application/json", "application/x-ndjson"} {
				g := one(tenon.Tool{MaxResult: limit, Contract: tenon.Contract{Input: []byte(input), Responses: []tenon.ResponseSchema{{Status: "200", MediaType: media}}}}, answer(tenon.Response{}))
				for _, e := range g.Catalog().Tools() {
					published, _ := e.Schemas()
					name := "resume_token"
					if strings.Contains(input, name) && e.Name() != "next_part" {
						name = "tenon_resume_token"
					}
					has := strings.Contains(string(published), `"`+name+`"`)
					if want := e.Name() == "next_part" || limit == 0 && media == "application/x-ndjson" && alone; has != want {
						t.Errorf("%s of %s, %s, limit %d: the token is listed: %v", published, e.Name(), media, limit, has)
					}
					if !has {
						continue
					}
					listed[e.Name()] = true
					s, err := schema.Compile(published, schema.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if v := s.Validate([]byte(`{"` + name + `":"abc.2"}`)); v != nil {
						t.Errorf("%s: %v", published, v)
					}
				}
			}
		}
	}
	if len(listed) != 2 {
		t.Errorf("listed by %v", listed)
	}
}
