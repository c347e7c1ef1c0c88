package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/server"
)

// dial opens a connection to s on which a test writes what it wants.
func (s *stand) dial() *net.TCPConn {
	s.t.Helper()
	var d net.Dialer
	c, err := d.DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		s.t.Fatalf("a %T", c)
	}
	_ = tcp.SetDeadline(time.Now().Add(time.Minute)) // a hang fails, and does not last
	return tcp
}

const plainHead = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

func rawPost(body, more string) string {
	return fmt.Sprintf("%s%sContent-Length: %d\r\n\r\n%s", plainHead, more, len(body), body)
}

// A client that ends what it sends after a whole request reads its answer.
func TestHalfClosedClientGetsItsAnswer(t *testing.T) {
	on := make(chan struct{})
	s := open(t, server.Options{}, catalog(paused(on), echo()))
	web := httptest.NewServer(s.server.JSONRPC())
	defer web.Close()
	for name, url := range map[string]string{"streamable HTTP": s.url, "plain JSON-RPC": web.URL} {
		c := (&stand{t: t, url: url}).dial()
		_, _ = io.WriteString(c, rawPost(legacyBody("tools/call", `"name":"pause"`), ""))
		_ = c.CloseWrite()
		on <- struct{}{}
		w, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		body, _ := io.ReadAll(w.Body)
		_ = w.Body.Close()
		if !strings.Contains(string(body), `"text":"done"`) {
			t.Errorf("%s: %s %s", name, w.Status, body)
		}
	}
}

// Requests that follow each other without waiting are answered in their order.
func TestPipelinedRequests(t *testing.T) {
	s := open(t, server.Options{}, catalog(echo()))
	c := s.dial()
	const n = 200
	go func() {
		for i := range n {
			_, _ = io.WriteString(c, rawPost(asked(fmt.Sprint(i), "tools/call", fmt.Sprintf(`"name":"echo","arguments":{"n":%d}`, i)), ""))
		}
	}()
	in := bufio.NewReader(c)
	for i := range n {
		w, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(i, err)
		}
		body, _ := io.ReadAll(w.Body)
		_ = w.Body.Close()
		if diff := missing(string(body), fmt.Sprintf(`"id":%d,`, i), fmt.Sprintf(`"structuredContent":{"n":%d}`, i)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// What two readers could take for different requests is none: nothing of it is
// executed, and nothing behind it on the connection is read as a request.
func TestSmuggledRequests(t *testing.T) {
	inner := rawPost(legacyBody("tools/call", `"name":"echo","arguments":{"smuggled":1}`), "")
	for name, raw := range map[string]string{
		"both lengths":          plainHead + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"two lengths":           plainHead + "Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}  " + inner,
		"a signed length":       plainHead + "Content-Length: +2\r\n\r\n{}" + inner,
		"an odd encoding":       plainHead + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
		"two encodings":         plainHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner,
		"space before a colon":  plainHead + "Content-Length : 2\r\n\r\n{}" + inner,
		"a folded line":         plainHead + "X: y\r\n Content-Length: 2\r\n\r\n{}" + inner,
		"a chunk that is wrong": plainHead + "Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n" + inner,
	} {
		s := open(t, server.Options{}, catalog(echo()))
		c := s.dial()
		_, _ = io.WriteString(c, raw)
		_ = c.CloseWrite()
		all, _ := io.ReadAll(c)
		if strings.Contains(string(all), "smuggled") || strings.Contains(string(all), "HTTP/1.1 200") || !strings.HasPrefix(string(all), "HTTP/1.1 4") && !strings.HasPrefix(string(all), "HTTP/1.1 5") {
			t.Errorf("%s: %.300s", name, all)
		}
	}
}

// A client that speaks HTTP/2 without TLS hears that it is not served.
func TestHTTP2IsRefusedAtOnce(t *testing.T) {
	s := open(t, server.Options{}, catalog(echo()))
	c := s.dial()
	_, _ = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	all, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(all), "HTTP/1.1 ") {
		t.Errorf("%.100q", all)
	}
	upgrade := s.dial()
	_, _ = io.WriteString(upgrade, rawPost(legacyBody("ping", ""), "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"))
	w, err := http.ReadResponse(bufio.NewReader(upgrade), nil)
	if err != nil || w.StatusCode != http.StatusOK {
		t.Errorf("%v %v", w, err)
	}
	_ = w.Body.Close()
}

// Messages that are made to cost more than they say are refused, or answered,
// within what they are worth.
func TestCostlyMessages(t *testing.T) {
	s := serve(server.Options{}, fixtures()...)
	deep := strings.Repeat("[", 1<<20)
	for name, c := range map[string]struct {
		body string
		code int
	}{
		"deep arguments":     {legacyBody("tools/call", `"name":"echo","arguments":{"x":`+deep), 400},
		"deep and closed":    {legacyBody("tools/call", `"name":"echo","arguments":{"x":`+deep+strings.Repeat("]", 1<<20)+`}`), 400},
		"a deep id":          {`{"jsonrpc":"2.0","method":"ping","id":` + deep, 400},
		"a deep batch":       {deep, 400},
		"a large batch":      {"[" + strings.Repeat(legacyBody("ping", "")+",", 10_000) + legacyBody("ping", "") + "]", 400},
		"many members":       {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + strings.Repeat(`"a":1,`, 200_000) + `"b":2}}`, 200},
		"many commas":        {legacyBody("tools/call", `"name":"echo","arguments":{"x":"`+strings.Repeat(",", 3<<20)+`"}`), 200},
		"a long method":      {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 3<<20) + `"}`, 200},
		"a long name":        {legacyBody("tools/call", `"name":"`+strings.Repeat("x", 3<<20)+`"`), 200},
		"a number too large": {`{"jsonrpc":"2.0","id":` + strings.Repeat("9", 3<<20) + `,"method":"ping"}`, 200},
	} {
		w := answer(s, post(c.body))
		limit := 4 << 10
		if name == "a number too large" || name == "many commas" {
			limit = 8 << 20 // an id and an echo come back as they were
		}
		if w.Code != c.code || w.Body.Len() > limit {
			t.Errorf("%s: %d, %d bytes: %.200s", name, w.Code, w.Body.Len(), w.Body)
		}
	}
}

