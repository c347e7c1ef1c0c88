package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

const librarySchema = `{"type":"object","properties":{"page":{"type":"integer"},"items":{"type":"array","items":{"type":"object",` +
	`"properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"]}}},"required":["page","items"],"additionalProperties":false}`

// wholeNotes is the same with notes that cannot be cut: each piece would have to
// match the pattern.
var wholeNotes = strings.Replace(librarySchema, `{"type":"string"}`, `{"type":"string","pattern":"x"}`, 1)

// library is a catalog with one large answer, and counts the calls of its handler.
func library(body string, limit int, env tenon.Envelope) (c *gateway.Catalog, called *int) {
	return libraryOf(librarySchema, body, limit, env)
}

func libraryOf(schema, body string, limit int, env tenon.Envelope) (c *gateway.Catalog, called *int) {
	called = new(int)
	tool := tenon.Tool{
		Name: "list", Envelope: env, MaxResult: limit,
		Contract: tenon.Contract{
			Input:     []byte(`{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"],"additionalProperties":false}`),
			Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(schema)}},
		},
		Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			*called++
			return jsonResponse(200, body), nil
		},
	}
	return gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), called
}

func libraryBody(items int, note string) string {
	var b strings.Builder
	b.WriteString(`{"page":7,"items":[`)
	for i := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"id":%d,"note":%s}`, i, rawjson.AppendString(nil, note))
	}
	return b.String() + "]}"
}

type partial struct {
	Part, Parts, Returned, Total int
	Pointer                      string
	Pointers, Continued          []string
	ResumeToken                  string `json:"resume_token"`
}

func partialOf(t interface{ Fatal(...any) }, res *tenon.Result) partial {
	var meta struct {
		Partial partial `json:"tenon/partial"`
	}
	if err := json.Unmarshal(res.Meta, &meta); res.Meta != nil && err != nil {
		t.Fatal(err)
	}
	return meta.Partial
}

// joined puts the values of some results together.
func joined(t interface{ Fatal(...any) }, parts []*tenon.Result) []byte {
	if len(parts) == 1 && partialOf(t, parts[0]).Parts == 0 {
		return parts[0].Value
	}
	var all []gateway.AnswerPart
	for _, res := range parts {
		p := partialOf(t, res)
		part := gateway.AnswerPart{Value: res.Value, Cuts: p.Pointers, Continued: p.Continued}
		if part.Cuts == nil {
			part.Cuts = []string{p.Pointer}
		}
		all = append(all, part)
	}
	whole, err := gateway.JoinParts(all...)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func get(t interface{ Fatal(...any) }, g *gateway.Gateway, tool string, subject tenon.Subject, args string) *tenon.Result {
	res, err := g.Call(context.Background(), &tenon.Call{Tool: tool, Args: []byte(args), Subject: subject})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestNextPartStandsBack for a tool of that name: the words of a part name the
// tool that has the rest, whatever it is called.
func TestNextPartStandsBack(t *testing.T) {
	for next, names := range map[string][]string{
		"next_part":         {"list"},
		"tenon_next_part":   {"list", "next_part"},
		"tenon_next_part_2": {"list", "tenon_next_part", "next_part"},
	} {
		var tools []tenon.Tool
		for _, name := range names {
			tools = append(tools, tenon.Tool{Name: name, Envelope: tenon.FlowMCP, MaxResult: 200, Handler: answer(jsonResponse(200, libraryBody(20, name)))})
		}
		g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{}), gateway.Options{})
		res := get(t, g, "list", "ann", `{}`)
		words := string(res.Content[len(res.Content)-1].Text)
		if want := "For the next one call " + next + " with "; !strings.Contains(words, want) {
			t.Errorf("%q, want %q", words, want)
		}
		token := `{"resume_token":"` + partialOf(t, res).ResumeToken + `"}`
		for _, other := range names[1:] {
			if res = get(t, g, other, "ann", token); !res.IsError || res.Code != tenon.CodeValidation {
				t.Errorf("%s hands out what list began: %s", other, res.Content[0].Text)
			}
		}
		if res = get(t, g, next, "ann", token); partialOf(t, res).Part != 2 {
			t.Errorf("%s: %s", next, res.Content[0].Text)
		}
	}
}

// TestPartsBecomeSmallEnough: a part that is too large only with its text copy is
// divided again, however far below the target it is.
func TestPartsBecomeSmallEnough(t *testing.T) {
	body := libraryBody(45, "ט`AȺ*ᵬ3{Ⱥ\ue003𑒑@~ⅲD\x1ed\u202e𝝥\x7f")
	for limit := 480; limit < 560; limit++ {
		catalog, _ := library(body, limit, tenon.Native)
		g := gateway.New(catalog, gateway.Options{})
		res := get(t, g, "list", "ann", `{"page":7}`)
		for n := 1; ; n++ {
			if res.IsError {
				t.Fatalf("limit %d, part %d: %s", limit, n, res.Content[0].Text)
			}
			token := partialOf(t, res).ResumeToken
			if token == "" {
				break
			}
			res = get(t, g, "next_part", "ann", `{"resume_token":"`+token+`"}`)
		}
	}
}

