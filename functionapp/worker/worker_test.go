package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/worker"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
)

const forecast = `{ "type": "object", "properties": { "temp": {"type": "number"} }, "required": ["temp"] }`

func answers(body string) tenon.Handler {
	return func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{MediaType: "application/json", Body: []byte(body)}, nil
	}
}

// emitted returns the only binding of a function that the app emits.
func emitted(t *testing.T, a *worker.App, function string) functionapp.Object {
	t.Helper()
	files, err := a.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Path != function+"/function.json" {
			continue
		}
		parsed, err := functionapp.ParseFunction(f.Text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Bindings[0]
	}
	t.Fatalf("there is no function %s among %v", function, files)
	return nil
}

// TestBuilder is the page's table of what a worker configures and what stands
// in the binding then.
func TestBuilder(t *testing.T) {
	in, out := `{"type":"object","properties":{"x":{}}}`, `{"type":"object"}`
	p := worker.Property{Name: "x", Type: "string", Description: "An x.", Required: true}
	const xs = `[{"propertyName":"x","propertyType":"string","description":"An x.","isRequired":true,"isArray":false}]`
	for _, tt := range []struct {
		name  string
		build func(*worker.Tool) *worker.Tool
		want  map[string]string // keys that hold JSON in a string, or a flag; "" is absent
	}{
		{"no schema", func(b *worker.Tool) *worker.Tool { return b }, map[string]string{"outputSchema": "", "inputSchema": "", "useWorkerInputSchema": "", "toolProperties": "[]", "metadata": ""}},
		{"an output schema: no flag for it", func(b *worker.Tool) *worker.Tool { return b.WithOutputSchema(forecast) }, map[string]string{"outputSchema": forecast, "useWorkerInputSchema": ""}},
		{"twice: the last counts", func(b *worker.Tool) *worker.Tool { return b.WithOutputSchema(forecast).WithOutputSchema(out) }, map[string]string{"outputSchema": out}},
		{
			"everything together",
			func(b *worker.Tool) *worker.Tool {
				return b.WithOutputSchema(out).WithMetadata("a", 1).WithInputSchema(in).WithMetadata("b", "<&>").WithProperty(p).WithMetadata("a", 2)
			},
			map[string]string{"outputSchema": out, "inputSchema": in, "useWorkerInputSchema": "true", "toolProperties": xs, "metadata": `{"b":"<&>","a":2}`},
		},
		{
			"the same in another order",
			func(b *worker.Tool) *worker.Tool {
				return b.WithProperty(p).WithProperty(p).WithInputSchema(in).WithOutputSchema(out)
			},
			map[string]string{"outputSchema": out, "inputSchema": in, "useWorkerInputSchema": "true", "toolProperties": xs},
		},
		{"a policy that promises as advice", func(b *worker.Tool) *worker.Tool { return b.WithOutputSchema(out).WithPolicy(tenon.Warn) }, map[string]string{"outputSchema": `{"type":"object"}`}},
		{"a policy that promises nothing", func(b *worker.Tool) *worker.Tool { return b.WithOutputSchema(out).WithPolicy(tenon.Off) }, map[string]string{"outputSchema": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := worker.New(worker.Options{})
			b := a.Tool("MyTool")
			if got := tt.build(b); got != b {
				t.Error("a method returned another builder")
			}
			b.Handle(answers(`{}`))
			binding := emitted(t, a, "MyTool")
			for key, want := range tt.want {
				if got := string(binding.Get(key)); !sameJSON(t, got, want) {
					t.Errorf("%s is %s, want %s", key, got, want)
				}
			}
		})
	}
}

// sameJSON compares a binding's value, a JSON string or a flag, with JSON.
func sameJSON(t *testing.T, got, want string) bool {
	t.Helper()
	if got == "" || want == "" {
		return got == want
	}
	var text string
	if json.Unmarshal([]byte(got), &text) != nil {
		return got == want
	}
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(text), &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(a, b)
}

