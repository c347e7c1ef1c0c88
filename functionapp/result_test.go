package functionapp_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
)

func quoted(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// envelope is what a function with useResultSchema returns.
func envelope(t testing.TB, kind, content, structured string) string {
	t.Helper()
	text := `{"type":` + quoted(t, kind) + `,"content":` + quoted(t, content)
	if structured != "" {
		text += `,"structuredContent":` + quoted(t, structured)
	}
	return quoted(t, text+"}")
}

func textBlock(s string) tenon.Content { return tenon.Content{Text: []byte(s)} }

// TestResults is the table of the host's binders: what a function returns, and
// what becomes of it.
func TestResults(t *testing.T) {
	const block = `{"type":"text","text":"hello"}`
	none := functionapp.Result{Blocks: []tenon.Content{}}
	hello := functionapp.Result{Blocks: []tenon.Content{textBlock("hello")}}
	for _, tt := range []struct {
		name, value string
		simple      bool
		want        functionapp.Result
		err         string
	}{
		{name: "null", value: `null`, want: none},
		{name: "nothing", value: ``, want: none},
		{name: "a number", value: `42`, err: "expected JSON string"},
		{name: "an object", value: `{"type":"text"}`, err: "expected JSON string"},
		{name: "a string that is no JSON", value: `"hello"`, err: "the envelope is not JSON"},
		{name: "a list in a string", value: `"[]"`, err: "the envelope is not a JSON object"},
		{name: "no type", value: quoted(t, `{"content":"{}"}`), err: "type: is missing or blank"},
		{name: "a text", value: envelope(t, "text", block, ""), want: hello},
		{name: "the type in another case, and one that lies: the block's own counts", value: envelope(t, "IMAGE", block, ""), want: hello},
		{name: "keys in another case", value: quoted(t, `{"Type":"text","Content":`+quoted(t, block)+`}`), want: hello},
		{
			name: "an image", value: envelope(t, "image", `{"type":"image","data":"AQI=","mimeType":"image/png"}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{Type: tenon.ImageContent, Data: []byte{1, 2}, MediaType: "image/png"}}},
		},
		{
			name: "an image without padding", value: envelope(t, "image", `{"type":"image","data":"AQI","mimeType":"image/png"}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{Type: tenon.ImageContent, Data: []byte{1, 2}, MediaType: "image/png"}}},
		},
		{
			name: "a sound", value: envelope(t, "audio", `{"type":"audio","data":"AQI=","mimeType":"audio/wav"}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{Type: tenon.AudioContent, Data: []byte{1, 2}, MediaType: "audio/wav"}}},
		},
		{
			name: "a resource", value: envelope(t, "resource", `{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":""}}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{Type: tenon.EmbeddedResource, URI: "a:b", MediaType: "text/plain", Text: []byte{}}}},
		},
		{
			name: "a resource with bytes", value: envelope(t, "resource", `{"type":"resource","resource":{"uri":"a:b","blob":"AQI="}}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{Type: tenon.EmbeddedResource, URI: "a:b", Data: []byte{1, 2}}}},
		},
		{
			name: "a link", value: envelope(t, "resource_link", `{"type":"resource_link","uri":"a:b","name":"n"}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{Type: tenon.ResourceLink, URI: "a:b", Name: "n"}}},
		},
		{
			name: "a link with all that it can have", value: envelope(t, "resource_link", `{"type":"resource_link","uri":"a:b","name":"n","title":"T","description":"D","mimeType":"text/csv","size":12,"annotations":{ "priority":0.50 },"_meta":{"k":[1]}}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{
				Type: tenon.ResourceLink, URI: "a:b", Name: "n", Title: "T", Description: "D", MediaType: "text/csv", Size: 12,
				Annotations: []byte(`{"priority":0.50}`), Meta: []byte(`{"k":[1]}`),
			}}},
		},
		{
			name: "a text with annotations", value: envelope(t, "text", `{"type":"text","text":"x","annotations":{"audience":["user"]}}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{Text: []byte("x"), Annotations: []byte(`{"audience":["user"]}`)}}},
		},
		{
			name: "what is no object or size is left out", value: envelope(t, "resource_link", `{"type":"resource_link","uri":"a:b","name":"n","size":1.5,"annotations":[1],"_meta":"x"}`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{{Type: tenon.ResourceLink, URI: "a:b", Name: "n"}}},
		},
		{
			name: "structured content beside a text", value: envelope(t, "text", block, `{ "t": 20 }`),
			want: functionapp.Result{Blocks: hello.Blocks, Structured: []byte(`{"t":20}`)},
		},
		{
			name: "structured content that is no object", value: envelope(t, "text", block, `[1]`),
			want: functionapp.Result{Blocks: hello.Blocks, Structured: []byte(`[1]`)},
		},
		{name: "structured content that is no JSON", value: envelope(t, "text", block, `{`), err: "structuredContent: "},
		{name: "structured content that is null", value: envelope(t, "text", block, `null`), err: "structuredContent: is null"},
		{
			name: "several blocks, in order", value: envelope(t, "Multi_Content_Result", `[`+block+`,{"type":"image","data":"","mimeType":"image/png"},`+block+`]`, ""),
			want: functionapp.Result{Blocks: []tenon.Content{textBlock("hello"), {Type: tenon.ImageContent, Data: []byte{}, MediaType: "image/png"}, textBlock("hello")}},
		},
		{name: "no blocks", value: envelope(t, "multi_content_result", `[]`, ""), err: "no content items"},
		{name: "a block of an unknown type among several", value: envelope(t, "multi_content_result", `[`+block+`,{"type":"video"}]`, ""), err: `there is no content block of type "video"`},
		{name: "a list for one block", value: envelope(t, "text", `[]`, ""), err: "a content block must be an object with a type"},
		{
			name:  "a whole result",
			value: envelope(t, "call_tool_result", `{"content":[`+block+`],"structuredContent":{"n":9007199254740993},"isError":true,"_meta":{"k":1}}`, ""),
			want:  functionapp.Result{Blocks: hello.Blocks, Structured: []byte(`{"n":9007199254740993}`), IsError: true, Meta: []byte(`{"k":1}`)},
		},
		{
			name:  "a whole result: the envelope's own structured content is not looked at",
			value: envelope(t, "CALL_TOOL_RESULT", `{"content":[]}`, `{"not":"this"}`),
			want:  none,
		},
		{name: "a whole result without content", value: envelope(t, "call_tool_result", `{}`, ""), want: none},
		{name: "a whole result that is a list", value: envelope(t, "call_tool_result", `[]`, ""), err: "must be a result object"},
		{name: "no content", value: quoted(t, `{"type":"text"}`), err: "failed to deserialize content for type 'text'"},
		{name: "content that is the text null", value: envelope(t, "text", `null`, ""), err: "failed to deserialize content for type 'text'"},
		{name: "content that is no JSON", value: envelope(t, "audio", `{`, ""), err: "failed to deserialize content for type 'audio'"},
		{name: "data that is no base64", value: envelope(t, "image", `{"type":"image","data":"?"}`, ""), err: "data must be a string in base64"},

		{name: "simple: a string", simple: true, value: `"hel\u006co"`, want: hello},
		{name: "simple: a number", simple: true, value: `42`, want: functionapp.Result{Blocks: []tenon.Content{textBlock("42")}}},
		{name: "simple: an object", simple: true, value: `{ "a": 1 }`, want: functionapp.Result{Blocks: []tenon.Content{textBlock(`{"a":1}`)}}},
		{name: "simple: null", simple: true, value: `null`, want: none},
		{name: "simple: an envelope is text", simple: true, value: quoted(t, block), want: functionapp.Result{Blocks: []tenon.Content{textBlock(block)}}},
		{name: "no JSON at all", simple: true, value: `"`, err: "what the function returned is not JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := functionapp.ReadResult([]byte(tt.value), !tt.simple)
			if tt.err != "" {
				if !strings.Contains(said(err), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			again, err := functionapp.ReadResult(functionapp.AppendResult(nil, got), true)
			if diff := cmp.Diff(got, again); err != nil || diff != "" {
				t.Errorf("written and read again: %v %s", err, diff)
			}
		})
	}
}

// TestTextSurvivesAllLayers sends what is awkward through the four layers of
// JSON in which a result stands.
func TestTextSurvivesAllLayers(t *testing.T) {
	for _, s := range []string{
		`"quotes" and \backslashes\`, "line\nbreak\ttab\x00", "</script>", "emoji 🐟 and \u2028", `{"looks":"like JSON"}`, strings.Repeat("long\n", 200<<10),
	} {
		in := functionapp.Result{Blocks: []tenon.Content{textBlock(s)}, Structured: []byte(`{"s":` + quoted(t, s[:min(len(s), 40)]) + `}`)}
		body := functionapp.Response{Logs: []string{s[:min(len(s), 40)]}, ReturnValue: functionapp.AppendResult(nil, in)}.Append(nil)
		if !json.Valid(body) {
			t.Fatalf("no JSON: %.100q", s)
		}
		r, err := functionapp.ReadResponse(body)
		if err != nil {
			t.Fatal(err)
		}
		out, err := functionapp.ReadResult(r.ReturnValue, true)
		if err != nil || string(out.Blocks[0].Text) != s || string(out.Structured) != string(in.Structured) {
			t.Errorf("%.100q became %.100q: %v", s, out.Blocks[0].Text, err)
		}
	}
}

func TestContentsOfResources(t *testing.T) {
	resource := func(uri, media, s string) []tenon.Content {
		return []tenon.Content{{Type: tenon.EmbeddedResource, URI: uri, MediaType: media, Text: []byte(s)}}
	}
	for _, tt := range []struct {
		name, value string
		want        []tenon.Content
		err         string
	}{
		{name: "null", value: `null`},
		{name: "text", value: `"plain"`, want: resource("a:b", "text/x", "plain")},
		{name: "text that is JSON", value: `"{\"a\":1}"`, want: resource("a:b", "text/x", `{"a":1}`)},
		{name: "text that looks like an envelope", value: quoted(t, `{"content":"hello"}`), want: resource("a:b", "text/x", `{"content":"hello"}`)},
		{name: "an envelope", value: quoted(t, `{"content":"{\"uri\":\"c:d\",\"mimeType\":\"text/y\",\"text\":\"t\"}"}`), want: resource("c:d", "text/y", "t")},
		{name: "an envelope that leaves open where it is from", value: quoted(t, `{"Content":"{\"uri\":\"\",\"text\":\"t\"}"}`), want: resource("a:b", "text/x", "t")},
		{name: "bytes", value: quoted(t, `{"content":"{\"blob\":\"AQI=\"}"}`), want: []tenon.Content{{Type: tenon.EmbeddedResource, URI: "a:b", MediaType: "text/x", Data: []byte{1, 2}}}},
		{name: "contents without anything", value: quoted(t, `{"content":"{}"}`), err: "the contents of a resource must have a text or a blob"},
		{name: "a number", value: `1`, err: "expected a string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := functionapp.ReadContents([]byte(tt.value), "a:b", "text/x")
			if tt.err != "" || err != nil {
				if tt.err == "" || !strings.Contains(said(err), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			for _, b := range got {
				again, err := functionapp.ReadContents(functionapp.AppendContents(nil, b), "", "")
				if diff := cmp.Diff(got, again); err != nil || diff != "" {
					t.Errorf("written and read again: %v %s", err, diff)
				}
			}
		})
	}
}

func TestMessagesOfPrompts(t *testing.T) {
	const list = `[{"role":"user","content":{"type":"text","text":"q"}},{"role":"assistant","content":{"type":"text","text":"a"}}]`
	both := []tenon.PromptMessage{{Role: "user", Content: textBlock("q")}, {Role: "assistant", Content: textBlock("a")}}
	for _, tt := range []struct {
		name, value string
		simple      bool
		want        []tenon.PromptMessage
		err         string
	}{
		{name: "null", value: `null`},
		{name: "a whole result", value: envelope(t, "get_prompt_result", `{"description":"d","messages":`+list+`}`, ""), want: both},
		{name: "messages", value: envelope(t, "Prompt_Messages", list, ""), want: both},
		{name: "no messages", value: envelope(t, "prompt_messages", `[]`, ""), want: []tenon.PromptMessage{}},
		{name: "another type", value: envelope(t, "text", `{}`, ""), err: "unknown prompt result type: 'text'"},
		{name: "no list", value: envelope(t, "get_prompt_result", `{}`, ""), err: "content: must have a list of messages"},
		{name: "no content", value: quoted(t, `{"type":"prompt_messages"}`), err: "content: is missing or blank"},
		{name: "a role that does not exist", value: envelope(t, "prompt_messages", `[{"role":"system"}]`, ""), err: `must have the role "user" or "assistant"`},
		{name: "an object", value: `{}`, err: "expected JSON string"},
		{name: "simple", simple: true, value: `"q"`, want: both[:1]},
		{name: "simple, and no string", simple: true, value: `[1]`, want: []tenon.PromptMessage{{Role: "user", Content: textBlock("[1]")}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := functionapp.ReadMessages([]byte(tt.value), !tt.simple)
			if tt.err != "" || err != nil {
				if tt.err == "" || !strings.Contains(said(err), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if len(got) == 0 {
				return
			}
			again, err := functionapp.ReadMessages(functionapp.AppendMessages(nil, got), true)
			if diff := cmp.Diff(got, again); err != nil || diff != "" {
				t.Errorf("written and read again: %v %s", err, diff)
			}
		})
	}
}

func TestResponses(t *testing.T) {
	r, err := functionapp.ReadResponse([]byte(`{"outputs":{"o":1},"LOGS":["a",{"b":2}],"returnValue":"x","other":1}`))
	want := functionapp.Response{Outputs: []byte(`{"o":1}`), Logs: []string{"a", `{"b":2}`}, ReturnValue: []byte(`"x"`)}
	if diff := cmp.Diff(want, r); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for body, want := range map[string]string{
		``:               "the worker's answer is not JSON: offset 0: the input ends, expected a value",
		`[]`:             "the worker's answer is not a JSON object",
		`{"Logs":"x"}`:   "Logs: must be a list of lines",
		`{"Outputs":[]}`: "Outputs: must be an object",
	} {
		if _, err := functionapp.ReadResponse([]byte(body)); said(err) != want {
			t.Errorf("%s: %v; want %s", body, err, want)
		}
	}
}

// TestALogWithoutEnd: of the log in an answer the first lines are read, each up
// to a length.
func TestALogWithoutEnd(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	r, err := functionapp.ReadResponse([]byte(`{"Logs":["` + long + `"` + strings.Repeat(",1", 1<<20) + `]}`))
	if err != nil || len(r.Logs) != 1000 {
		t.Fatalf("%d lines, %v", len(r.Logs), err)
	}
	if line := r.Logs[0]; len(line) > 8<<10 || !strings.HasPrefix(long, strings.TrimSuffix(line, "…")) {
		t.Errorf("the first line has %d bytes", len(line))
	}
	if line := r.Logs[999]; line != "1047578 more lines were left out" {
		t.Error(line)
	}
}

// TestManyValues: an answer's value may have as many values as its bytes hold, and
// takes no more memory for them; what says what it is may not.
func TestManyValues(t *testing.T) {
	flat := "[" + strings.Repeat("1,", 3<<20) + "1]"
	body := []byte(`{"Logs":[],"ReturnValue":` + flat + `}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := functionapp.ReadResponse(body)
	if err == nil {
		_, err = functionapp.ReadResult(r.ReturnValue, false)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; err != nil || taken > uint64(6*len(body)) {
		t.Errorf("%d bytes are read with %d: %v", len(body), taken, err)
	}
	for name, value := range map[string]string{
		"structured":  envelope(t, "text", `{"type":"text","text":"x"}`, `{"a":`+flat+`}`),
		"call result": envelope(t, "call_tool_result", `{"content":[],"structuredContent":{"a":`+flat+`}}`, ""),
	} {
		if r, err := functionapp.ReadResult([]byte(value), true); err != nil || len(r.Structured) != len(flat)+6 {
			t.Errorf("%s: %d bytes, %v", name, len(r.Structured), err)
		}
	}
	for name, value := range map[string]string{
		"a block": envelope(t, "text", `{"type":"text","text":"x","more":`+flat+`}`, ""),
		"blocks":  envelope(t, "multi_content_result", flat, ""),
		"_meta":   envelope(t, "call_tool_result", `{"content":[],"_meta":{"a":`+flat+`}}`, ""),
	} {
		if _, err := functionapp.ReadResult([]byte(value), true); err == nil || !strings.Contains(err.Error(), "more than 1048576 values") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