// TestPartsFitAndMakeTheWhole states: every part fits the schema that was
// published, the parts make the value that came, the upstream is called once.
func TestPartsFitAndMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env := rapid.SampledFrom([]tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP}).Draw(t, "envelope")
		items := rapid.IntRange(0, 60).Draw(t, "items")
		body := libraryBody(items, rapid.StringN(0, 20, 40).Draw(t, "note"))
		limit := rapid.IntRange(500, 4000).Draw(t, "limit")
		catalog, called := library(body, limit, env)
		g := gateway.New(catalog, gateway.Options{})
		_, output := catalog.Find("list").Schemas()
		published, err := schema.Compile(output, schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var parts []*tenon.Result
		tool, args := "list", `{"page":7}`
		for {
			res := get(t, g, tool, "ann", args)
			if res.IsError {
				t.Fatalf("part %d: %s", len(parts)+1, res.Content[0].Text)
			}
			if v := published.Validate(res.Structured); len(v) > 0 {
				t.Fatalf("part %d: %v: %s", len(parts)+1, v, res.Structured)
			}
			parts = append(parts, res)
			p := partialOf(t, res)
			if p.Parts > 0 && p.Part != len(parts) {
				t.Fatalf("part %d says %d", len(parts), p.Part)
			}
			if p.ResumeToken == "" {
				break
			}
			if inStructure := strings.Contains(string(res.Structured), p.ResumeToken); inStructure != (env == tenon.OpenAPIMCP) {
				t.Fatalf("the structure holds the token: %v", inStructure)
			}
			tool = rapid.SampledFrom([]string{"list", "next_part"}).Draw(t, "tool")
			args = `{"resume_token":"` + p.ResumeToken + `"}`
			if tool == "list" && rapid.Bool().Draw(t, "with arguments") {
				args = `{"page":7,"resume_token":"` + p.ResumeToken + `"}`
			}
		}
		whole := joined(t, parts)
		if got, want := canonicalOf(t, whole), canonicalOf(t, []byte(body)); got != want || *called != 1 {
			t.Fatalf("called %d times; the parts make %s, not %s", *called, got, want)
		}
	})
}

