package server_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/server"
)

// verdict is what a rule leads to: an HTTP status, and the code of an error.
type verdict struct {
	status int
	code   int // 0: a result, or nothing
}

func judge(t *testing.T, s *server.Server, r *http.Request) (v verdict, body string) {
	t.Helper()
	w := answer(s, r)
	v.status = w.Code
	if w.Body.Len() == 0 {
		return v, ""
	}
	var m struct {
		Error struct{ Code int }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatalf("the answer is not JSON: %v in %s", err, w.Body)
	}
	v.code = m.Error.Code
	return v, w.Body.String()
}

type rule struct {
	name    string
	request *http.Request
	want    verdict
}

func check(t *testing.T, s *server.Server, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if got, body := judge(t, s, r.request); got != r.want {
				t.Errorf("got %+v, want %+v: %s", got, r.want, body)
			}
		})
	}
}

func TestModernRules(t *testing.T) {
	ok := verdict{status: 200}
	mismatch := verdict{400, -32020}
	call := modernBody("tools/call", `"name":"greet"`)
	version, method, name := "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: greet"
	encoded := func(s string) string {
		return "Mcp-Name: =?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
	}
	meta := func(meta string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","_meta":{` + meta + `}}}`
	}
	const v, c = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	check(t, serve(server.Options{}, fixtures()...), []rule{
		{"a request with all that is needed is served", post(call, version, method, name), ok},
		{"clientInfo is optional, and what is unknown in _meta is ignored", post(meta(v+`,`+c+`,"x":{"y":[1]}`), version, method, name), ok},
		{"the version header is missing", post(call, method, name), mismatch},
		{"the version header differs", post(call, "MCP-Protocol-Version: 2025-11-25", method, name), mismatch},
		{"the version header stands there twice", post(call, version, version, method, name), mismatch},
		{"Mcp-Method is missing", post(call, version, name), mismatch},
		{"Mcp-Method differs", post(call, version, "Mcp-Method: tools/list", name), mismatch},
		{"Mcp-Method is compared with its case", post(call, version, "Mcp-Method: Tools/Call", name), mismatch},
		{"names of headers are compared without their case", post(call, "mcp-protocol-version: 2026-07-28", "MCP-METHOD: tools/call", "mcp-name: greet"), ok},
		{"white space around a header is not part of it", post(call, "MCP-Protocol-Version:  2026-07-28 ", "Mcp-Method: \ttools/call", "Mcp-Name:  greet "), ok},
		{"Mcp-Name is missing", post(call, version, method), mismatch},
		{"Mcp-Name is missing, and so is the name", post(modernBody("tools/call", ""), version, method), mismatch},
		{"Mcp-Name differs", post(call, version, method, "Mcp-Name: echo"), mismatch},
		{"Mcp-Name in base64 is decoded before it is compared", post(call, version, method, encoded("greet")), ok},
		{"Mcp-Name in base64 differs", post(call, version, method, encoded("echo")), mismatch},
		{"Mcp-Name in broken base64", post(call, version, method, "Mcp-Name: =?base64?Z3JlZXQ?="), mismatch},
		{"the base64 marker has its case", post(call, version, method, "Mcp-Name: =?BASE64?Z3JlZXQ=?="), mismatch},
		{"Mcp-Name with a character that belongs into base64", post(modernBody("tools/call", `"name":"grüß"`), version, method, "Mcp-Name: grüß"), mismatch},
		{"the same name in base64 gets as far as being unknown", post(modernBody("tools/call", `"name":"grüß"`), version, method, encoded("grüß")), verdict{200, -32602}},
		{"a list needs no Mcp-Name", postModern("tools/list", "", ""), ok},
		{"_meta has no version", post(meta(c), version, method, name), verdict{400, -32602}},
		{"_meta has no client capabilities", post(meta(v), version, method, name), verdict{400, -32602}},
		{"client capabilities are an object", post(meta(v+`,"io.modelcontextprotocol/clientCapabilities":[]`), version, method, name), verdict{400, -32602}},
		{"the version in _meta is a string", post(meta(c+`,"io.modelcontextprotocol/protocolVersion":2026`), version, method, name), verdict{400, -32602}},
		{"there is no _meta", post(legacyBody("tools/call", `"name":"greet"`), version, method, name), verdict{400, -32602}},
		{"there are no params", post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, version, "Mcp-Method: tools/list"), verdict{400, -32602}},
		{"a version that nobody knows", post(strings.ReplaceAll(call, "2026-07-28", "2031-01-01"), "MCP-Protocol-Version: 2031-01-01", method, name), verdict{400, -32022}},
		{"a version that begins with initialize", post(strings.ReplaceAll(call, "2026-07-28", "2025-11-25"), "MCP-Protocol-Version: 2025-11-25", method, name), verdict{400, -32022}},
		{"a method that nobody knows", postModern("tools/burn", "", ""), verdict{404, -32601}},
		{"ping went away", postModern("ping", "", ""), verdict{404, -32601}},
		{"initialize went away", postModern("initialize", "", `"protocolVersion":"2025-11-25"`), verdict{404, -32601}},
		{"what is not declared is not served", postModern("resources/list", "", ""), verdict{404, -32601}},
		{"an unknown tool is an error of the protocol", postModern("tools/call", "nobody", `"name":"nobody"`), verdict{200, -32602}},
		{"arguments are an object", postModern("tools/call", "greet", `"name":"greet","arguments":[1]`), verdict{400, -32602}},
		{"null arguments are none", postModern("tools/call", "greet", `"name":"greet","arguments":null`), ok},
		{"a cursor that nobody gave out", postModern("tools/list", "", `"cursor":"AAAA"`), verdict{200, -32602}},
		{"a notification is accepted", post(`{"jsonrpc":"2.0","method":"notifications/x"}`, version), verdict{status: 202}},
		{"a response is not: the server asked nothing", post(`{"jsonrpc":"2.0","id":1,"result":{}}`, version), verdict{400, -32600}},
		{"a session id is ignored", post(call, version, method, name, "Mcp-Session-Id: x", "Last-Event-ID: 3"), ok},
		{"discover works without anything before it", postModern("server/discover", "", ""), ok},
		{"discover without its headers", post(modernBody("server/discover", "")), mismatch},
	})
}