func TestOtherTriggersAreUntouched(t *testing.T) {
	a := worker.New(worker.Options{})
	a.Tool("x").WithOutputSchema(forecast).Handle(answers(`{}`))
	a.Resource("file://x", "x").Read(func(context.Context, string, *tenon.Call) ([]tenon.Content, error) { return nil, nil })
	const want = `{"name":"context","type":"mcpResourceTrigger","direction":"in","uri":"file://x","resourceName":"x"}`
	if got := string(emitted(t, a, "resource_x").Append(nil)); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func line() int {
	_, _, n, _ := runtime.Caller(1)
	return n
}

// TestMistakesNameTheirPlace: a mistake is found when it is made, and told
// with the line in which it was made.
func TestMistakesNameTheirPlace(t *testing.T) {
	read := func(context.Context, string, *tenon.Call) ([]tenon.Content, error) { return nil, nil }
	typed := gofunc.Func("typed", "", func(context.Context, struct{}) (int, error) { return 0, nil })
	asks := gofunc.Options{Confirm: gofunc.Confirm(func(struct{}) tenon.InputRequest { return gofunc.ConfirmRequest("Really?") })}
	noType := gofunc.Func("untyped", "", func(context.Context, struct{}) (chan int, error) { return nil, nil })
	for _, tt := range []struct {
		name string
		make func(*worker.App) int // returns the line of the mistake
		want string
	}{
		{"an empty output schema", func(a *worker.App) int { a.Tool("t").Handle(answers("{}")).WithOutputSchema(""); return line() }, "tool t: Output schema must not be empty"},
		{"an output schema of another type", func(a *worker.App) int {
			a.Tool("t").Handle(answers("{}")).WithOutputSchema(`{"type":"string"}`)
			return line() - 1
		}, `tool t: Output schema must have a root "type" of "object"`},
		{"an input schema that is cut off", func(a *worker.App) int { a.Tool("t").Handle(answers("{}")).WithInputSchema(`{`); return line() }, "tool t: Input schema must be valid JSON: offset 1: the input ends, expected a key"},
		{"a tool without a handler", func(a *worker.App) int { a.Tool("t"); return line() }, "tool t: it has no handler"},
		{"a tool with a name that clients refuse", func(a *worker.App) int { a.Tool("a b").Handle(answers("{}")); return line() }, "tool a b: not a name that every client accepts: take 1 to 64 of A-Z a-z 0-9 _ -"},
		{"two tools whose names differ in case", func(a *worker.App) int {
			a.Tool("Same").Handle(answers("{}")).WithFunctionName("one")
			a.Tool("same").Handle(answers("{}"))
			return line() - 1
		}, "tool same: tool same is taken by tool Same; case does not count"},
		{"two functions of one name", func(a *worker.App) int {
			a.Tool("one").Handle(answers("{}"))
			a.Tool("two").Handle(answers("{}")).WithFunctionName("ONE")
			return line() - 1
		}, "tool two: function one is taken by tool one; case does not count"},
		{"a function named host", func(a *worker.App) int { a.Tool("t").Handle(answers("{}")).WithFunctionName("host"); return line() }, `tool t: "host" is no name for a function: take a letter and up to 127 of letters, digits, _ and -, but not host`},
		{"a property of a type that JSON Schema lacks", func(a *worker.App) int {
			a.Tool("t").Handle(answers("{}")).WithProperty(worker.Property{Name: "x", Type: "float"})
			return line() - 1
		}, `tool t: property "x": it needs a name and a type of JSON Schema: string, number, integer, boolean, object or array`},
		{"a schema for a Go function", func(a *worker.App) int { a.Func(typed).WithOutputSchema(forecast); return line() }, "tool typed: WithOutputSchema: the schemas of a Go function are made of its types"},
		{"metadata that is no JSON", func(a *worker.App) int { a.Func(typed).WithMetadata("f", func() {}); return line() }, `tool typed: metadata "f": json: unsupported type: func()`},
		{"a handler for a Go function", func(a *worker.App) int { a.Func(typed).Handle(answers("{}")); return line() }, "tool typed: a tool has one handler, and that of a Go function is the function"},
		{"a question that nobody can ask", func(a *worker.App) int { a.Func(typed.With(asks)); return line() }, "tool typed: a function app has no way to ask before it runs: take the hint Destructive, by which hosts and clients ask"},
		{"two templates of one form", func(a *worker.App) int {
			a.Resource("a://{x}/b", "one").Read(read)
			a.Resource("A://{y}/b", "two").Read(read)
			return line() - 1
		}, "resource A://{y}/b: resource a://{_}/b is taken by resource a://{x}/b; case does not count"},
		{"an address with an open brace", func(a *worker.App) int { a.Resource("a://{", "r").Read(read); return line() }, `resource a://{: "a://{" has a brace that is empty or not closed`},
		{"a prompt without a name for an argument", func(a *worker.App) int {
			a.Prompt("p").Get(func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) { return nil, nil }).WithArgument(tenon.PromptArgument{})
			return line() - 1
		}, "prompt p: an argument has no name"},
		{"a type without a schema", func(a *worker.App) int { a.Func(noType); return line() }, "a tool: function untyped: result: chan int: a chan has no JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := worker.New(worker.Options{})
			at := tt.make(a)
			err := a.Err()
			if _, found := errors.AsType[*worker.Error](err); !found {
				t.Fatalf("no mistake was found: %v", err)
			}
			want := fmt.Sprintf("worker_test.go:%d: %s", at, tt.want)
			if got := err.Error(); !strings.HasSuffix(got, "/"+want) {
				t.Errorf("got  %s\nwant …/%s", got, want)
			}
			if _, err := a.Files(); err == nil {
				t.Error("files were made all the same")
			}
			if _, err := a.Handler(); err == nil {
				t.Error("a handler was made all the same")
			}
		})
	}
}

