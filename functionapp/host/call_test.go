package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
)

const temperature = `{"type":"object","properties":{"t":{"type":"number"}},"required":["t"]}`

// TestWhatAFunctionReturns: every form of a result, with and without a schema,
// becomes content, structured content or a clear error.
func TestWhatAFunctionReturns(t *testing.T) {
	output := schemaOf(t, temperature)
	g, _ := serve(t, newApp(t, "plain",
		functionapp.Tool{Name: "Say"},
		functionapp.Tool{Name: "Say_enveloped", Envelope: true},
		functionapp.Tool{Name: "Say_promised", Output: output},
		functionapp.Tool{Name: "Say_both", Output: output, Envelope: true},
	), host.Options{})
	whole := func(result string) string { return envelope("call_tool_result", result, "") }
	const violation = "Error executing tool %s: This call was executed and must not be repeated as it is. The response of %s violates its schema: "
	tests := []struct {
		name, tool string
		returned   any
		want       outcome
	}{
		{"text", "say", "hello", outcome{Text: "hello", Verdict: "unchecked"}},
		{"nothing", "say", nil, outcome{Verdict: "unchecked"}},
		{"a number", "say", 42, outcome{Text: "42", Verdict: "unchecked"}},
		{"an object is text where nothing is promised", "say", map[string]int{"t": 1}, outcome{Text: `{"t":1}`, Verdict: "unchecked"}},
		{"an envelope in a string that is none", "say", envelope("text", "x", ""), outcome{Text: `{"content":"x","type":"text"}`, Verdict: "unchecked"}},

		{"one block", "say_enveloped", envelope("text", `{"type":"text","text":"hi"}`, ""), outcome{Text: "hi", Verdict: "unchecked"}},
		{"a picture", "say_enveloped", envelope("image", `{"type":"image","data":"cGlj","mimeType":"image/png"}`, ""), outcome{Text: "1:image/png:pic", Verdict: "unchecked"}},
		{"several blocks", "say_enveloped", envelope("multi_content_result", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, ""), outcome{Text: "a|b", Verdict: "unchecked"}},
		{"structured content without a promise", "say_enveloped", envelope("text", `{"type":"text","text":"hi"}`, `{"any":1}`), outcome{Text: "hi", Structured: `{"any":1}`, Verdict: "unchecked"}},
		{"a whole result without content", "say_enveloped", whole(`{"content":[],"structuredContent":{"any":1}}`), outcome{Text: `{"any":1}`, Structured: `{"any":1}`, Verdict: "unchecked"}},
		{"no envelope where one is due", "say_enveloped", 42, outcome{
			Text: "Error executing tool say_enveloped: This call was executed and must not be repeated as it is. what the function Say_enveloped returned cannot be used: expected JSON string", IsError: true, Verdict: "unchecked",
		}},
		{"no blocks in an envelope for several", "say_enveloped", envelope("multi_content_result", `[]`, ""), outcome{
			Text: "Error executing tool say_enveloped: This call was executed and must not be repeated as it is. what the function Say_enveloped returned cannot be used: content: failed", IsError: true, Verdict: "unchecked",
		}},

		{"text that is the promised JSON", "say_promised", `{"t":1.50}`, outcome{Text: `{"t":1.50}`, Structured: `{"t":1.50}`, Verdict: "fits"}},
		{"an object that is promised", "say_promised", map[string]int{"t": 1}, outcome{Text: `{"t":1}`, Structured: `{"t":1}`, Verdict: "fits"}},
		{"text that is other JSON is kept beside the error", "say_promised", `{"t":"warm"}`, outcome{
			Text: strings.ReplaceAll(violation, "%s", "say_promised") + "t: expected number|" + `{"t":"warm"}`, IsError: true, Verdict: "violated",
		}},
		{"text that is no JSON is kept beside the error", "say_promised", "warm", outcome{
			Text: strings.ReplaceAll(violation, "%s", "say_promised") + "expected application/json, got text/plain|warm", IsError: true, Verdict: "undeclared",
		}},

		{"structured content that fits", "say_both", envelope("text", `{"type":"text","text":"20 degrees"}`, `{"t":20}`), outcome{Text: "20 degrees", Structured: `{"t":20}`, Verdict: "fits"}},
		{"structured content that does not fit", "say_both", envelope("text", `{"type":"text","text":"20 degrees"}`, `{"t":"20"}`), outcome{
			Text: strings.ReplaceAll(violation, "%s", "say_both") + "t: expected number|20 degrees", IsError: true, Verdict: "violated",
		}},
		{"an error keeps its content and has no value", "say_both", whole(`{"content":[{"type":"text","text":"no such town"}],"isError":true,"structuredContent":{"t":"?"}}`), outcome{
			Text: "This call was executed and must not be repeated as it is.|no such town", IsError: true, Verdict: "unchecked",
		}},
		{"two texts and no value", "say_both", envelope("multi_content_result", `[{"type":"text","text":"{\"t\":1}"},{"type":"text","text":"b"}]`, ""), outcome{
			Text: strings.ReplaceAll(violation, "%s", "say_both") + "expected application/json, got no body|" + `{"t":1}|b`, IsError: true, Verdict: "undeclared",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args, err := json.Marshal(map[string]any{"return": tt.returned})
			if err != nil {
				t.Fatal(err)
			}
			got := call(t, g, tt.tool, string(args))
			tt.want.Executed = "yes"
			if first, _, found := strings.Cut(tt.want.Text, "|"); tt.want.IsError && found || strings.HasPrefix(first, "Error") {
				got.Text = shorten(got.Text, first)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// shorten cuts the first block of a text to its beginning.
func shorten(text, beginning string) string {
	if rest, found := strings.CutPrefix(text, beginning); found {
		if i := strings.IndexByte(rest, '|'); i >= 0 {
			return beginning + rest[i:]
		}
		return beginning
	}
	return text
}

// TestThePayload: what a worker is sent, to the letter.
func TestThePayload(t *testing.T) {
	dir := newApp(t, "plain", functionapp.Tool{Name: "Payload"}, functionapp.Tool{Name: "Headers"})
	write(t, dir, "Payload/function.json", `{"bindings":[
		{"name":"context","type":"mcpToolTrigger","direction":"in","toolName":"payload","description":"","toolProperties":"[]"},
		{"name":"town","type":"mcpToolProperty","direction":"in","propertyName":"place","propertyType":"string","description":"","isRequired":false},
		{"name":"far","type":"mcpToolProperty","direction":"in","propertyName":"days","propertyType":"integer","description":"","isRequired":false},
		{"name":"none","type":"mcpToolProperty","direction":"in","propertyName":"other","propertyType":"string","description":"","isRequired":false}]}`)
	g, _ := serve(t, dir, host.Options{})
	res := call(t, g, "payload", `{ "place": "Rom\u0000 \"x\" </script> 🙂", "days": 12345678901234567890 }`)
	var sent struct{ Data map[string]string }
	if err := json.Unmarshal([]byte(res.Text), &sent); err != nil {
		t.Fatal(err, res.Text)
	}
	unwrap := func(s string) (inner string) {
		if err := json.Unmarshal([]byte(s), &inner); err != nil {
			t.Fatal(err, s)
		}
		return inner
	}
	c, err := functionapp.ReadContext([]byte(unwrap(sent.Data["context"])))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "payload" || c.Transport.Name != "unknown" || len(c.Session) != 32 {
		t.Errorf("got %+v", c)
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		t.Fatal(err)
	}
	if got := string(args["days"]); got != "12345678901234567890" {
		t.Errorf("days: %s", got)
	}
	inputs := map[string]string{"town": unwrap(sent.Data["town"]), "far": unwrap(sent.Data["far"]), "none": unwrap(sent.Data["none"])}
	want := map[string]string{"town": "Rom\x00 \"x\" </script> 🙂", "far": "12345678901234567890", "none": ""}
	if diff := cmp.Diff(want, inputs); diff != "" {
		t.Error(diff)
	}
	if got := call(t, g, "headers", "{}").Text; got != "application/json; charset=utf-8|true|Azure-Functions-Host/4.0.0" {
		t.Error(got)
	}
}

// TestTheWorkerLearnsWhoCalls: what a client says of itself stands in the
// context, as text of a bounded length or not at all.
func TestTheWorkerLearnsWhoCalls(t *testing.T) {
	dir := newApp(t, "plain", functionapp.Tool{Name: "Payload"})
	g, _ := serve(t, dir, host.Options{})
	for client, want := range map[string]functionapp.Client{
		"":                                     {},
		`{"name":"vscode","version":"1.99.0"}`: {Name: "vscode", Version: "1.99.0"},
		`{"name":"vscode"}`:                    {Name: "vscode"},
		`{"name":7,"version":[]}`:              {},
		`[1]`:                                  {},
		`{"name":"` + strings.Repeat("ä", 500) + `"}`: {Name: strings.Repeat("ä", 100)},
	} {
		res, err := g.Call(t.Context(), &tenon.Call{Tool: "payload", Args: []byte(`{}`), Client: []byte(client)})
		if err != nil {
			t.Fatal(err)
		}
		var sent struct{ Data map[string]string }
		if err := json.Unmarshal([]byte(read(t, res).Text), &sent); err != nil {
			t.Fatal(err)
		}
		c, err := functionapp.ReadContext([]byte(sent.Data["context"]))
		if err != nil || c.Client != want {
			t.Errorf("%.50s: %+v, %v", client, c.Client, err)
		}
	}
}

func TestTheEnvironmentIsTheApps(t *testing.T) {
	t.Setenv("HOST_TEST_SECRET", "ours")
	dir := newApp(t, "plain", functionapp.Tool{Name: "Env"})
	write(t, dir, "local.settings.json", `{"IsEncrypted":false,"Values":{"SHOP":"from the app","KEY":"from the app","N":5}}`)
	g, _ := serve(t, dir, host.Options{Environ: []string{"KEY=from the operator"}})
	var environ []string
	if err := json.Unmarshal([]byte(call(t, g, "env", "{}").Text), &environ); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "FUNCTIONS_") {
			got[name] = value
		}
	}
	if diff := cmp.Diff(map[string]string{"SHOP": "from the app", "KEY": "from the operator", "N": "5"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWrongArgumentsReachNoWorker(t *testing.T) {
	dir := newApp(t, "never listen", functionapp.Tool{Name: "Echo", Properties: []functionapp.Property{
		{Name: "place", Type: "string", Required: true}, {Name: "any", Type: "mystery", Required: true},
	}})
	g, _ := serve(t, dir, host.Options{})
	for args, want := range map[string]string{
		`{}`:                       "Invalid arguments: ",
		`{"place":7,"any":1}`:      "Invalid arguments: place: expected string",
		`{"place":"x","any":null}`: "these arguments are required and must not be null: any",
	} {
		got := call(t, g, "echo", args)
		if !got.IsError || got.Executed != "no" || !strings.Contains(got.Text, want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestAReadOnlyToolChangesNothing(t *testing.T) {
	g, _ := serve(t, newApp(t, "plain", functionapp.Tool{Name: "Status", Annotations: []byte(`{"readOnlyHint":true}`)}), host.Options{})
	if got := call(t, g, "status", "{}"); got.Executed != "yes" {
		t.Errorf("%+v", got)
	}
	res, err := g.Call(context.Background(), &tenon.Call{Tool: "status"})
	if err != nil || !strings.Contains(string(res.Meta), `"retry":"safe"`) {
		t.Error(string(res.Meta), err)
	}
}

// TestAReadOnlyToolsOwnContract: what its worker says of a call is said to the
// caller, and no request that can change something is told of.
func TestAReadOnlyToolsOwnContract(t *testing.T) {
	g, _ := serve(t, newApp(t, "plain", functionapp.Tool{Name: "Say_enveloped", Envelope: true, Annotations: []byte(`{"readOnlyHint":true}`)}), host.Options{})
	for _, executed := range []string{"no", "yes", "unknown"} {
		result := fmt.Sprintf(`{"content":[{"type":"text","text":"x"}],"_meta":{"tenon/contract":{"verdict":"fits","executed":%q,"retry":"safe"}}}`, executed)
		args, _ := json.Marshal(map[string]any{"return": envelope("call_tool_result", result, "")})
		res, err := g.Call(t.Context(), &tenon.Call{Tool: "say_enveloped", Args: args})
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, res); got.Executed != executed || !strings.Contains(string(res.Meta), `"retry":"safe"`) {
			t.Errorf("%s: %+v, %s", executed, got, res.Meta)
		}
		resp, err := g.Catalog().Find("say_enveloped").Tool().Handler(t.Context(), &tenon.Call{Tool: "say_enveloped", Args: args})
		if err != nil || resp.Execution.Unsafe != tenon.NotSent {
			t.Errorf("%s: %+v, %v", executed, resp.Execution, err)
		}
	}
}

func TestAFunctionHasItsOwnTime(t *testing.T) {
	dir := newApp(t, "plain", functionapp.Tool{Name: "Hang"})
	write(t, dir, "host.json", strings.Replace(hostFile("plain", 0), `"version"`, `"functionTimeout":"00:00:01","version"`, 1))
	g, _ := serve(t, dir, host.Options{})
	began := time.Now()
	got := call(t, g, "hang", "{}")
	if !got.IsError || got.Executed != "unknown" || !strings.Contains(got.Text, "did not answer in time") || time.Since(began) > 15*time.Second {
		t.Errorf("%+v", got)
	}
}

// TestAWorkersOwnContract: what a worker with a gateway of its own says of a
// call is said once, as it said it.
func TestAWorkersOwnContract(t *testing.T) {
	g, _ := serve(t, newApp(t, "plain", functionapp.Tool{Name: "Say_enveloped", Envelope: true}), host.Options{})
	for executed, sentence := range map[string]string{
		"no":      "",
		"yes":     "This call was executed and must not be repeated as it is. ",
		"unknown": "It is not known whether this call was executed: it must not be repeated before that is checked. ",
	} {
		for _, failed := range []bool{true, false} {
			said := "Error executing tool say: " + sentence + "it broke"
			result := fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":%v,"_meta":{"k":1,"tenon/contract":{"verdict":"violated","executed":%q,"retry":"unsafe","violations":[{"path":"/t"}]}}}`, said, failed, executed)
			args, _ := json.Marshal(map[string]any{"return": envelope("call_tool_result", result, "")})
			res, err := g.Call(t.Context(), &tenon.Call{Tool: "say_enveloped", Args: args})
			if err != nil {
				t.Fatal(err)
			}
			got := read(t, res)
			if got.IsError != failed || got.Executed != executed || got.Text != said || strings.Count(string(res.Meta), "tenon/contract") != 1 {
				t.Errorf("%s, failed %v: %+v, %s", executed, failed, got, res.Meta)
			}
			if failed && !strings.Contains(string(res.Meta), `"path":"/t"`) {
				t.Errorf("what the worker found is lost: %s", res.Meta)
			}
		}
	}
}