func TestLegacyRules(t *testing.T) {
	ok := verdict{status: 200}
	call := legacyBody("tools/call", `"name":"greet"`)
	check(t, serve(server.Options{}, fixtures()...), []rule{
		{"a request without a version header is of 2025-03-26", post(call), ok},
		{"2025-03-26", post(call, "MCP-Protocol-Version: 2025-03-26"), ok},
		{"2025-06-18", post(call, "MCP-Protocol-Version: 2025-06-18"), ok},
		{"2025-11-25", post(call, "MCP-Protocol-Version: 2025-11-25"), ok},
		{"a version header that nobody knows", post(call, "MCP-Protocol-Version: 1999-01-01"), verdict{400, -32022}},
		{"the other headers are not looked at", post(call, "Mcp-Method: x", "Mcp-Name: y"), ok},
		{"ping", post(legacyBody("ping", "")), ok},
		{"params may be left out", post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), ok},
		{"an unknown method is no broken connection", post(legacyBody("tools/burn", "")), verdict{200, -32601}},
		{"an unknown tool", post(legacyBody("tools/call", `"name":"nobody"`)), verdict{200, -32602}},
		{"a tool without a name", post(legacyBody("tools/call", ``)), verdict{200, -32602}},
		{"arguments are an object", post(legacyBody("tools/call", `"name":"greet","arguments":"x"`)), verdict{200, -32602}},
		{"initialize without a version", post(legacyBody("initialize", ``)), verdict{200, -32602}},
		{"a notification is accepted", post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), verdict{status: 202}},
		{"a response is accepted", post(`{"jsonrpc":"2.0","id":1,"result":{}}`), verdict{status: 202}},
		{"an error is accepted", post(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`), verdict{status: 202}},
	})
}

func TestMessages(t *testing.T) {
	broken, wrong, ok := verdict{400, -32700}, verdict{400, -32600}, verdict{status: 200}
	ping := func(id string) *http.Request { return post(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`) }
	check(t, serve(server.Options{}, fixtures()...), []rule{
		{"an empty body", post(""), broken},
		{"half a message", post(`{"jsonrpc":"2.0","id":1,`), broken},
		{"more than one message", post(legacyBody("ping", "") + legacyBody("ping", "")), broken},
		{"text that is not UTF-8", post("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"), broken},
		{"a control character in a string", post("{\"jsonrpc\":\"2.0\",\"id\":\"a\nb\",\"method\":\"ping\"}"), broken},
		{"an escape that is none", ping(`"\x"`), broken},
		{"an escape with digits that are none", ping(`"\u00g0"`), broken},
		{"an escape with control characters for digits", ping("\"\\u\x10\x11\x12\x13\""), broken},
		{"a number with a leading zero", ping(`01`), broken},
		{"a number without digits", ping(`-`), broken},
		{"a word that is none", ping(`nul`), broken},
		{"a trailing comma", post(`{"jsonrpc":"2.0","id":1,"method":"ping",}`), broken},
		{"nesting as deep as is read", post(legacyBody("ping", `"x":`+strings.Repeat("[", 998)+strings.Repeat("]", 998))), ok},
		{"nesting one deeper", post(legacyBody("ping", `"x":`+strings.Repeat("[", 999)+strings.Repeat("]", 999))), broken},
		{"a batch, in a revision that has none", post(`[`+legacyBody("ping", "")+`]`, "MCP-Protocol-Version: 2025-06-18"), wrong},
		{"no object", post(`"ping"`), wrong},
		{"another JSON-RPC", post(`{"jsonrpc":"1.0","id":1,"method":"ping"}`), wrong},
		{"no jsonrpc", post(`{"id":1,"method":"ping"}`), wrong},
		{"a method that is no string", post(`{"jsonrpc":"2.0","id":1,"method":null}`), wrong},
		{"neither a method nor a result", post(`{"jsonrpc":"2.0","id":1}`), wrong},
		{"params that are no object", post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`), verdict{200, -32602}},
		{"an id that is null", ping(`null`), wrong},
		{"an id with a fraction", ping(`1.0`), wrong},
		{"an id with an exponent", ping(`1e3`), wrong},
		{"an id that is an object", ping(`{}`), wrong},
		{"an id that is true", ping(`true`), wrong},
		{"an empty string is an id", ping(`""`), ok},
		{"members that nobody knows are ignored", post(`{"x":[{}],"jsonrpc":"2.0","id":1,"method":"ping","y":null}`), ok},
		{"names of members may be escaped", post(`{"\u006asonrpc":"2.0","id":1,"met\u0068od":"ping"}`), ok},
		{"a member twice, once escaped", post(`{"jsonrpc":"2.0","id":1,"method":"ping","met\u0068od":"tools/list"}`), wrong},
		{"two ids", post(`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`), wrong},
		{"two names of a tool", post(legacyBody("tools/call", `"name":"greet","name":"echo"`)), wrong},
		{"two versions in _meta", post(legacyBody("ping", modernMeta[:len(modernMeta)-1]+`,"io.modelcontextprotocol/protocolVersion":"x"}`)), wrong},
	})
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	s := serve(server.Options{}, fixtures()...)
	for _, id := range []string{`1`, `-0`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `"a"`, `""`, `"\u0061\/é😀"`, `"` + strings.Repeat("x", 5000) + `"`} {
		w := answer(s, post(`{"method":"ping","id":`+id+`,"jsonrpc":"2.0"}`))
		if want := `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`; w.Body.String() != want {
			t.Errorf("got %s, want %s", w.Body, want)
		}
	}
}

func TestInitializeAnswersTheVersion(t *testing.T) {
	s := serve(server.Options{}, fixtures()...)
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", "x": "2025-11-25",
	} {
		_, body := judge(t, s, post(legacyBody("initialize", `"protocolVersion":"`+asked+`","capabilities":{}`)))
		if !strings.Contains(body, `"result":{"protocolVersion":"`+want+`"`) {
			t.Errorf("asked for %s, want %s: %s", asked, want, body)
		}
	}
}

func TestUnsupportedVersionSaysWhatIs(t *testing.T) {
	s := serve(server.Options{}, fixtures()...)
	_, body := judge(t, s, post(strings.ReplaceAll(modernBody("ping", ""), "2026-07-28", `1\"2`), `MCP-Protocol-Version: 1"2`))
	want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1\"2"}}}`
	if body != want {
		t.Errorf("got %s, want %s", body, want)
	}
}