func TestABadSchemaKeepsTheOneBefore(t *testing.T) {
	a := worker.New(worker.Options{})
	a.Tool("t").Handle(answers("{}")).WithOutputSchema(forecast).WithOutputSchema("{}").WithOutputSchema("[]")
	if n := strings.Count(a.Err().Error(), "Output schema"); n != 2 {
		t.Errorf("%d mistakes were told, not 2: %v", n, a.Err())
	}
}

func TestWarningsAreAboutClients(t *testing.T) {
	a := worker.New(worker.Options{})
	a.Tool("fine").Handle(answers("{}")).WithOutputSchema(forecast)
	a.Tool("legal").Handle(answers("{}")).WithOutputSchema(`{"type":"object","required":[1]}`)
	got := strings.Join(a.Warnings(), "\n")
	if a.Err() != nil || strings.Contains(got, "fine") {
		t.Errorf("%v %s", a.Err(), got)
	}
	for _, want := range []string{"tool legal: outputSchema: nothing is checked against it", "tool legal: outputSchema: clients may not bear the root required"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
}

// call sends what a host sends, and returns the status, the log and the value.
func call(t *testing.T, h http.Handler, i functionapp.Invocation) (int, functionapp.Response) {
	t.Helper()
	i.Binding = "context"
	return post(t, h, "/"+i.Function, i.Append(nil))
}

func post(t *testing.T, h http.Handler, path string, body []byte) (int, functionapp.Response) {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	req, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set(functionapp.InvocationID, "call-1")
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := functionapp.ReadResponse(text)
	if err != nil {
		t.Fatalf("%d %s: %v", res.StatusCode, text, err)
	}
	return res.StatusCode, r
}

func handler(t *testing.T, a *worker.App) http.Handler {
	t.Helper()
	h, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestToolCalls is what comes back for what a handler does, as the host reads
// it.
func TestToolCalls(t *testing.T) {
	type args struct {
		N int64 `json:"n"`
	}
	type sum struct {
		Twice int64 `json:"twice"`
	}
	a := worker.New(worker.Options{})
	a.Func(gofunc.Func("double", "", func(_ context.Context, in args) (sum, error) { return sum{in.N * 2}, nil }))
	a.Func(gofunc.Func("list", "", func(context.Context, struct{}) ([]int, error) { return []int{1, 2}, nil }))
	a.Tool("fits").WithOutputSchema(forecast).Handle(answers(`{"temp":20.5}`))
	a.Tool("breaks").WithOutputSchema(forecast).Handle(answers(`{"temp":"warm"}`))
	a.Tool("plain").WithOutputSchema(forecast).Handle(func(context.Context, *tenon.Call) (tenon.Response, error) { return worker.Text("20 °C"), nil })
	a.Tool("text").Handle(func(context.Context, *tenon.Call) (tenon.Response, error) { return worker.Text("20 °C"), nil })
	a.Tool("wants").WithProperty(worker.Property{Name: "city", Type: "string", Required: true}).Handle(answers(`{}`))
	a.Tool("fails").Handle(func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{}, &tenon.Error{Code: tenon.CodeNotFound, Message: "no such city"}
	})
	a.Tool("panics").Handle(func(context.Context, *tenon.Call) (tenon.Response, error) { panic("secret") })
	a.Tool("asks").Handle(func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		_, err := c.RequestInput(ctx, tenon.FormRequest("k", "?", []byte(`{}`)))
		return tenon.Response{}, err
	})
	h := handler(t, a)
	for _, tt := range []struct {
		tool, args string
		structured string
		isError    bool
		text       string // a part of the first block
	}{
		{tool: "double", args: `{"n":4503599627370497}`, structured: `{"twice":9007199254740994}`, text: "9007199254740994"},
		{tool: "DOUBLE", args: `{"n":"four"}`, isError: true, text: "n: expected integer"},
		{tool: "list", args: ``, structured: `{"result":[1,2]}`, text: "1"},
		{tool: "fits", args: `{}`, structured: `{"temp":20.5}`, text: "20.5"},
		{tool: "breaks", args: `{}`, isError: true, text: "temp: expected number"},
		{tool: "plain", args: `{}`, isError: true, text: "text/plain"},
		{tool: "text", args: `{}`, text: "20 °C"},
		{tool: "wants", args: `{}`, isError: true, text: "city"},
		{tool: "wants", args: `{"city":"Rome"}`, structured: `{}`, text: "{}"},
		{tool: "fails", args: `{}`, isError: true, text: "no such city"},
		{tool: "panics", args: `{}`, isError: true, text: "incident"},
		{tool: "asks", args: `{}`, isError: true, text: "has no way to ask"},
	} {
		t.Run(tt.tool+" "+tt.args, func(t *testing.T) {
			status, r := call(t, h, functionapp.Invocation{Function: tt.tool, Type: functionapp.ToolTrigger, Context: functionapp.Context{Name: tt.tool, Arguments: []byte(tt.args)}})
			if status != http.StatusOK {
				t.Fatalf("status %d, log %q", status, r.Logs)
			}
			got, err := functionapp.ReadResult(r.ReturnValue, true)
			if err != nil {
				t.Fatal(err)
			}
			if got.IsError != tt.isError || string(got.Structured) != tt.structured || !strings.Contains(string(got.Blocks[0].Text), tt.text) {
				t.Errorf("error %t, structured %s, text %s", got.IsError, got.Structured, got.Blocks[0].Text)
			}
			if strings.Contains(string(r.ReturnValue), "secret") {
				t.Error("what a panic said left the worker")
			}
		})
	}
}