func canonicalOf(t interface{ Fatal(...any) }, value []byte) string {
	b, err := rawjson.AppendCanonical(nil, value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTokensAreBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := memstore.New(memstore.Options{})
		defer state.Close()
		catalog, called := library(libraryBody(100, "n"), 1000, tenon.OpenAPIMCP)
		g := gateway.New(catalog, gateway.Options{Store: state})
		token := partialOf(t, get(t, g, "list", "ann", `{"page":7}`)).ResumeToken
		refused := func(about, tool string, subject tenon.Subject, args string) {
			t.Helper()
			res := get(t, g, tool, subject, args)
			if !res.IsError || res.Code != tenon.CodeValidation || verdictOf(t, res).Executed != "no" || !strings.Contains(res.Message, "executed") && !strings.Contains(res.Message, "Invalid") {
				t.Errorf("%s: %s", about, res.Content[0].Text)
			}
		}
		refused("a token of somebody else", "list", "bob", `{"resume_token":"`+token+`"}`)
		refused("somebody else's by the other tool", "next_part", "bob", `{"resume_token":"`+token+`"}`)
		refused("other arguments", "list", "ann", `{"page":8,"resume_token":"`+token+`"}`)
		refused("no token at all", "next_part", "ann", `{}`)
		for _, wrong := range []string{"x", token + "1", token[:len(token)-1] + "0", token[:len(token)-2], ".2", "7"} {
			refused("a token that nobody gave: "+wrong, "next_part", "ann", `{"resume_token":"`+wrong+`"}`)
		}
		empty, _ := library(`{"page":1,"items":[]}`, 1000, tenon.Native)
		g.Swap(empty)
		for range 2 { // the same part as often as it is asked for, in the envelope in which it began
			if res := get(t, g, "next_part", "ann", `{"resume_token":"`+token+`"}`); res.IsError || !strings.Contains(string(res.Structured), `"type":"api_response"`) {
				t.Errorf("after a reload: %s", res.Content[0].Text)
			}
		}
		time.Sleep(11 * time.Minute)
		refused("too late", "next_part", "ann", `{"resume_token":"`+token+`"}`)
		if *called != 1 {
			t.Errorf("the upstream was called %d times", *called)
		}
	})
}

// What cannot be handed out within the limit is an error that says so, and
// that says what was executed.
func TestWhatCannotBeCutIsAnError(t *testing.T) {
	long := `{"page":1,"items":[{"id":1,"note":"` + strings.Repeat("x", 500) + `"}]}`
	tests := map[string]struct {
		body  string
		limit int
		state tenon.Store
		says  string // empty: it is delivered whole
	}{
		"within the limit":      {long, 10_000, nil, ""},
		"no limit":              {long, 0, nil, ""},
		"negative":              {long, -1, nil, ""},
		"one item":              {long, 100, nil, "cannot be split"},
		"the text copy counts":  {long, len(long) + 10, nil, "cannot be split"},
		"no room to keep parts": {libraryBody(100, "x"), 1000, memstore.New(memstore.Options{MaxBytes: 10}), "store is full"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			catalog, _ := libraryOf(wholeNotes, tt.body, tt.limit, tenon.Native)
			res := get(t, gateway.New(catalog, gateway.Options{Store: tt.state}), "list", "", `{"page":1}`)
			switch {
			case tt.says == "" && (res.IsError || canonicalOf(t, res.Value) != canonicalOf(t, []byte(tt.body))):
				t.Errorf("%s", res.Content[0].Text)
			case tt.says != "" && (!res.IsError || res.Code != tenon.CodeRequest || !strings.Contains(res.Message, tt.says) || verdictOf(t, res).Executed != "yes" || verdictOf(t, res).Status != 200):
				t.Errorf("%s %s", res.Message, res.Meta)
			}
		})
	}
}

// A part that is one item above the limit is an error, and the others can be
// had anyway.
func TestAnItemAboveTheLimitCostsItsPart(t *testing.T) {
	for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
		body := `{"page":7,"items":[{"id":1},{"id":2,"note":"` + strings.Repeat("x", 1000) + `"},{"id":3}]}`
		catalog, _ := libraryOf(wholeNotes, body, 500, env)
		g := gateway.New(catalog, gateway.Options{})
		res := get(t, g, "list", "ann", `{"page":7}`)
		for i, failed := range []bool{false, true, false} {
			p := partialOf(t, res)
			if res.IsError != failed || p.Part != i+1 || p.Parts != 3 || failed && !strings.Contains(res.Message, p.ResumeToken) {
				t.Errorf("%s, part %d: %s %s", env, i+1, res.Content[0].Text, res.Meta)
			}
			if i < 2 {
				res = get(t, g, "next_part", "ann", `{"resume_token":"`+p.ResumeToken+`"}`)
			}
		}
	}
}

