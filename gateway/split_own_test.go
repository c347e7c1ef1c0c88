package gateway_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
)

// TestTextsOfASourceComeInParts: texts that a source made itself, above the
// limit together, are handed out whole or in pieces, and pictures beside them
// once.
func TestTextsOfASourceComeInParts(t *testing.T) {
	picture := tenon.Content{Type: tenon.ImageContent, Data: []byte("png"), MediaType: "image/png"}
	for name, texts := range map[string][]string{
		"one":     {strings.Repeat("a line of words, \u00e9 \"\U0001f600\" \\\n", 300)},
		"several": {"first", strings.Repeat("x", 3000), "", strings.Repeat("\u00e9\n", 900), "last"},
	} {
		for _, form := range allEnvelopes {
			t.Run(name+", "+string(form), func(t *testing.T) {
				const limit = 1000
				blocks := []tenon.Content{picture}
				for _, text := range texts {
					blocks = append(blocks, tenon.Content{Text: []byte(text)})
				}
				g := one(tenon.Tool{Envelope: form, MaxResult: limit}, answer(tenon.Response{Content: blocks, Meta: []byte(`{"their/own":1}`)}))
				_, output := g.Catalog().Find("get_book").Schemas()
				var got []string
				res := call(t, g, `{}`)
				for number := 1; ; number++ {
					p := partialOf(t, res)
					if res.IsError || p.Part != number || res.Value != nil {
						t.Fatalf("part %d: %v %s %q %s", number, res.IsError, res.Content[0].Text, res.Value, res.Meta)
					}
					if output != nil {
						keepsPublished(t, output, res)
					}
					content := res.Content
					if number == 1 {
						if content[0].Type != tenon.ImageContent || !strings.HasPrefix(string(res.Meta), `{"their/own":1,`) {
							t.Errorf("the picture, or what the source says beside it, is lost: %+v %s", content[0], res.Meta)
						}
						content = content[1:]
					}
					size := 0
					for i, b := range content[:len(content)-1] {
						if size += len(b.Text); i == 0 && len(p.Continued) > 0 {
							got[len(got)-1] += string(b.Text)
						} else {
							got = append(got, string(b.Text))
						}
					}
					if size > limit {
						t.Errorf("part %d has %d bytes", number, size)
					}
					words := string(content[len(content)-1].Text)
					if p.ResumeToken == "" {
						if number < 3 || !strings.Contains(words, "the last one") {
							t.Errorf("%d parts: %s", number, words)
						}
						break
					}
					if !strings.Contains(words, p.ResumeToken) {
						t.Errorf("nothing says how to go on: %s", words)
					}
					res = call(t, g, `{"resume_token":"`+p.ResumeToken+`"}`)
				}
				if strings.Join(got, "|") != strings.Join(texts, "|") {
					t.Errorf("%q, not %q", got, texts)
				}
			})
		}
	}
}

var partSchemas = []string{
	`{}`,
	`{"type":"object"}`,
	`{"type":"object","required":["id","rows"],"properties":{"id":{"type":"integer"},"rows":{"type":"array","minItems":1,"items":{"type":"object","required":["id"],"properties":{"tags":{"type":"array","items":{"type":"string"}}}}}}}`,
	`{"type":"object","additionalProperties":{"oneOf":[{"type":"object","required":["kind"],"properties":{"kind":{"const":"a"}}},{"type":"object","required":["kind","rows"],"properties":{"kind":{"const":"b"}}},{"type":["array","string","number","boolean","null"]}]}}`,
	`{"type":["object","array","string","number","boolean","null"],"items":{"$ref":"#"},"additionalProperties":{"$ref":"#"}}`,
	`{"anyOf":[{"type":"object","minProperties":1,"properties":{"text":{"type":"string","minLength":3}}},{"type":"array","uniqueItems":true},true]}`,
	`{"type":"object","properties":{"rows":{"type":"array","contains":{"type":"object"}}},"dependentRequired":{"a":["id"]}}`,
}