// A state that one caller was given is good for that caller alone.
func TestStateOfAnotherCaller(t *testing.T) {
	s := serve(server.Options{ForwardHeaders: []string{"X-Key"}}, asker())
	ask := func(key, more string) string {
		return answer(s, post(withMeta("1", "tools/call", `"name":"ask"`+more, `{"elicitation":{}}`, ""),
			"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: ask", "X-Key: "+key)).Body.String()
	}
	first := ask("mine", "")
	_, rest, ok := strings.Cut(first, `"requestState":"`)
	state, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatal(first)
	}
	again := `,"requestState":"` + state + `","inputResponses":{}`
	if body := ask("other", again); !strings.Contains(body, "requestState is not valid") {
		t.Error(body)
	}
	if body := ask("mine", again); strings.Contains(body, "not valid") {
		t.Error(body)
	}
}

// A mark before the first line of stdio is no part of it.
func TestByteOrderMarkOnStdio(t *testing.T) {
	s := serve(server.Options{}, fixtures()...)
	for name, in := range map[string]string{
		"before a message":   "\ufeff" + legacyBody("ping", "") + "\n",
		"on its own":         "\ufeff\n" + legacyBody("ping", "") + "\n",
		"before white space": "\ufeff \t" + legacyBody("ping", ""),
	} {
		if out := talk(t, s, in); strings.Count(out, "\n") != 1 || !strings.Contains(out, `"id":1,"result"`) {
			t.Errorf("%s: %s", name, out)
		}
	}
	if out := talk(t, s, legacyBody("ping", "")+"\n\ufeff"+legacyBody("ping", "")+"\n"); !strings.Contains(out, "-32700") {
		t.Errorf("a mark within the input was skipped: %s", out)
	}
}

// What cannot be sent is not announced.
func TestNoNotificationsWithoutSessions(t *testing.T) {
	for _, off := range []bool{true, false} {
		s := serve(server.Options{NoSessions: off}, fixtures()...)
		w := answer(s, post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`)))
		if got := strings.Contains(w.Body.String(), "listChanged"); got == off {
			t.Errorf("sessions off: %v, %s", off, w.Body)
		}
		if w := answer(s, postModern("server/discover", "", "")); !strings.Contains(w.Body.String(), `"tools":{"listChanged":true}`) {
			t.Errorf("2026-07-28 has subscriptions of its own: %s", w.Body)
		}
	}
}