// TestAllOfAnAnswerIsBounded: lists, texts, texts in objects, and content of
// the source's own, in every envelope: what is sent of a value stays within the
// limit, each part fits, and the parts are the whole; or it is an error.
func TestAllOfAnAnswerIsBounded(t *testing.T) {
	text := strings.Repeat("a line of words, \u00e9 \"\U0001f600\" \\ and more\n", 200)
	quoted := string(rawjson.AppendString(nil, text))
	open := func(media, body string, blocks ...tenon.Content) tenon.Response {
		return tenon.Response{Status: 200, MediaType: media, Body: []byte(body), Content: blocks}
	}
	picture := tenon.Content{Type: tenon.ImageContent, Data: []byte("png"), MediaType: "image/png"}
	said := tenon.Content{Text: []byte("said by the source")}
	tests := map[string]struct {
		resp  tenon.Response
		whole string // what the parts make; empty: an error
	}{
		"a list":                  {open("application/json", libraryBody(50, "n")), libraryBody(50, "n")},
		"a text":                  {open("text/plain", text), quoted},
		"a text in an object":     {open("application/json", `{"a":{"b":1,"text":`+quoted+`},"z":[]}`), `{"a":{"b":1,"text":` + quoted + `},"z":[]}`},
		"escapes that make pairs": {open("application/json", `{"t":"`+strings.Repeat(`\ud83d\ude00`, 300)+`"}`), `{"t":"` + strings.Repeat(`\ud83d\ude00`, 300) + `"}`},
		"a list beside a picture": {open("application/json", libraryBody(50, "n"), picture, said), libraryBody(50, "n")},
		"a text in an item":       {open("application/json", `{"l":[{"t":`+quoted+`}]}`), `{"l":[{"t":` + quoted + `}]}`},
		"a text beside a value":   {open("application/json", `{"l":[]}`, tenon.Content{Text: []byte(text)}), ""},
	}
	for name, tt := range tests {
		for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			t.Run(name+", "+string(env), func(t *testing.T) {
				const limit = 1000
				g := one(tenon.Tool{Envelope: env, MaxResult: limit, Contract: tenon.Contract{Responses: []tenon.ResponseSchema{
					{Status: "200", MediaType: "application/json", Schema: []byte(`{"type":"object"}`)}, {Status: "200", MediaType: "text/plain"},
				}}}, answer(tt.resp))
				_, output := g.Catalog().Find("get_book").Schemas()
				res := call(t, g, `{}`)
				if tt.whole == "" {
					if !res.IsError || len(res.Content[0].Text) > limit {
						t.Errorf("%d bytes: %.200s", len(res.Content[0].Text), res.Content[0].Text)
					}
					return
				}
				var parts []*tenon.Result
				for {
					keepsPublished(t, output, res)
					texts, p := 0, partialOf(t, res)
					for _, b := range res.Content {
						texts += len(b.Text)
					}
					if res.IsError || len(res.Structured)+texts > limit+600 { // what stands around a value
						t.Fatalf("%d bytes: %s", len(res.Structured)+texts, res.Content[0].Text)
					}
					if want := len(tt.resp.Content) > 0; (res.Content[0].Type == tenon.ImageContent) != (want && p.Part == 1) {
						t.Errorf("the content of part %d: %+v", p.Part, res.Content)
					}
					parts = append(parts, res)
					if p.ResumeToken == "" {
						break
					}
					if !strings.Contains(string(res.Structured)+string(res.Content[len(res.Content)-1].Text), p.ResumeToken) {
						t.Errorf("nothing says how to go on: %+v", res.Content)
					}
					res = call(t, g, `{"resume_token":"`+p.ResumeToken+`"}`)
				}
				if got := joined(t, parts); len(parts) < 2 || canonicalOf(t, got) != canonicalOf(t, []byte(tt.whole)) {
					t.Errorf("%d parts make %.300s", len(parts), got)
				}
			})
		}
	}
}

// FuzzPieces: the parts of a text are texts, and make the text.
func FuzzPieces(f *testing.F) {
	f.Add("a\nb\\\"\u00e9\U0001f600\u2028", 100)
	f.Add(strings.Repeat("\x01\n", 100), 77)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if len(text) > 4000 {
			return
		}
		value := rawjson.AppendString(nil, text)
		g := one(tenon.Tool{MaxResult: 40 + max(0, limit)%1000}, answer(tenon.Response{Status: 200, MediaType: "application/json", Body: value}))
		var got strings.Builder
		for res := call(t, g, `{}`); ; {
			var part string
			if err := json.Unmarshal(res.Value, &part); res.IsError || err != nil {
				t.Fatalf("%v: %s", err, res.Content[0].Text)
			}
			got.WriteString(part)
			token := partialOf(t, res).ResumeToken
			if token == "" {
				break
			}
			res = call(t, g, `{"resume_token":"`+token+`"}`)
		}
		var want string
		if err := json.Unmarshal(value, &want); err != nil || got.String() != want {
			t.Errorf("%q, not %q", got.String(), want)
		}
	})
}

