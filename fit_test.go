package tenon_test

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
	"github.com/tenon-mcp/tenon/internal/memory"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

const shelfSchema = `{"type":"object","properties":{"page":{"type":"integer"},"items":{"type":"array","items":{"type":"object",` +
	`"properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"]}}},"required":["page","items"],"additionalProperties":false}`

// shelf is a catalog with one large answer, and counts the calls of its handler.
func shelf(body string, limit int, shape tenon.Shape) (c *tenon.Catalog, called *int) {
	called = new(int)
	tool := tenon.Tool{
		Name: "list", Shape: shape, MaxResult: limit,
		Promise: tenon.Contract{
			Input:   []byte(`{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"],"additionalProperties":false}`),
			Answers: []tenon.Variant{{Status: "200", Media: "application/json", Schema: []byte(shelfSchema)}},
		},
		Handler: func(context.Context, *tenon.Call) (tenon.Reply, error) {
			*called++
			return jsonReply(200, body), nil
		},
	}
	return tenon.Build([]tenon.Named{{Name: "shop", Offer: tenon.Offer{Tools: []tenon.Tool{tool}}}}, tenon.BuildOptions{}), called
}

func shelfBody(items int, note string) string {
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
	Cut                          string
	Cuts                         []string
	ResumeToken                  string
	Over                         bool
}

// cuts are all places that are cut.
func (p partial) cuts() []string {
	if len(p.Cuts) > 0 {
		return p.Cuts
	}
	return []string{p.Cut}
}

func partialOf(t interface{ Fatal(...any) }, res *tenon.Result) (p partial) {
	var meta struct {
		Partial struct {
			Part, Parts, Returned, Total int
			Cut                          string
			Cuts                         []string
			ResumeToken                  string `json:"resume_token"`
			Over                         bool
		} `json:"tenon/partial"`
	}
	if err := json.Unmarshal(res.Meta, &meta); res.Meta != nil && err != nil {
		t.Fatal(err)
	}
	return partial(meta.Partial)
}

func get(t interface{ Fatal(...any) }, g *tenon.Gateway, tool string, subject tenon.Subject, args string) *tenon.Result {
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
			tools = append(tools, tenon.Tool{Name: name, Shape: tenon.FlowMCP, MaxResult: 200, Handler: answer(jsonReply(200, shelfBody(20, name)))})
		}
		g := tenon.NewGateway(tenon.Build([]tenon.Named{{Offer: tenon.Offer{Tools: tools}}}, tenon.BuildOptions{}), tenon.GatewayOptions{})
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