// drawAnswer draws a value of some size.
func drawAnswer(t *rapid.T, depth int) string {
	kind := rapid.SampledFrom([]string{"object", "object", "array", "text", "number"}).Draw(t, "kind")
	if depth == 0 && kind != "text" {
		kind = "number"
	}
	n := rapid.IntRange(1, 9).Draw(t, "n")
	var all []string
	switch kind {
	case "object":
		for _, name := range []string{"id", "kind", "rows", "tags", "text", "a", "b"} {
			switch {
			case name == "id":
				all = append(all, `"id":7`)
			case name == "kind":
				all = append(all, `"kind":"`+rapid.SampledFrom([]string{"a", "b"}).Draw(t, "of")+`"`)
			case rapid.Bool().Draw(t, name):
				all = append(all, `"`+name+`":`+drawAnswer(t, depth-1))
			}
		}
		return "{" + strings.Join(all, ",") + "}"
	case "array":
		for range n {
			all = append(all, drawAnswer(t, depth-1))
		}
		return "[" + strings.Join(all, ",") + "]"
	case "text":
		return `"` + strings.Repeat(`a word\n`, n*n*n/3) + `"`
	}
	return []string{"1", "true", "null", "2.50"}[n%4]
}

// TestEveryPartIsWithinTheLimit states of any value under any of some schemas,
// in every envelope: each part fits what is published, what is sent of it is within
// the limit or it is an error that says so, and the parts make the value.
func TestEveryPartIsWithinTheLimit(t *testing.T) {
	whole, errors, cut := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		body := drawAnswer(t, 4)
		limit := rapid.IntRange(400, 3000).Draw(t, "limit")
		doc := rapid.SampledFrom(partSchemas).Draw(t, "schema")
		g := one(tenon.Tool{
			Envelope: rapid.SampledFrom(allEnvelopes).Draw(t, "envelope"), MaxResult: limit,
			Policy:   rapid.SampledFrom([]tenon.Policy{tenon.Enforce, tenon.Warn}).Draw(t, "policy"),
			Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(doc)}}},
		}, answer(jsonResponse(200, body)))
		_, output := g.Catalog().Find("get_book").Schemas()
		published, err := schema.Compile(output, schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var parts []*tenon.Result
		for args := `{}`; ; {
			res := get(t, g, "get_book", "", args)
			if res.IsError && res.Code == tenon.CodeContract {
				t.Skip("it is refused")
			}
			if res.IsError {
				if errors++; len(parts) == 0 && len(body) < limit/8 {
					t.Fatalf("%s: %s", body, res.Message)
				}
				return
			}
			if v := published.Validate(res.Structured); len(v) > 0 {
				t.Fatalf("%s under %s: part %d: %v: %s", body, doc, len(parts)+1, v, res.Structured)
			}
			parts = append(parts, res)
			sent, p := len(res.Value), partialOf(t, res)
			for i, b := range res.Content {
				if p.Parts == 0 || i < len(res.Content)-1 || len(res.Content) == 1 {
					sent += len(b.Text)
				}
			}
			if around := len(res.Structured) - len(res.Value) + 400; sent > limit+around {
				t.Fatalf("%s under %s: %d bytes are sent of part %d, %d are allowed", body, doc, sent, len(parts), limit)
			}
			if p.ResumeToken == "" {
				break
			}
			args = `{"resume_token":"` + p.ResumeToken + `"}`
		}
		if whole++; len(parts) > 1 {
			cut++
		}
		if got := joined(t, parts); canonicalOf(t, got) != canonicalOf(t, []byte(body)) {
			t.Fatalf("%s under %s became %s", body, doc, got)
		}
	})
	t.Logf("%d values came whole, %d of them in parts; %d were errors", whole, cut, errors)
	if cut < 10 || errors > whole {
		t.Error("the property was hardly tried")
	}
}
