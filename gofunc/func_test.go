package gofunc_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

type (
	// WeatherData is the model of the examples.
	WeatherData struct {
		Temperature float64 `json:"temperature"`
		Humidity    float64 `json:"humidity"`
		Conditions  string  `json:"conditions"`
	}
	none  = struct{}
	color string
	node  struct {
		Value int    `json:"value"`
		Kids  []node `json:"kids"`
	}
	loc struct {
		Lat float64 `json:"lat"`
		Lon float64 `json:"lon"`
	}
	station struct{ name string }
)

func (color) EnumValues() []color { return []color{"red", "green"} }

func weather() WeatherData {
	return WeatherData{Temperature: 16.2, Humidity: 0.83, Conditions: "Overcast"}
}

// returns makes a function without arguments.
func returns[T any](v T) gofunc.Function {
	return gofunc.Func("f", "", func(context.Context, none) (T, error) { return v, nil })
}

func gatewayOf(t testing.TB, fs ...gofunc.Function) *gateway.Gateway {
	t.Helper()
	g, err := gateway.Load(t.Context(), gofunc.Functions(fs), gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func callFunc(t testing.TB, g *gateway.Gateway, args string) *tenon.Result {
	t.Helper()
	res, err := g.Call(t.Context(), &tenon.Call{Tool: g.Catalog().Tools()[0].Name(), Args: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func canonical(t testing.TB, doc []byte) string {
	t.Helper()
	if doc == nil {
		return "none"
	}
	c, err := rawjson.AppendCanonical(nil, doc)
	if err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return string(c)
}

func texts(res *tenon.Result) []string {
	all := []string{}
	for _, b := range res.Content {
		all = append(all, string(b.Text))
	}
	return all
}

const (
	weatherBody = `"properties":{"temperature":{"title":"Temperature","type":"number"},"humidity":{"title":"Humidity","type":"number"},"conditions":{"title":"Conditions","type":"string"}},"required":["temperature","humidity","conditions"],"title":"WeatherData","type":"object"`
	weatherDefs = `"$defs":{"WeatherData":{` + weatherBody + `}}`
	locBody     = `{"properties":{"lat":{"title":"Lat","type":"number"},"lon":{"title":"Lon","type":"number"}},"required":["lat","lon"],"title":"loc","type":"object"}`
	weatherJSON = `{"temperature":16.2,"humidity":0.83,"conditions":"Overcast"}`
	weatherText = "{\n  \"temperature\": 16.2,\n  \"humidity\": 0.83,\n  \"conditions\": \"Overcast\"\n}"
)

// wrapped is the schema of a result that is no object.
func wrapped(result string) string {
	return `{"properties":{"result":` + result + `},"required":["result"],"title":"fOutput","type":"object"}`
}

// TestResultTypes has the schemas that the Python SDK publishes for the same
// types: those marked "page" stand in its documentation, those marked "sdk"
// come from mcp 2.3.0 (PyPI), those marked "go" have no counterpart there or
// differ on purpose: base64, times, enums as results, key patterns, bounds.
func TestResultTypes(t *testing.T) {
	seven := 7
	w := weather()
	tests := []struct {
		name       string
		f          gofunc.Function
		schema     string
		structured string
		texts      []string
	}{
		{"page: an int is wrapped", returns(17), wrapped(`{"title":"Result","type":"integer"}`), `{"result":17}`, []string{"17"}},
		{"sdk: a str is its own text", returns("hi"), wrapped(`{"title":"Result","type":"string"}`), `{"result":"hi"}`, []string{"hi"}},
		{"sdk: a float", returns(1.5), wrapped(`{"title":"Result","type":"number"}`), `{"result":1.5}`, []string{"1.5"}},
		{"sdk: a bool", returns(true), wrapped(`{"title":"Result","type":"boolean"}`), `{"result":true}`, []string{"true"}},
		{"go: bytes", returns([]byte("hi")), wrapped(`{"contentEncoding":"base64","title":"Result","type":"string"}`), `{"result":"aGk="}`, []string{"aGk="}},
		{"sdk: None has no text", returns(none{}), wrapped(`{"title":"Result","type":"null"}`), `{"result":null}`, []string{}},
		{"go: a time", returns(time.Unix(0, 0).UTC()), wrapped(`{"format":"date-time","title":"Result","type":"string"}`), `{"result":"1970-01-01T00:00:00Z"}`, []string{"1970-01-01T00:00:00Z"}},
		{"go: an enum", returns(color("red")), wrapped(`{"enum":["red","green"],"title":"Result","type":"string"}`), `{"result":"red"}`, []string{"red"}},
		{"go: a sized integer has bounds", returns(uint8(7)), wrapped(`{"maximum":255,"minimum":0,"title":"Result","type":"integer"}`), `{"result":7}`, []string{"7"}},
		{"page: a model is not wrapped", returns(w), `{` + weatherBody + `}`, weatherJSON, []string{weatherText}},
		{"page: a model from raw JSON", returns(gofunc.JSON[WeatherData]{Raw: json.RawMessage("\n " + weatherJSON + "\n")}), `{` + weatherBody + `}`, weatherJSON, []string{weatherText}},
		{"go: a type without a name has the name of the tool", returns(struct {
			OK bool `json:"ok"`
		}{true}), `{"properties":{"ok":{"title":"Ok","type":"boolean"}},"required":["ok"],"title":"fOutput","type":"object"}`, `{"ok":true}`, []string{"{\n  \"ok\": true\n}"}},
		{
			"sdk: a model that contains itself", returns(node{1, []node{{Value: 2}}}),
			`{"$defs":{"node":{"properties":{"value":{"title":"Value","type":"integer"},"kids":{"items":{"$ref":"#/$defs/node"},"title":"Kids","type":"array"}},"required":["value","kids"],"title":"node","type":"object"}},` +
				`"properties":{"value":{"title":"Value","type":"integer"},"kids":{"items":{"$ref":"#/$defs/node"},"title":"Kids","type":"array"}},"required":["value","kids"],"title":"node","type":"object"}`,
			`{"value":1,"kids":[{"value":2,"kids":[]}]}`,
			[]string{"{\n  \"value\": 1,\n  \"kids\": [\n    {\n      \"value\": 2,\n      \"kids\": []\n    }\n  ]\n}"},
		},
		{
			"page: a list of models has a block for each", returns([]WeatherData{w, w}),
			`{` + weatherDefs + `,` + wrapped(`{"items":{"$ref":"#/$defs/WeatherData"},"title":"Result","type":"array"}`)[1:],
			`{"result":[` + weatherJSON + `,` + weatherJSON + `]}`,
			[]string{weatherText, weatherText},
		},
		{"sdk: a list of strings", returns([]string{"a", "b"}), wrapped(`{"items":{"type":"string"},"title":"Result","type":"array"}`), `{"result":["a","b"]}`, []string{"a", "b"}},
		{"sdk: an empty list has no text", returns([]int(nil)), wrapped(`{"items":{"type":"integer"},"title":"Result","type":"array"}`), `{"result":[]}`, []string{}},
		{"sdk: lists in a list are flattened", returns([][]int{{1, 2}, {3}}), wrapped(`{"items":{"items":{"type":"integer"},"type":"array"},"title":"Result","type":"array"}`), `{"result":[[1,2],[3]]}`, []string{"1", "2", "3"}},
		{"sdk: None in a list has no text", returns([]*int{&seven, nil}), wrapped(`{"items":{"anyOf":[{"type":"integer"},{"type":"null"}]},"title":"Result","type":"array"}`), `{"result":[7,null]}`, []string{"7"}},
		{"go: an iterator is a list", returns(slices.Values([]int{1, 2})), wrapped(`{"items":{"type":"integer"},"title":"Result","type":"array"}`), `{"result":[1,2]}`, []string{"1", "2"}},
		{"sdk: a tuple", returns(gofunc.Tuple2[int, string]{A: 1, B: "a"}), wrapped(`{"maxItems":2,"minItems":2,"prefixItems":[{"type":"integer"},{"type":"string"}],"title":"Result","type":"array"}`), `{"result":[1,"a"]}`, []string{"1", "a"}},
		{
			"sdk: a tuple with a model", returns(gofunc.Tuple3[int, string, WeatherData]{A: 1, B: "a", C: w}),
			`{` + weatherDefs + `,` + wrapped(`{"maxItems":3,"minItems":3,"prefixItems":[{"type":"integer"},{"type":"string"},{"$ref":"#/$defs/WeatherData"}],"title":"Result","type":"array"}`)[1:],
			`{"result":[1,"a",` + weatherJSON + `]}`,
			[]string{"1", "a", weatherText},
		},
		{"sdk: a union", returns(gofunc.OneOf2[int, string]{A: &seven}), wrapped(`{"anyOf":[{"type":"integer"},{"type":"string"}],"title":"Result"}`), `{"result":7}`, []string{"7"}},
		{
			"sdk: a union of models", returns(gofunc.OneOf2[WeatherData, loc]{A: &w}),
			`{"$defs":{"loc":` + locBody + `,"WeatherData":{` + weatherBody + `}},` + wrapped(`{"anyOf":[{"$ref":"#/$defs/WeatherData"},{"$ref":"#/$defs/loc"}],"title":"Result"}`)[1:],
			`{"result":` + weatherJSON + `}`,
			[]string{weatherText},
		},
		{"sdk: Optional that is there", returns(&seven), wrapped(`{"anyOf":[{"type":"integer"},{"type":"null"}],"title":"Result"}`), `{"result":7}`, []string{"7"}},
		{"sdk: Optional that is None", returns(gofunc.Optional[int]{}), wrapped(`{"anyOf":[{"type":"integer"},{"type":"null"}],"title":"Result"}`), `{"result":null}`, []string{}},
		{"sdk: an optional model", returns(gotype.Some(w)), `{` + weatherDefs + `,` + wrapped(`{"anyOf":[{"$ref":"#/$defs/WeatherData"},{"type":"null"}]}`)[1:], `{"result":` + weatherJSON + `}`, []string{weatherText}},
		{"sdk: an optional model that is None", returns(gotype.Optional[WeatherData]{}), `{` + weatherDefs + `,` + wrapped(`{"anyOf":[{"$ref":"#/$defs/WeatherData"},{"type":"null"}]}`)[1:], `{"result":null}`, []string{}},
		{"page: a dict with str keys is not wrapped", returns(map[string]float64{"London": 16.2, "Reykjavik": 4.4}), `{"additionalProperties":{"type":"number"},"title":"fDictOutput","type":"object"}`, `{"London":16.2,"Reykjavik":4.4}`, []string{"{\n  \"London\": 16.2,\n  \"Reykjavik\": 4.4\n}"}},
		{
			"sdk: a dict of models", returns(map[string][]WeatherData{"a": {w}}),
			`{` + weatherDefs + `,"additionalProperties":{"items":{"$ref":"#/$defs/WeatherData"},"type":"array"},"title":"fDictOutput","type":"object"}`,
			`{"a":[` + weatherJSON + `]}`,
			[]string{"{\n  \"a\": [\n    {\n      \"temperature\": 16.2,\n      \"humidity\": 0.83,\n      \"conditions\": \"Overcast\"\n    }\n  ]\n}"},
		},
		{"go: a pointer to a model is the model", returns(&w), `{` + weatherBody + `}`, weatherJSON, []string{weatherText}},
		{"go: a pointer in an Output", returns(&gofunc.Output[*WeatherData]{Value: &w}), `{` + weatherBody + `}`, weatherJSON, []string{weatherText}},
		{"go: a pointer to a block", returns(new(tenon.Text("hi"))), "", "", []string{"hi"}},
		{"sdk: a dict of anything", returns(map[string]any{"a": 1}), `{"additionalProperties":true,"title":"fDictOutput","type":"object"}`, `{"a":1}`, []string{"{\n  \"a\": 1\n}"}},
		{"sdk: a list of anything", returns([]any{1, "a"}), wrapped(`{"items":{},"title":"Result","type":"array"}`), `{"result":[1,"a"]}`, []string{"1", "a"}},
		{"sdk: anything", returns(any(1)), wrapped(`{"title":"Result"}`), `{"result":1}`, []string{"1"}},
		{"page: a dict with other keys is wrapped", returns(map[int]float64{1: 1.5}), wrapped(`{"additionalProperties":{"type":"number"},"propertyNames":{"pattern":"^-?[0-9]+$"},"title":"Result","type":"object"}`), `{"result":{"1":1.5}}`, []string{"{\n  \"1\": 1.5\n}"}},
		{"page: text only", returns("a report").With(gofunc.Options{TextOnly: true}), "", "", []string{"a report"}},
		{"sdk: a model as text only", returns(w).With(gofunc.Options{TextOnly: true}), "", "", []string{weatherText}},
		{"sdk: a list as text only", returns([]int{1, 2}).With(gofunc.Options{TextOnly: true}), "", "", []string{"1", "2"}},
		{"go: what has no schema can be text", returns(map[string]any{"a": 1}).With(gofunc.Options{TextOnly: true}), "", "", []string{"{\n  \"a\": 1\n}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := gatewayOf(t, tt.f)
			e := g.Catalog().Tools()[0]
			if _, output := e.Schemas(); tt.schema == "" && output != nil || tt.schema != "" && canonical(t, output) != canonical(t, []byte(tt.schema)) {
				t.Errorf("output schema (-want +got):\n%s", cmp.Diff(tt.schema, string(output)))
			}
			if diagnostics := e.Diagnostics(); len(diagnostics) > 0 {
				t.Errorf("diagnostics: %v", diagnostics)
			}
			res := callFunc(t, g, `{}`)
			if res.IsError {
				t.Fatalf("%q", texts(res))
			}
			if diff := cmp.Diff(tt.structured, string(res.Structured)); diff != "" {
				t.Errorf("structuredContent (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.texts, texts(res)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

// TestArgumentTypes compares with what mcp 2.3.0 publishes for the same
// arguments, but for additionalProperties.
func TestArgumentTypes(t *testing.T) {
	type arguments struct {
		City  string   `json:"city"`
		Days  int      `json:"days" doc:"How many days" check:"min=1,max=14,default=3"`
		Unit  string   `json:"unit" check:"enum=c|f,default=c"`
		Where *loc     `json:"where"`
		Tags  []string `json:"tags" check:"default=[]"`
	}
	var got arguments
	g := gatewayOf(t, gofunc.Func("inp", "", func(_ context.Context, in arguments) (none, error) {
		got = in
		return none{}, nil
	}))
	input, _ := g.Catalog().Tools()[0].Schemas()
	want := `{"$defs":{"loc":{"additionalProperties":false,` + locBody[1:] + `},"additionalProperties":false,"properties":{"city":{"title":"City","type":"string"},` +
		`"days":{"default":3,"description":"How many days","maximum":14,"minimum":1,"title":"Days","type":"integer"},` +
		`"unit":{"default":"c","enum":["c","f"],"title":"Unit","type":"string"},"where":{"anyOf":[{"$ref":"#/$defs/loc"},{"type":"null"}],"default":null},` +
		`"tags":{"default":[],"items":{"type":"string"},"title":"Tags","type":"array"}},"required":["city"],"title":"inpArguments","type":"object"}`
	if diff := cmp.Diff(want, string(input)); diff != "" {
		t.Errorf("input schema (-want +got):\n%s", diff)
	}
	if res := callFunc(t, g, `{"city":"London","where":{"lat":51.5,"lon":0}}`); res.IsError {
		t.Fatalf("%q", texts(res))
	}
	if diff := cmp.Diff(arguments{City: "London", Days: 3, Unit: "c", Where: &loc{Lat: 51.5}, Tags: []string{}}, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	for args, want := range map[string]string{
		`{"city":"x","cty":"y"}`: `there is no argument "cty"; did you mean "city"?`,
		`{"city":"x","days":15}`: "days: expected at most 14, got 15",
		`{}`:                     "city: required field missing",
	} {
		res := callFunc(t, g, args)
		if text := texts(res)[0]; !res.IsError || !strings.Contains(text, want) {
			t.Errorf("%s: %q does not contain %q", args, text, want)
		}
		if c := contractOf(t, res); c.Executed != "no" {
			t.Errorf("%s: executed %s", args, c.Executed)
		}
	}
}

func TestArgumentsThatGoCannotHoldAreInvalid(t *testing.T) {
	g := gatewayOf(t, gofunc.Func("f", "", func(context.Context, struct{ N int }) (none, error) {
		t.Error("the function was called")
		return none{}, nil
	}))
	res := callFunc(t, g, `{"N":1e30}`)
	if diff := cmp.Diff([]string{"Error executing tool f: Invalid arguments: N: number 1000000000000000000000000000000 cannot be held by int"}, texts(res)); diff != "" {
		t.Error(diff)
	}
	if c := contractOf(t, res); c.Executed != "no" || c.Retry != "safe" {
		t.Errorf("executed %s, retry %s", c.Executed, c.Retry)
	}
}

func TestAViolationNamesTheField(t *testing.T) {
	type ratio struct {
		Mail  string  `json:"mail" check:"format=email"`
		Ratio float64 `json:"ratio" check:"max=1"`
	}
	for name, tt := range map[string]struct {
		f    gofunc.Function
		want string
	}{
		"the upstream lost a field": {
			returns(gofunc.JSON[WeatherData]{Raw: json.RawMessage(`{"temperature": 16.2, "conditions": "Overcast"}`)}),
			"The response of f violates its schema: humidity: required field missing",
		},
		"deep inside": {
			returns([]gofunc.JSON[WeatherData]{{Raw: json.RawMessage(weatherJSON)}, {Raw: json.RawMessage(`{"temperature":"warm","humidity":1,"conditions":""}`)}}),
			"The response of f violates its schema: 1.temperature: expected number, got \"warm\"",
		},
		"what is no JSON":              {returns(gofunc.JSON[WeatherData]{Raw: json.RawMessage(`<html>`)}), "strict JSON"},
		"constraints and formats":      {returns(ratio{"nobody", 2}), "mail: expected format email, got \"nobody\"; ratio: expected at most 1, got 2"},
		"a value that an enum has not": {returns(color("blue")), "expected one of \"red\", \"green\", got \"blue\""},
		"what JSON has no number for":  {returns(map[string][]float64{"a": {1, math.NaN()}}), "What the function returned cannot be written as JSON: a.1: NaN is not a number that JSON has"},
	} {
		t.Run(name, func(t *testing.T) {
			res := callFunc(t, gatewayOf(t, tt.f), `{}`)
			if text := texts(res)[0]; !res.IsError || res.Structured != nil || !strings.HasPrefix(text, "Error executing tool f: ") || !strings.Contains(text, tt.want) {
				t.Errorf("got %q (%s), want %q", text, res.Structured, tt.want)
			}
			if c := contractOf(t, res); c.Executed != "yes" || c.Retry != "unsafe" {
				t.Errorf("executed %s, retry %s", c.Executed, c.Retry)
			}
		})
	}
}

func TestErrorsOfFunctions(t *testing.T) {
	yes := true
	fails := func(err error) gofunc.Function {
		return gofunc.Func("f", "", func(context.Context, none) (int, error) { return 0, err })
	}
	for name, tt := range map[string]struct {
		f               gofunc.Function
		text            string
		executed, retry string
	}{
		"an error is text that the model reads": {
			fails(errors.New("no such city")),
			"Error executing tool f: This call was executed and must not be repeated as it is. no such city", "yes", "unsafe",
		},
		"a function that only reads may be called again": {
			fails(&tenon.Error{Code: tenon.CodeNotFound, Message: "no such city", Err: errors.New("secret")}).With(gofunc.Options{Annotations: tenon.Annotations{ReadOnly: &yes}}),
			"Error executing tool f: no such city", "yes", "safe",
		},
		"an idempotent one can be repeated": {
			fails(errors.New("busy")).With(gofunc.Options{Annotations: tenon.Annotations{Idempotent: &yes}}),
			"Error executing tool f: busy", "yes", "safe",
		},
	} {
		t.Run(name, func(t *testing.T) {
			res := callFunc(t, gatewayOf(t, tt.f), `{}`)
			if diff := cmp.Diff([]string{tt.text}, texts(res)); diff != "" || !res.IsError {
				t.Errorf("is error: %v\n%s", res.IsError, diff)
			}
			if c := contractOf(t, res); c.Executed != tt.executed || c.Retry != tt.retry {
				t.Errorf("executed %s, retry %s", c.Executed, c.Retry)
			}
		})
	}
}

func TestAnErrorKeepsItsCode(t *testing.T) {
	tool, err := gofunc.Func("f", "", func(context.Context, none) (int, error) {
		return 0, &tenon.Error{Code: tenon.CodeConflict, Message: "taken"}
	}).Tool()
	if err != nil {
		t.Fatal(err)
	}
	response, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{}`)})
	if got := tenon.CodeOf(err); got != tenon.CodeConflict || response.Execution.Unsafe != tenon.Responded {
		t.Errorf("code %s, sent %v", got, response.Execution)
	}
}

func TestAFunctionThatIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gatewayOf(t, gofunc.Func("f", "", func(ctx context.Context, _ none) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}))
		res := callFunc(t, g, `{}`)
		if c := contractOf(t, res); !res.IsError || c.Executed != "unknown" || c.Retry != "unsafe" {
			t.Errorf("executed %s, retry %s: %s", c.Executed, c.Retry, texts(res))
		}
	})
}

// TestRegistrationRefuses: nothing becomes a tool without its schema, unless
// it is asked for.
func TestRegistrationRefuses(t *testing.T) {
	first := gofunc.Func("taken", "", func(context.Context, none) (int, error) { return 0, nil })
	for name, tt := range map[string]struct {
		f    gofunc.Function
		want string
	}{
		"a type of which nothing is exported": {returns(station{"x"}), "function f: result: gofunc_test.station: no exported fields, so nothing of it would be written"},
		"a channel inside":                    {returns([]struct{ Done chan int }{}), "function f: result: []struct { Done chan int }[].Done: a chan has no JSON"},
		"a channel as text":                   {returns(make(chan int)).With(gofunc.Options{TextOnly: true}), "function f: result: chan int: a chan has no JSON"},
		"an interface":                        {returns[pet](cat{1}), "function f: result: gofunc_test.pet: gofunc_test.pet is an interface with methods, so its JSON is unknown: register its types with gotype.UnionOf in gofunc.Options.Unions, or its schema with gotype.Of in gofunc.Options.Types"},
		"blocks inside a value":               {returns(map[string]tenon.Content{}), "function f: result: map[string]tenon.Content[]: a tenon.Content is content, not a value: return a Content, a []Content, or an Output with the value and its Content"},
		"a result inside a value":             {returns([]gofunc.Output[int]{}), "function f: result: []gofunc.Output[int][]: a gofunc.Output is a whole result, not a value inside one: return it by itself"},
		"arguments that are no object":        {gofunc.Func("f", "", func(context.Context, int) (int, error) { return 0, nil }), "function f: argument: int: arguments are an object: use a struct, or a map with string keys"},
		"a name that is taken":                {first, "function taken: another function has this name"},
		"no function":                         {gofunc.Func[none, int]("f", "", nil), "function f: the function is nil"},
		"a name that clients refuse":          {gofunc.Func("get weather", "", func(context.Context, none) (int, error) { return 0, nil }), "function get weather: not a name that every client accepts: 1 to 64 of A-Z a-z 0-9 _ -"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gateway.Load(t.Context(), gofunc.Functions{first, tt.f}, gateway.Options{})
			if err == nil {
				t.Fatal("was loaded")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" || tenon.CodeOf(err) != tenon.CodeBadSource {
				t.Errorf("code %s (-want +got):\n%s", tenon.CodeOf(err), diff)
			}
		})
	}
}

// TestNilPointersAreErrors: there is no object to be sent, and none is made up.
func TestNilPointersAreErrors(t *testing.T) {
	for name, f := range map[string]gofunc.Function{
		"a model": returns((*WeatherData)(nil)), "an Output": returns((*gofunc.Output[int])(nil)),
		"the value of an Output": returns(gofunc.Output[*WeatherData]{}), "a block": returns((*tenon.Content)(nil)),
	} {
		res := callFunc(t, gatewayOf(t, f), `{}`)
		if !res.IsError || !strings.Contains(texts(res)[0], "it is nil: return an error, or declare a tenon.Optional") {
			t.Errorf("%s: %q", name, texts(res))
		}
	}
}

// TestUnknownMembersOfOptionalObjects: the message is about the member, not
// about null.
func TestUnknownMembersOfOptionalObjects(t *testing.T) {
	type arguments struct {
		Where *loc                  `json:"where"`
		Maybe gofunc.Optional[*loc] `json:"maybe,omitzero"`
		Count *int                  `json:"count"`
	}
	g := gatewayOf(t, gofunc.Func("f", "", func(context.Context, arguments) (none, error) { return none{}, nil }))
	for args, want := range map[string]string{
		`{"where":{"lat":1,"lon":2,"zip":3}}`: "Invalid arguments: where.zip: no such field, got 3\n- Leave out where.zip",
		`{"maybe":{"lat":1,"lon":2,"zip":3}}`: "Invalid arguments: maybe.zip: no such field, got 3\n- Leave out maybe.zip",
		`{"where":{"lat":1}}`:                 "Invalid arguments: where.lon: required field missing\n- Provide where.lon",
		`{"count":"x"}`:                       "Invalid arguments: count: expected integer, got \"x\"; count: expected null, got \"x\"\n- Give count as an integer or null",
	} {
		if text := texts(callFunc(t, g, args))[0]; text != "Error executing tool f: "+want {
			t.Errorf("%s: %s", args, text)
		}
	}
}

type pet interface{ pet() }

type cat struct {
	Lives int `json:"lives"`
}

func (cat) pet() {}

func TestInterfacesAreUnions(t *testing.T) {
	g := gatewayOf(t, returns[pet](cat{9}).With(gofunc.Options{NoTitles: true, Unions: []gofunc.Union{gotype.UnionOf("kind", map[string]pet{"cat": cat{}})}}))
	if res := callFunc(t, g, `{}`); string(res.Structured) != `{"result":{"kind":"cat","lives":9}}` {
		t.Errorf("%s %s", res.Structured, texts(res))
	}
	_, output := g.Catalog().Tools()[0].Schemas()
	want := `{"properties":{"result":{"anyOf":[{"properties":{"kind":{"const":"cat","type":"string"},"lives":{"type":"integer"}},"required":["kind","lives"],"type":"object"}]}},"required":["result"],"title":"fOutput","type":"object"}`
	if canonical(t, output) != canonical(t, []byte(want)) {
		t.Errorf("output schema (-want +got):\n%s", cmp.Diff(want, string(output)))
	}
}

// TestMembersKeepTheirOrder: canonical comparison does not see it.
func TestMembersKeepTheirOrder(t *testing.T) {
	_, output := gatewayOf(t, returns(weather())).Catalog().Tools()[0].Schemas()
	if diff := cmp.Diff(`{`+weatherBody+`}`, string(output)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// contractOf is what _meta says of the contract.
func contractOf(t *testing.T, res *tenon.Result) (c struct{ Verdict, Executed, Retry string }) {
	t.Helper()
	var meta struct {
		Contract json.RawMessage `json:"tenon/contract"`
	}
	if err := json.Unmarshal(res.Meta, &meta); err != nil {
		t.Fatalf("_meta is no JSON object: %v\n%s", err, res.Meta)
	}
	if err := json.Unmarshal(meta.Contract, &c); err != nil {
		t.Fatal(err)
	}
	return c
}