// TestPartsFitAndMakeTheWhole states: every part fits the schema that was
// published, the parts make the value that came, the upstream is called once.
func TestPartsFitAndMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom([]tenon.Shape{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP}).Draw(t, "shape")
		items := rapid.IntRange(0, 60).Draw(t, "items")
		body := shelfBody(items, rapid.StringN(0, 20, 40).Draw(t, "note"))
		limit := rapid.IntRange(60, 2000).Draw(t, "limit")
		catalog, called := shelf(body, limit, shape)
		g := tenon.NewGateway(catalog, tenon.GatewayOptions{})
		_, output := catalog.Find("list").Schemas()
		published, err := schema.Compile(output, schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var parts [][]byte
		tool, args, at := "list", `{"page":7}`, []string(nil)
		for {
			res := get(t, g, tool, "ann", args)
			if res.IsError {
				t.Fatalf("part %d: %s", len(parts)+1, res.Content[0].Text)
			}
			if v := published.Validate(res.Structured); len(v) > 0 {
				t.Fatalf("part %d: %v: %s", len(parts)+1, v, res.Structured)
			}
			parts = append(parts, res.Value)
			p := partialOf(t, res)
			if p.Parts > 0 {
				at = p.cuts()
			}
			if p.Parts > 0 && p.Part != len(parts) {
				t.Fatalf("part %d says %d", len(parts), p.Part)
			}
			if p.ResumeToken == "" {
				break
			}
			if inStructure := strings.Contains(string(res.Structured), p.ResumeToken); inStructure != (shape == tenon.OpenAPIMCP) {
				t.Fatalf("the structure holds the token: %v", inStructure)
			}
			tool = rapid.SampledFrom([]string{"list", "next_part"}).Draw(t, "tool")
			args = `{"resume_token":"` + p.ResumeToken + `"}`
			if tool == "list" && rapid.Bool().Draw(t, "with arguments") {
				args = `{"page":7,"resume_token":"` + p.ResumeToken + `"}`
			}
		}
		whole := parts[0]
		if len(parts) > 1 {
			if whole, err = schema.Join(at, parts...); err != nil {
				t.Fatal(err)
			}
		}
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
		state := memory.New(memory.Options{})
		defer state.Close()
		catalog, called := shelf(shelfBody(100, "n"), 1000, tenon.OpenAPIMCP)
		g := tenon.NewGateway(catalog, tenon.GatewayOptions{State: state})
		token := partialOf(t, get(t, g, "list", "ann", `{"page":7}`)).ResumeToken
		refused := func(about, tool string, subject tenon.Subject, args string) {
			t.Helper()
			res := get(t, g, tool, subject, args)
			if !res.IsError || res.Code != tenon.CodeValidation || verdictOf(t, res).Executed != "no" || !strings.Contains(res.About, "executed") && !strings.Contains(res.About, "Invalid") {
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
		empty, _ := shelf(`{"page":1,"items":[]}`, 1000, tenon.Native)
		g.Swap(empty)
		for range 2 { // the same part as often as it is asked for, in the shape in which it began
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

func TestWhatIsNotCutIsDeliveredWhole(t *testing.T) {
	long := `{"page":1,"items":[{"id":1,"note":"` + strings.Repeat("x", 500) + `"}]}`
	tests := map[string]struct {
		body  string
		limit int
		state tenon.State
		over  bool
	}{
		"within the limit":      {long, 10_000, nil, false},
		"no limit":              {long, 0, nil, false},
		"one item":              {long, 100, nil, true},
		"no room to keep parts": {shelfBody(100, "n"), 1000, memory.New(memory.Options{MaxBytes: 10}), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			catalog, _ := shelf(tt.body, tt.limit, tenon.Native)
			res := get(t, tenon.NewGateway(catalog, tenon.GatewayOptions{State: tt.state}), "list", "", `{"page":1}`)
			if p := partialOf(t, res); p.Over != tt.over || p.ResumeToken != "" || canonicalOf(t, res.Value) != canonicalOf(t, []byte(tt.body)) {
				t.Errorf("%+v: %s", p, res.Meta)
			}
		})
	}
}

// TestCutAllocatesLittle: 10 MB are kept and cut without a second copy.
func TestCutAllocatesLittle(t *testing.T) {
	body := shelfBody(10_000, strings.Repeat("n", 1000))
	catalog, _ := shelf(body, 100<<10, tenon.OpenAPIMCP)
	g := tenon.NewGateway(catalog, tenon.GatewayOptions{})
	get(t, g, "list", "", `{"page":1}`) // schemas are compiled once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := get(t, g, "list", "", `{"page":1}`)
	runtime.ReadMemStats(&after)
	allocated := int(after.TotalAlloc-before.TotalAlloc) - len(body) // jsonReply makes one copy, as an upstream would
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
		over         bool
	}{
		"a map":                 {numbers, `{` + members(300, `{"rows":[]}`) + `}`, false},
		"a map with a list":     {numbers, `{` + members(30, `{"rows":[1]}`) + `,"big":{"rows":[` + rows(100) + `]}}`, false},
		"a map in an object":    {`{"type":"object","required":["m","n"],"properties":{"m":` + numbers + `}}`, `{"n":1,"m":{` + members(300, `{"rows":[]}`) + `}}`, false},
		"two lists":             {`{"type":"object","required":["a","b"]}`, `{"a":[` + rows(100) + `],"b":[` + rows(80) + `]}`, false},
		"a list beside a text":  {`{"type":"object","required":["a","b"]}`, `{"a":[` + rows(1000) + `],"b":"` + strings.Repeat("x", 3000) + `"}`, true},
		"members that are many": {`{"type":"object"}`, `{` + members(200, `[1,2,3]`) + `}`, false},
	} {
		for _, form := range []tenon.Shape{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
			t.Run(name+" "+string(form), func(t *testing.T) {
				const limit = 1000
				c := tenon.Build([]tenon.Named{{Name: "a", Offer: tenon.Offer{Tools: []tenon.Tool{{
					Name: "get", Shape: form, Policy: tenon.Enforce, MaxResult: limit,
					Promise: tenon.Contract{Answers: []tenon.Variant{{Status: "200", Media: "application/json", Schema: []byte(test.schema)}}},
					Handler: func(context.Context, *tenon.Call) (tenon.Reply, error) { return jsonReply(200, test.body), nil },
				}}}}}, tenon.BuildOptions{})
				g := tenon.NewGateway(c, tenon.GatewayOptions{})
				_, output := c.Find("get").Schemas()
				var parts [][]byte
				args, cuts := `{}`, []string(nil)
				for {
					res := get(t, g, "get", "ann", args)
					keepsPublished(t, output, res)
					parts = append(parts, res.Value)
					p := partialOf(t, res)
					cuts = p.cuts()
					if p.Over || len(res.Value) > limit && !test.over {
						t.Fatalf("part %d has %d bytes", len(parts), len(res.Value))
					}
					if p.ResumeToken == "" {
						break
					}
					args = `{"resume_token":"` + p.ResumeToken + `"}`
				}
				whole, err := tenon.JoinParts(cuts, parts...)
				if err != nil || len(parts) < 2 || canonicalOf(t, whole) != canonicalOf(t, []byte(test.body)) {
					t.Errorf("%d parts, cut at %q: %v", len(parts), cuts, err)
				}
			})
		}
	}
}

func TestLargeTextsSaySo(t *testing.T) {
	c := tenon.Build([]tenon.Named{{Name: "a", Offer: tenon.Offer{Tools: []tenon.Tool{{
		Name: "get", MaxResult: 100,
		Promise: tenon.Contract{Answers: []tenon.Variant{{Status: "200", Media: "text/plain", Schema: []byte(`{"type":"string"}`)}}},
		Handler: func(context.Context, *tenon.Call) (tenon.Reply, error) {
			return tenon.Reply{Status: 200, Media: "text/plain", Body: []byte(strings.Repeat("x", 200))}, nil
		},
	}}}}}, tenon.BuildOptions{})
	res := get(t, tenon.NewGateway(c, tenon.GatewayOptions{}), "get", "ann", `{}`)
	if p := partialOf(t, res); !p.Over {
		t.Errorf("_meta is %s", res.Meta)
	}
}