// TestWhatATypedFunctionEmits: the schemas are those that tenon publishes for
// the same function.
func TestWhatATypedFunctionEmits(t *testing.T) {
	f := gofunc.Func("list", "Lists.", func(context.Context, struct{ From int }) ([]string, error) { return nil, nil })
	a := worker.New(worker.Options{})
	a.Func(f)
	tool, err := f.Tool()
	if err != nil {
		t.Fatal(err)
	}
	e := gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}).Find("list")
	in, out := e.Schemas()
	binding := emitted(t, a, "list")
	if !sameJSON(t, string(binding.Get("inputSchema")), string(in)) || !sameJSON(t, string(binding.Get("outputSchema")), string(out)) {
		t.Errorf("%s\nand not\n%s\n%s", binding.Append(nil), in, out)
	}
}

func TestExecuted(t *testing.T) {
	yes := true
	a := worker.New(worker.Options{})
	a.Tool("writes").Handle(answers(`{}`))
	a.Tool("reads").WithHints(tenon.Annotations{ReadOnly: &yes}).Handle(answers(`{}`))
	panics := func(context.Context, *tenon.Call) (tenon.Response, error) { panic("p") }
	a.Tool("writes_and_panics").Handle(panics)
	a.Tool("reads_and_panics").WithHints(tenon.Annotations{ReadOnly: &yes}).Handle(panics)
	h := handler(t, a)
	for tool, want := range map[string]string{
		"writes": `"executed":"yes"`, "reads": `"executed":"yes"`,
		"writes_and_panics": `"executed":"unknown"`, "reads_and_panics": `"executed":"unknown"`,
	} {
		_, r := call(t, h, functionapp.Invocation{Function: tool, Context: functionapp.Context{Name: tool}})
		got, err := functionapp.ReadResult(r.ReturnValue, true)
		if err != nil || !strings.Contains(string(got.Meta), want) {
			t.Errorf("%s: %s %v", tool, got.Meta, err)
		}
	}
}

