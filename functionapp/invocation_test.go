package functionapp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/functionapp"
)

// TestInvocations holds what Azure's host sends, to the byte.
func TestInvocations(t *testing.T) {
	at := time.Date(2026, 11, 21, 14, 0, 0, 5e8, time.UTC)
	for _, tt := range []struct {
		name string
		in   functionapp.Invocation
		want string
	}{
		{
			name: "a tool",
			in: functionapp.Invocation{
				Function: "GetWeather", Binding: "context", Type: functionapp.ToolTrigger, Time: at, ID: "guid",
				Context: functionapp.Context{
					Name: "get_weather", Arguments: []byte(`{"location":"Rome","days":9007199254740993,"now":true,"x":null}`), Session: "s1",
					Client: functionapp.Client{Name: "c", Version: "1"}, Transport: functionapp.Transport{Name: "http-streamable"},
				},
			},
			want: `{"Data":{"context":CTX},"Metadata":{"mcptoolcontext":{"Name":"get_weather","Arguments":{"location":{"ValueKind":3},"days":{"ValueKind":4},"now":{"ValueKind":5},"x":{"ValueKind":7}},"SessionId":"s1"},` +
				`"mcptoolargs":{"location":"Rome","days":"9007199254740993","now":"True","x":""},"mcpsessionid":"\"s1\"","context":CTX,` +
				`"sys":{"MethodName":"GetWeather","UtcNow":"2026-11-21T14:00:00.5Z","RandGuid":"guid"}}}`,
		},
		{
			name: "a resource",
			in: functionapp.Invocation{
				Function: "Book", Binding: "book", Type: functionapp.ResourceTrigger, Time: at, ID: "guid",
				Context: functionapp.Context{URI: "shop://book/1"}, Params: map[string]string{"id": "1"},
			},
			want: `{"Data":{"book":CTX},"Metadata":{"mcpresourceuri":"\"shop://book/1\"","mcpresourcecontext":{"Uri":"shop://book/1","SessionId":""},"id":"\"1\"","book":CTX,` +
				`"sys":{"MethodName":"Book","UtcNow":"2026-11-21T14:00:00.5Z","RandGuid":"guid"}}}`,
		},
		{
			name: "a prompt",
			in: functionapp.Invocation{
				Function: "Ask", Binding: "context", Type: functionapp.PromptTrigger, Time: at, ID: "guid",
				Context: functionapp.Context{Name: "ask", Arguments: []byte(`{"a":"b"}`)},
			},
			want: `{"Data":{"context":CTX},"Metadata":{"mcppromptcontext":{"Name":"ask","Arguments":{"a":{"ValueKind":3}},"SessionId":""},"mcppromptargs":{"a":"b"},"context":CTX,` +
				`"sys":{"MethodName":"Ask","UtcNow":"2026-11-21T14:00:00.5Z","RandGuid":"guid"}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			context := quoted(t, quoted(t, string(tt.in.Context.Append(nil))))
			body := tt.in.Append(nil)
			if diff := cmp.Diff(strings.ReplaceAll(tt.want, "CTX", context), string(body)); diff != "" {
				t.Error(diff)
			}
			got, err := functionapp.ReadInvocation(body, tt.in.Binding)
			if err != nil {
				t.Fatal(err)
			}
			if tt.in.Context.Transport.Name != "" {
				tt.in.Context.Transport.Properties = []byte("{}")
			}
			if diff := cmp.Diff(tt.in.Context, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestContextsAreUnwrapped is how hosts wrap the context of a call, and what
// must not be unwrapped.
func TestContextsAreUnwrapped(t *testing.T) {
	const plain = `{"name":"t","arguments":{"json":"{\"a\":1}","twice":"\"{}\""},"sessionId":"s"}`
	want := functionapp.Context{Name: "t", Arguments: []byte(`{"json":"{\"a\":1}","twice":"\"{}\""}`), Session: "s"}
	for name, value := range map[string]string{
		"not at all": plain,
		"once":       quoted(t, plain),
		"twice":      quoted(t, quoted(t, plain)),
		"thrice":     quoted(t, quoted(t, quoted(t, " "+plain+"\n"))),
	} {
		got, err := functionapp.ReadInvocation([]byte(`{"data":{"Context":`+value+`},"Metadata":5}`), "context")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for _, tt := range []struct{ name, body, want string }{
		{"no JSON", `{`, "the body of the call is not JSON: offset 1: the input ends, expected a key"},
		{"no data", `{}`, "Data: is missing: it holds the value of the trigger"},
		{"data for another trigger", `{"Data":{"x":{}}}`, `Data: has nothing for the trigger "context"`},
		{"a context that is a list", `{"Data":{"context":[]}}`, "the context of the call is not a JSON object"},
		{"a context that is empty", `{"Data":{"context":""}}`, "the context of the call is not JSON: offset 0: the input ends, expected a value"},
		{"wrapped too often", `{"Data":{"context":` + quoted(t, quoted(t, quoted(t, quoted(t, plain)))) + `}}`, "the context of the call is not a JSON object"},
		{"arguments that are a list", `{"Data":{"context":{"arguments":[]}}}`, "arguments: must be an object"},
		{"a name that is a number", `{"Data":{"context":{"name":1}}}`, "name: must be a string"},
		{"a client that is a number", `{"Data":{"context":{"clientinfo":1}}}`, "clientinfo: must be an object"},
		{"a client's name that is a number", `{"Data":{"context":{"clientinfo":{"name":1}}}}`, "clientinfo.name: must be a string"},
	} {
		if _, err := functionapp.ReadInvocation([]byte(tt.body), "context"); said(err) != tt.want {
			t.Errorf("%s: %v; want %s", tt.name, err, tt.want)
		}
	}
}

func TestHostFile(t *testing.T) {
	lookup := func(name string) (string, bool) { return "bin", name == "DIR" }
	for _, tt := range []struct {
		name, text string
		want       functionapp.Host
		err        string
	}{
		{name: "the least", text: `{"version":"2.0"}`},
		{
			name: "all of it",
			text: `{"version":"2.0","functionTimeout":"1.02:03:04","extensionBundle":{"id":"Microsoft.Azure.Functions.ExtensionBundle","version":"[4.*, 5.0.0)"},
				"extensions":{"mcp":{"serverName":"n","serverVersion":"v","instructions":"i","encryptClientState":true,"system":{"webhookAuthorizationLevel":"Anonymous"}}},
				"customHandler":{"description":{"defaultExecutablePath":"w","arguments":["a","b c"],"workingDirectory":"d","useStdErrorStreamForErrorsOnly":false},"enableForwardingHttpRequest":true,"port":8000}}`,
			want: functionapp.Host{
				Server: functionapp.ServerInfo{Name: "n", Version: "v", Instructions: "i"}, Anonymous: true, Timeout: 26*time.Hour + 3*time.Minute + 4*time.Second, Bundle: "[4.*, 5.0.0)",
				Executable: "w", Args: []string{"a", "b c"}, Dir: "d", Port: 8000, Forwards: true, StderrMixed: true,
			},
		},
		{
			name: "keys in capitals, a port in a string, variables of the environment",
			text: `{"Extensions":{"MCP":{"ServerName":"n"}},"CustomHandler":{"Port":"8000","Description":{"DefaultExecutablePath":"%DIR%/w","Arguments":["%OTHER%","100%","%DIR%%DIR%",7]}},"configurationProfile":"mcp-custom-handler"}`,
			want: functionapp.Host{
				Profile: "mcp-custom-handler", Server: functionapp.ServerInfo{Name: "n"}, Port: 8000,
				Executable: "bin/w", Args: []string{"%OTHER%", "100%", "binbin", "7"},
			},
		},
		{name: "no end", text: `{"functionTimeout":"-1"}`, want: functionapp.Host{Timeout: -1}},
		{name: "no JSON", text: `{"version":"2.0",,}`, err: "host.json is not JSON: offset 18: expected a key"},
		{name: "comments and a comma", text: "{ // ours\n\"functionTimeout\":\"00:10:00\", /* enough */ }", want: functionapp.Host{Timeout: 10 * time.Minute}},
		{name: "a span without seconds", text: `{"functionTimeout":"00:10"}`, want: functionapp.Host{Timeout: 10 * time.Minute}},
		{name: "a span of days", text: `{"functionTimeout":"2"}`, want: functionapp.Host{Timeout: 48 * time.Hour}},
		{name: "a span with days", text: `{"functionTimeout":"1.02:03"}`, want: functionapp.Host{Timeout: 26*time.Hour + 3*time.Minute}},
		{name: "a span with a fraction", text: `{"functionTimeout":" 0:10:30.5000000 "}`, want: functionapp.Host{Timeout: 10*time.Minute + 30*time.Second}},
		{name: "a span with days and a fraction", text: `{"functionTimeout":"1.02:03:04.5"}`, want: functionapp.Host{Timeout: 26*time.Hour + 3*time.Minute + 4*time.Second}},
		{name: "three numbers that begin with days", text: `{"functionTimeout":"24:01:30"}`, want: functionapp.Host{Timeout: 24*24*time.Hour + 90*time.Minute}},
		{name: "a day and 24 hours", text: `{"functionTimeout":"1.24:00:00"}`, err: `functionTimeout: "1.24:00:00" is no span of time: take hh:mm:ss, or -1 for no end`},
		{name: "a fraction of minutes", text: `{"functionTimeout":"00:10.5"}`, err: `functionTimeout: "00:10.5" is no span of time: take hh:mm:ss, or -1 for no end`},
		{name: "a port that is none", text: `{"customHandler":{"port":70000}}`, err: "customHandler.port: must be a port, 1 to 65535"},
		{name: "a name that is none", text: `{"extensions":{"mcp":{"serverName":1}}}`, err: "extensions.mcp.serverName: must be a string"},
		{name: "a handler that is none", text: `{"customHandler":"w"}`, err: "customHandler: must be an object"},
		{name: "arguments that are none", text: `{"customHandler":{"description":{"arguments":"a"}}}`, err: "customHandler.description.arguments: must be a list of strings"},
		{name: "a span that is none", text: `{"functionTimeout":"5 minutes"}`, err: `functionTimeout: "5 minutes" is no span of time: take hh:mm:ss, or -1 for no end`},
		{name: "no time at all", text: `{"functionTimeout":"00:00:00"}`, err: `functionTimeout: "00:00:00" is no span of time: take hh:mm:ss, or -1 for no end`},
		{name: "larger than any", text: strings.Repeat(" ", 5<<20), err: "host.json is larger than 4194304 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := functionapp.ParseHost([]byte(tt.text), lookup)
			if said(err) != tt.err {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Executable == "" {
				return
			}
			again, _, err := functionapp.ParseHost(got.Append(nil), nil)
			if diff := cmp.Diff(got, again); err != nil || diff != "" {
				t.Errorf("written and read again: %v %s", err, diff)
			}
		})
	}
}
