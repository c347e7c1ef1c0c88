package server_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/server"
)

// FuzzMeta: whatever stands in _meta, the answer is one valid message, or an
// event stream of valid messages.
func FuzzMeta(f *testing.F) {
	f.Add(`"progressToken":1,"io.modelcontextprotocol/logLevel":"debug"`)
	f.Add(`"progressToken":"a\u0000b","io.modelcontextprotocol/logLevel":"emergency"`)
	f.Add(`"progressToken":[1]`)
	f.Add(`"io.modelcontextprotocol/logLevel":7,"progressToken":null`)
	s := serve(server.Options{}, talker())
	f.Fuzz(func(t *testing.T, meta string) {
		r := post(withMeta("1", "tools/call", `"name":"talk"`, "{}", meta), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: talk")
		wholeMessages(t, answer(s, r))
	})
}

func wholeMessages(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.String()
	if w.Header().Get("Content-Type") != "text/event-stream" {
		if !json.Valid([]byte(body)) {
			t.Errorf("no message: %s", body)
		}
		return
	}
	answers := 0
	for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(event, "event: message\ndata: ")
		var m struct {
			JSONRPC string
			ID      json.RawMessage
		}
		if !ok || strings.ContainsAny(data, "\r\n") || json.Unmarshal([]byte(data), &m) != nil || m.JSONRPC != "2.0" {
			t.Errorf("no event: %q", event)
		}
		if m.ID != nil {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("%d answers in %s", answers, body)
	}
}

// FuzzState: no state that this server did not make is taken for one, and no
// answers make a call panic.
func FuzzState(f *testing.F) {
	s := serve(server.Options{Secret: []byte("shared")}, asker())
	ask := func(params string) *httptest.ResponseRecorder {
		return answer(s, post(withMeta("1", "tools/call", `"name":"ask"`+params, forms, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: ask"))
	}
	state := stateOf(ask("").Body.String())
	f.Add("", `{"who":{"action":"accept","content":{}}}`)
	f.Add("AAAA", `{"who":{"action":"decline"}}`)
	f.Add(state[:len(state)-1], `{}`)
	f.Fuzz(func(t *testing.T, forged, responses string) {
		quoted, err := json.Marshal(forged)
		if err != nil || forged == state {
			t.Skip()
		}
		w := ask(`,"requestState":` + string(quoted) + `,"inputResponses":` + responses)
		wholeMessages(t, w)
		if body := w.Body.String(); strings.Contains(body, `"resultType":"complete"`) {
			t.Errorf("a forged state was taken: %s", body)
		}
		wholeMessages(t, ask(`,"requestState":"`+state+`","inputResponses":`+responses))
	})
}

// FuzzBatch: a batch of any bytes has a valid answer or none.
func FuzzBatch(f *testing.F) {
	f.Add("[]")
	f.Add(`[` + asked("1", "ping", "") + `,` + asked("2", "tools/call", `"name":"talk"`) + `,7]`)
	f.Add(`[[[`)
	f.Add(`[{"jsonrpc":"2.0","id":"tenon-1","result":{}}]`)
	s := serve(server.Options{}, talker(), echo())
	f.Fuzz(func(t *testing.T, body string) {
		w := answer(s, post("["+body, "Accept: ", "Accept: application/json"))
		if w.Code != 202 && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}

// FuzzLastEvent: no id of an event makes a session's stream panic.
func FuzzLastEvent(f *testing.F) {
	f.Add("1-1")
	f.Add("18446744073709551615-9223372036854775807")
	f.Add("0--1")
	s := serve(server.Options{}, talker())
	id := answer(s, post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`))).Header().Get("Mcp-Session-Id")
	answer(s, post(legacyBody("tools/call", `"name":"talk"`), "Mcp-Session-Id: "+id))
	f.Fuzz(func(t *testing.T, last string) {
		if strings.ContainsAny(last, "\r\n\x00") || last == "" {
			t.Skip()
		}
		r := post("", "Mcp-Session-Id: "+id)
		r.Method = "GET"
		r.Header["Last-Event-Id"] = []string{last}
		if w := answer(s, r); w.Code != 400 && w.Code != 200 {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}
