package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/server"
)

var seeds = []string{
	``, `{`, `[]`, `null`, `"x"`, "\ufeff{}", `[[]]`, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{},3]`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a\u0000","method":"pi\u006eg"}`,
	modernBody("server/discover", ""), modernBody("tools/list", `"cursor":"x"`), modernBody("tools/call", `"name":"echo","arguments":{"a":[1.0,-0,"\ud800"]}`),
	legacyBody("initialize", `"protocolVersion":"2025-11-25"`), legacyBody("tools/call", `"name":"echo","arguments":{"b":{}},"name":"x"`),
	`{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
	`{"jsonrpc":"2.0","id":-12345678901234567890,"method":"tools/call","params":{"name":"fail"}}`, strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
}

// checkFrame fails unless text is one whole JSON-RPC response, and returns the
// code of its error.
func checkFrame(t *testing.T, text []byte, asked []byte) int {
	t.Helper()
	var m map[string]json.RawMessage
	if !json.Valid(text) || !utf8.Valid(text) || json.Unmarshal(text, &m) != nil {
		t.Fatalf("not a JSON object in UTF-8: %q for %q", text, asked)
	}
	_, result := m["result"]
	problem, isError := m["error"]
	id, hasID := m["id"]
	if string(m["jsonrpc"]) != `"2.0"` || result == isError || !hasID && !isError || len(m) > 3 {
		t.Fatalf("not a response: %s for %q", text, asked)
	}
	if hasID && !bytes.Contains(asked, id) {
		t.Fatalf("the id of %s never was in %q", text, asked)
	}
	var e struct {
		Code    int
		Message string
	}
	if isError && (json.Unmarshal(problem, &e) != nil || e.Code > -32000 || e.Code < -32768 || e.Message == "") {
		t.Fatalf("not an error: %s for %q", text, asked)
	}
	return e.Code
}

// checkAnswer fails unless text is one response, or for a batch an array of
// them, at most one a message; it returns the code of the one error.
func checkAnswer(t *testing.T, text []byte, asked []byte) int {
	t.Helper()
	var answers []json.RawMessage
	if json.Unmarshal(text, &answers) != nil {
		return checkFrame(t, text, asked)
	}
	if messages := bytes.Count(asked, []byte{','}) + 1; len(answers) == 0 || len(answers) > messages {
		t.Fatalf("%d answers for %q: %s", len(answers), asked, text)
	}
	for _, a := range answers {
		checkFrame(t, a, asked)
	}
	return 0
}

// Any body has one whole answer, and is called broken exactly when it is not
// JSON in UTF-8 of bearable depth.
func FuzzHTTP(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "", "", "")
		f.Add([]byte(s), "2026-07-28", "tools/call", "=?base64?ZWNobw==?=")
	}
	s := serve(server.Options{}, fixtures()...)
	f.Fuzz(func(t *testing.T, body []byte, version, method, name string) {
		r := post("")
		r.Body = http.MaxBytesReader(nil, readCloser{bytes.NewReader(body)}, 1<<20)
		r.ContentLength = -1
		for header, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
			if value != "" {
				r.Header[header] = []string{value}
			}
		}
		w := answer(s, r)
		if w.Code == http.StatusAccepted {
			if w.Body.Len() != 0 {
				t.Errorf("202 with %q", w.Body)
			}
			return
		}
		code := checkAnswer(t, w.Body.Bytes(), body)
		legible := json.Valid(body) && utf8.Valid(body)
		if broken := code == -32700; broken == legible && !strings.Contains(w.Body.String(), "too deep") {
			t.Errorf("broken is %v for %q: %s", broken, body, w.Body)
		}
		if (w.Code == http.StatusOK) != (w.Code < 300) {
			t.Errorf("status %d", w.Code)
		}
	})
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// Whatever comes in, only whole frames go out, at most one a line that came,
// and nothing is left running: the bubble would not end.
func FuzzStdio(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s + "\n" + s))
	}
	f.Add([]byte(strings.Join(seeds, "\n")))
	s := serve(server.Options{MaxBody: 4096, MaxConcurrent: 2}, fixtures()...)
	f.Fuzz(func(t *testing.T, in []byte) {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			if err := s.ServeStdio(t.Context(), bytes.NewReader(in), &out); err != nil {
				t.Errorf("the conversation ended with %v", err)
			}
			synctest.Wait()
			lines := bytes.SplitAfter(out.Bytes(), []byte("\n"))
			last := len(lines) - 1
			if len(lines[last]) != 0 {
				t.Errorf("the output ends within a line: %q", lines[last])
			}
			for _, line := range lines[:last] {
				checkAnswer(t, line, in)
			}
			if asked := bytes.Count(in, []byte("\n")) + 1; last > asked {
				t.Errorf("%d lines for %d", last, asked)
			}
		})
	})
}

// Only a cursor that was given out is accepted.
func FuzzCursor(f *testing.F) {
	s := serve(server.Options{}, many(501, "")...)
	w := answer(s, post(legacyBody("tools/list", "")))
	_, rest, _ := strings.Cut(w.Body.String(), `"nextCursor":"`)
	issued, _, _ := strings.Cut(rest, `"`)
	for _, seed := range []string{issued, issued[1:], issued + "=", "", "AAAB9A", strings.Repeat("A", len(issued))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		text, err := json.Marshal(cursor)
		if err != nil {
			t.Skip()
		}
		w := answer(s, post(legacyBody("tools/list", `"cursor":`+string(text))))
		if accepted := checkFrame(t, w.Body.Bytes(), []byte("1")) == 0; accepted != (cursor == issued) {
			t.Errorf("accepted is %v for %q", accepted, cursor)
		}
	})
}
