package gofunc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/server"
)

// wire is a result as a client gets it, without what we say of the contract.
func wire(t *testing.T, res *tenon.Result) string {
	t.Helper()
	text := server.AppendResult(nil, res)
	text = regexp.MustCompile(`"tenon/contract":\{[^}]*\},?`).ReplaceAll(text, nil)
	text = bytes.ReplaceAll(text, []byte(`,}`), []byte(`}`))
	if !json.Valid(text) {
		t.Fatalf("not JSON: %s", text)
	}
	return strings.TrimPrefix(strings.Replace(string(text), `"_meta":{},`, "", 1), "{")
}

// TestContentOfOnesOwn has what the page says of content blocks, images, audio
// and whole results: blocks alone declare nothing, an Output declares its
// value.
func TestContentOfOnesOwn(t *testing.T) {
	w := weather()
	png := tenon.Image("image/png", []byte("png"))
	weatherSchema := `{` + weatherBody + `}`
	for _, tt := range []struct {
		name         string
		f            gofunc.Function
		schema, want string
	}{
		{"a block", returns(tenon.Text("hi")), "", `"content":[{"type":"text","text":"hi"}]}`},
		{"an image", returns(png), "", `"content":[{"type":"image","mimeType":"image/png","data":"cG5n"}]}`},
		{"a sound", returns(tenon.Audio("audio/wav", []byte("wav"))), "", `"content":[{"type":"audio","mimeType":"audio/wav","data":"d2F2"}]}`},
		{
			"blocks", returns([]tenon.Content{tenon.Text("see"), tenon.Link("file:///a", "a", "text/plain"), tenon.Embedded("file:///b", "text/plain", "b")}), "",
			`"content":[{"type":"text","text":"see"},{"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain"},{"type":"resource","resource":{"uri":"file:///b","mimeType":"text/plain","text":"b"}}]}`,
		},
		{"no blocks", returns([]tenon.Content(nil)), "", `"content":[]}`},
		{
			"blocks with _meta", returns(gofunc.Output[[]tenon.Content]{Value: []tenon.Content{png}, Meta: map[string]any{"a": 1}}), "",
			`"_meta":{"a":1},"content":[{"type":"image","mimeType":"image/png","data":"cG5n"}]}`,
		},
		{
			"a value with _meta has its text copy", returns(gofunc.Output[WeatherData]{Value: w, Meta: map[string]any{"example.org/station": "7"}}), weatherSchema,
			`"_meta":{"example.org/station":"7"},"content":[{"type":"text","text":` + quoted(t, weatherText) + `}],"structuredContent":` + weatherJSON + `}`,
		},
		{
			"a value with content of its own", returns(gofunc.Output[WeatherData]{Value: w, Content: []tenon.Content{tenon.Text("mild"), png}}), weatherSchema,
			`"content":[{"type":"text","text":"mild"},{"type":"image","mimeType":"image/png","data":"cG5n"}],"structuredContent":` + weatherJSON + `}`,
		},
		{
			"a value that is wrapped", returns(gofunc.Output[int]{Value: 7, Content: []tenon.Content{tenon.Text("seven")}}), wrapped(`{"title":"Result","type":"integer"}`),
			`"content":[{"type":"text","text":"seven"}],"structuredContent":{"result":7}}`,
		},
		{
			"a failure that shows something", returns(gofunc.Output[WeatherData]{Failed: true, Content: []tenon.Content{tenon.Text("fog"), png}}), weatherSchema,
			`"content":[{"type":"text","text":"This call was executed and must not be repeated as it is."},{"type":"text","text":"fog"},{"type":"image","mimeType":"image/png","data":"cG5n"}],"isError":true}`,
		},
		{"a failure without content", returns(gofunc.Output[int]{Failed: true}), wrapped(`{"title":"Result","type":"integer"}`), `"content":[{"type":"text","text":"This call was executed and must not be repeated as it is."}],"isError":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := gatewayOf(t, tt.f)
			if _, output := g.Catalog().Tools()[0].Schemas(); tt.schema == "" && output != nil || tt.schema != "" && canonical(t, output) != canonical(t, []byte(tt.schema)) {
				t.Errorf("output schema (-want +got):\n%s", cmp.Diff(tt.schema, string(output)))
			}
			res := callFunc(t, g, `{}`)
			if c := contractOf(t, res); c.Executed != "yes" {
				t.Errorf("executed %s", c.Executed)
			}
			if diff := cmp.Diff(tt.want, wire(t, res)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnOutputIsCheckedToo(t *testing.T) {
	type lost = gofunc.Output[gofunc.JSON[WeatherData]]
	for name, tt := range map[string]struct {
		f    gofunc.Function
		want string
	}{
		"its value":        {returns(lost{Value: gofunc.JSON[WeatherData]{Raw: json.RawMessage(`{"temperature":1,"conditions":""}`)}, Content: []tenon.Content{tenon.Text("fine")}}), "humidity: required field missing"},
		"a number":         {returns(gofunc.Output[float64]{Value: math.Inf(1)}), "+Inf is not a number that JSON has"},
		"a name in _meta":  {returns(gofunc.Output[int]{Meta: map[string]any{"tenon/contract": 1}}), "_meta: the name tenon/contract is taken"},
		"a value in _meta": {returns(gofunc.Output[int]{Meta: map[string]any{"a": math.NaN()}}), "json: unsupported value: NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			res := callFunc(t, gatewayOf(t, tt.f), `{}`)
			if text := texts(res)[0]; !res.IsError || res.Structured != nil || !strings.Contains(text, tt.want) {
				t.Errorf("%q (%s), want %q", text, res.Structured, tt.want)
			}
			if c := contractOf(t, res); c.Executed != "yes" {
				t.Errorf("executed %s", c.Executed)
			}
		})
	}
}

func TestSchemasWrittenByHand(t *testing.T) {
	even := []byte(`{"type":"object","properties":{"n":{"type":"integer","multipleOf":2}},"required":["n"]}`)
	double := func(_ context.Context, in map[string]any) (map[string]any, error) { return in, nil }
	g := gatewayOf(t, gofunc.Func("f", "", double).With(gofunc.Options{Input: []byte(`{"type":"object","properties":{"n":{}},"maxProperties":1}`), Output: even}))
	input, output := g.Catalog().Tools()[0].Schemas()
	if canonical(t, output) != canonical(t, even) || !bytes.Contains(input, []byte(`"maxProperties":1`)) {
		t.Errorf("published %s and %s", input, output)
	}
	for args, want := range map[string]string{
		`{"n":4}`:          `{"n":4}`,
		`{"n":3}`:          "n: expected a multiple of 2, got 3",
		`{"n":2,"m":true}`: "expected at most 1 member",
	} {
		if res := callFunc(t, g, args); res.IsError == (args == `{"n":4}`) || !strings.Contains(string(res.Structured)+texts(res)[0], want) {
			t.Errorf("%s: %s %q, want %s", args, res.Structured, texts(res), want)
		}
	}
	list := gatewayOf(t, returns([]any{1, "a"}).With(gofunc.Options{Output: []byte(`{"type":"array","items":{"type":["integer","string"]}}`)}))
	if res := callFunc(t, list, `{}`); string(res.Structured) != `{"result":[1,"a"]}` {
		t.Errorf("a list: %s %q", res.Structured, texts(res))
	}
	for name, o := range map[string]gofunc.Options{
		"argument: the schema written by hand does not compile":     {Input: []byte(`{"type":"foo"}`)},
		"argument: the schema written by hand is that of no object": {Input: []byte(`{"type":"array"}`)},
		`so it needs "type": "object"`:                              {Input: []byte(`{"properties":{}}`)},
		"result: the schema written by hand does not compile":       {Input: []byte(`{"type":"object"}`), Output: []byte(`{"$ref":"https://example.org/x"}`)},
	} {
		if _, err := gofunc.Func("f", "", double).With(o).Tool(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

// TestAPanicIsAnErrorWithAnID: the caller and the log name the same incident,
// the caller learns nothing else.
func TestAPanicIsAnErrorWithAnID(t *testing.T) {
	var log bytes.Buffer
	g, err := gateway.Load(t.Context(), gofunc.Functions{gofunc.Func("f", "", func(context.Context, none) (int, error) {
		panic(errors.New("a secret"))
	})}, gateway.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	res := callFunc(t, g, `{}`)
	id := regexp.MustCompile(`incident ([A-Z2-7]{12}) `).FindStringSubmatch(texts(res)[0])
	if !res.IsError || id == nil || strings.Contains(texts(res)[0], "secret") {
		t.Fatalf("%q", texts(res))
	}
	if !strings.Contains(log.String(), `"incident":"`+id[1]+`"`) || !strings.Contains(log.String(), "a secret") || !strings.Contains(log.String(), "output_test.go") {
		t.Errorf("the log: %s", &log)
	}
	if c := contractOf(t, res); c.Executed != "unknown" || c.Retry != "unsafe" {
		t.Errorf("executed %s, retry %s", c.Executed, c.Retry)
	}
}

func TestTextOnlyWithADeclaredTypeHasNoStructure(t *testing.T) {
	res := callFunc(t, gatewayOf(t, returns(gofunc.Output[WeatherData]{Value: weather(), Meta: map[string]any{"a": 1}}).With(gofunc.Options{TextOnly: true})), `{}`)
	if want := `"_meta":{"a":1},"content":[{"type":"text","text":` + quoted(t, weatherText) + `}]}`; wire(t, res) != want {
		t.Errorf("%s, want %s", wire(t, res), want)
	}
}