// TestCutAllocatesLittle: 10 MB are kept and cut without a second copy.
func TestCutAllocatesLittle(t *testing.T) {
	body := libraryBody(10_000, strings.Repeat("n", 1000))
	catalog, _ := library(body, 100<<10, tenon.OpenAPIMCP)
	g := gateway.New(catalog, gateway.Options{})
	get(t, g, "list", "", `{"page":1}`) // schemas are compiled once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := get(t, g, "list", "", `{"page":1}`)
	runtime.ReadMemStats(&after)
	allocated := int(after.TotalAlloc-before.TotalAlloc) - len(body) // jsonResponse makes one copy, as an upstream would
	t.Logf("%d bytes, cut into %d parts: %d bytes allocated", len(body), partialOf(t, res).Parts, allocated)
	if allocated > 2*len(body) {
		t.Errorf("%d bytes allocated for a value of %d", allocated, len(body))
	}
}

// Answers that go on in several places, or are maps: every part fits what was
// published, is below the limit, and all make the value that came.
func TestLargeAnswersOfEveryForm(t *testing.T) {
	rows := func(n int) string { return strings.TrimSuffix(strings.Repeat(`{"id":1,"note":"some words"},`, n), ",") }
	members := func(n int, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%s,`, i, value)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	const numbers = `{"type":"object","additionalProperties":{"type":"object","properties":{"rows":{"type":"array"}},"required":["rows"]}}`
	for name, test := range map[string]struct {
		schema, body string
	}{
		"a map":                 {numbers, `{` + members(300, `{"rows":[]}`) + `}`},
		"a map with a list":     {numbers, `{` + members(30, `{"rows":[1]}`) + `,"big":{"rows":[` + rows(100) + `]}}`},
		"a map in an object":    {`{"type":"object","required":["m","n"],"properties":{"m":` + numbers + `}}`, `{"n":1,"m":{` + members(300, `{"rows":[]}`) + `}}`},
		"two lists":             {`{"type":"object","required":["a","b"]}`, `{"a":[` + rows(100) + `],"b":[` + rows(80) + `]}`},
		"a list beside a text":  {`{"type":"object","required":["a","b"]}`, `{"a":[` + rows(1000) + `],"b":"` + strings.Repeat("x", 3000) + `"}`},
		"members that are many": {`{"type":"object"}`, `{` + members(200, `[1,2,3]`) + `}`},
	} {
		for _, form := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			t.Run(name+" "+string(form), func(t *testing.T) {
				const limit = 1000
				c := gateway.Build([]gateway.Mount{{Name: "a", Features: tenon.Features{Tools: []tenon.Tool{{
					Name: "get", Envelope: form, Policy: tenon.Enforce, MaxResult: limit,
					Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(test.schema)}}},
					Handler:  func(context.Context, *tenon.Call) (tenon.Response, error) { return jsonResponse(200, test.body), nil },
				}}}}}, gateway.BuildOptions{})
				g := gateway.New(c, gateway.Options{})
				_, output := c.Find("get").Schemas()
				var parts []*tenon.Result
				args := `{}`
				for {
					res := get(t, g, "get", "ann", args)
					keepsPublished(t, output, res)
					parts = append(parts, res)
					p := partialOf(t, res)
					if res.IsError || len(res.Value) > limit {
						t.Fatalf("part %d has %d bytes", len(parts), len(res.Value))
					}
					if p.ResumeToken == "" {
						break
					}
					args = `{"resume_token":"` + p.ResumeToken + `"}`
				}
				if whole := joined(t, parts); len(parts) < 2 || canonicalOf(t, whole) != canonicalOf(t, []byte(test.body)) {
					t.Errorf("%d parts make %.300s", len(parts), whole)
				}
			})
		}
	}
}