func TestAHandlerKnowsTheInvocation(t *testing.T) {
	a := worker.New(worker.Options{})
	a.Tool("t").Handle(func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		c.Log("info", "looked up")
		c.Log("warning", map[string]int{"n": 1})
		i, _ := worker.InvocationFromContext(ctx)
		return worker.JSON(i.ID + " " + i.Session + " " + i.Client.Name)
	})
	_, r := call(t, handler(t, a), functionapp.Invocation{Function: "t", Context: functionapp.Context{Name: "t", Session: "s1", Client: functionapp.Client{Name: "code"}}})
	got, err := functionapp.ReadResult(r.ReturnValue, true)
	if err != nil || string(got.Blocks[0].Text) != "call-1 s1 code" {
		t.Errorf("%s %v", got.Blocks[0].Text, err)
	}
	if diff := cmp.Diff([]string{"info: looked up", `warning: {"n":1}`}, r.Logs); diff != "" {
		t.Error(diff)
	}
}

func TestResourcesAndPrompts(t *testing.T) {
	a := worker.New(worker.Options{})
	a.Resource("shop://book/{id}", "book").WithMedia("text/plain").Read(func(_ context.Context, uri string, _ *tenon.Call) ([]tenon.Content, error) {
		if strings.HasSuffix(uri, "/0") {
			return nil, &tenon.Error{Code: tenon.CodeNotFound, Message: "no such book"}
		}
		return []tenon.Content{{Type: tenon.EmbeddedResource, Text: []byte("about " + uri)}}, nil
	})
	a.Resource("shop://all", "all").Read(func(context.Context, string, *tenon.Call) ([]tenon.Content, error) { return nil, nil })
	a.Prompt("ask").WithArgument(tenon.PromptArgument{Name: "who", Required: true}).WithArgument(tenon.PromptArgument{Name: "n"}).
		Get(func(_ context.Context, args map[string]string, _ *tenon.Call) ([]tenon.PromptMessage, error) {
			return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Text: []byte(args["who"] + args["n"])}}}, nil
		})
	a.Prompt("panics").Get(func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) { panic("secret") })
	h := handler(t, a)

	if status, r := call(t, h, functionapp.Invocation{Function: "prompt_panics", Context: functionapp.Context{Name: "panics"}}); status != 500 || !strings.Contains(r.Logs[0], "incident") || strings.Contains(r.Logs[0], "secret") {
		t.Errorf("%d %q", status, r.Logs)
	}
	_, r := call(t, h, functionapp.Invocation{Function: "resource_book", Type: functionapp.ResourceTrigger, Context: functionapp.Context{URI: "shop://book/1"}})
	got, err := functionapp.ReadContents(r.ReturnValue, "", "")
	want := []tenon.Content{{Type: tenon.EmbeddedResource, URI: "shop://book/1", MediaType: "text/plain", Text: []byte("about shop://book/1")}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if status, r := call(t, h, functionapp.Invocation{Function: "resource_book", Type: functionapp.ResourceTrigger, Context: functionapp.Context{URI: "shop://book/0"}}); status != 404 || cmp.Diff(r.Logs, []string{"no such book"}) != "" {
		t.Errorf("%d %q", status, r.Logs)
	}
	if status, r := call(t, h, functionapp.Invocation{Function: "resource_all", Type: functionapp.ResourceTrigger, Context: functionapp.Context{URI: "shop://all"}}); status != 500 || !strings.Contains(r.Logs[0], "returned 0 blocks") {
		t.Errorf("%d %q", status, r.Logs)
	}

	_, r = call(t, h, functionapp.Invocation{Function: "prompt_ask", Type: functionapp.PromptTrigger, Context: functionapp.Context{Name: "ask", Arguments: []byte(`{"who":"a","n":[1]}`)}})
	messages, err := functionapp.ReadMessages(r.ReturnValue, true)
	if err != nil || len(messages) != 1 || string(messages[0].Content.Text) != "a[1]" {
		t.Errorf("%v %v", messages, err)
	}
	if status, r := call(t, h, functionapp.Invocation{Function: "prompt_ask", Type: functionapp.PromptTrigger, Context: functionapp.Context{Name: "ask", Arguments: []byte(`{"who":null}`)}}); status != 500 || !strings.Contains(r.Logs[0], "the argument who is missing") {
		t.Errorf("%d %q", status, r.Logs)
	}
}
