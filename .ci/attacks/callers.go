package main

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// bombs are answers that unpack to a gigabyte, in every encoding that is
// unpacked.
func bombs(ctx context.Context, tenon string) (string, error) {
	const unpacked = 1 << 30
	packed := map[string][]byte{}
	for name, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, flate.BestSpeed); return f },
		"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 1) },
		"zstd":    func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	} {
		var b bytes.Buffer
		w := pack(&b)
		spaces := bytes.Repeat([]byte(" "), 1<<20)
		for range unpacked >> 20 {
			if _, err := w.Write(spaces); err != nil {
				return "", err
			}
		}
		if err := w.Close(); err != nil {
			return "", err
		}
		packed[name] = b.Bytes()
	}
	up, err := upstream(ctx, func(w http.ResponseWriter, r *http.Request) {
		name := strings.Trim(r.URL.Path, "/")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", name)
		_, _ = w.Write(packed[name])
	})
	if err != nil {
		return "", err
	}
	t, err := serve(ctx, tenon, document("http://"+up, "gzip", "deflate", "br", "zstd"), "--envelope", "native")
	if err != nil {
		return "", err
	}
	defer t.stop()
	err = together(18, func(i int) error {
		got, err := t.call(ctx, []string{"gzip", "deflate", "br", "zstd"}[i%4], "{}")
		if err != nil || !strings.Contains(got, "larger than") {
			return fmt.Errorf("%.300s %w", got, err)
		}
		return nil
	})
	peak := t.megabytes("VmHWM")
	if err == nil && peak > peakAllowed {
		err = fmt.Errorf("the peak is %d MB", peak)
	}
	return fmt.Sprintf("%d calls, peak %d MB", 18, peak), err
}

// smuggling hides a request in another one, as a proxy would pass it on. It is
// never made.
func smuggling(ctx context.Context, tenon string) (string, error) {
	var hidden atomic.Int64
	up, err := upstream(ctx, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hidden" {
			hidden.Add(1)
		}
		itemsOf(`{"items":[]}`)(w, r)
	})
	if err != nil {
		return "", err
	}
	t, err := serve(ctx, tenon, document("http://"+up, "hidden", "open"), "--envelope", "native")
	if err != nil {
		return "", err
	}
	defer t.stop()
	inner := raw(message("tools/call", `"name":"hidden","arguments":{}`))
	outer := message("tools/call", `"name":"open","arguments":{}`)
	head := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(outer), outer)
	both := fmt.Sprintf("Content-Length: %d\r\n", len(chunk)+len(inner))
	for name, text := range map[string]string{
		"both lengths":               head + both + "Transfer-Encoding: chunked\r\n\r\n" + chunk + inner,
		"both, the other way":        head + "Transfer-Encoding: chunked\r\n" + both + "\r\n" + chunk + inner,
		"two lengths":                head + fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d\r\n\r\n", len(outer), len(outer)+len(inner)) + outer + inner,
		"a list of lengths":          head + fmt.Sprintf("Content-Length: %d, %d\r\n\r\n", len(outer), len(outer)+len(inner)) + outer + inner,
		"a length with a sign":       head + fmt.Sprintf("Content-Length: +%d\r\n\r\n", len(outer)) + outer + inner,
		"a space before the colon":   head + "Transfer-Encoding : chunked\r\n" + both + "\r\n" + chunk + inner,
		"a folded header":            head + "X: y\r\n Transfer-Encoding: chunked\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(outer)) + outer + "GARBAGE" + inner,
		"an unknown coding":          head + "Transfer-Encoding: xchunked\r\n" + both + "\r\n" + chunk + inner,
		"two codings":                head + "Transfer-Encoding: gzip, chunked\r\n" + both + "\r\n" + chunk + inner,
		"twice chunked":              head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" + both + "\r\n" + chunk + inner,
		"a bare CR":                  head + "X: y\rTransfer-Encoding: chunked\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(outer)) + outer + "0\r\n\r\n" + inner,
		"a chunk that is too long":   head + "Transfer-Encoding: chunked\r\n\r\n" + "ffffffffffffffff1\r\n" + outer + "\r\n0\r\n\r\n" + inner,
		"a chunk with an extension":  head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x;a=\n\r\n%s\r\n0\r\n\r\n", len(outer), outer) + inner,
		"a GET with a body":          "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + both + "Transfer-Encoding: chunked\r\n\r\n" + chunk + inner,
		"a path that is not there":   "GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n" + both + "Transfer-Encoding: chunked\r\n\r\n" + chunk + inner,
		"an old version with chunks": strings.Replace(head, "HTTP/1.1", "HTTP/1.0", 1) + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n" + both + "\r\n" + chunk + inner,
	} {
		if _, err := exchange(t.addr, text); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if hidden.Load() > 0 {
			return "", fmt.Errorf("%s: the hidden request was made", name)
		}
	}
	// HTTP/2 without TLS is not spoken.
	got, err := exchange(t.addr, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+string(frame(frameSettings, 0, 0, nil)))
	if err != nil || strings.Contains(got, `"result"`) {
		return "", fmt.Errorf("HTTP/2: %.200s %w", got, err)
	}
	answered, err := t.call(ctx, "open", "{}")
	if err != nil || !strings.Contains(answered, `{"items":[]}`) {
		return "", fmt.Errorf("afterwards: %.200s %w", answered, err)
	}
	return "16 ways, no hidden request was made", nil
}

// exchange sends bytes and reads what comes until the far side is done or
// silent.
func exchange(addr, text string) (string, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(700 * time.Millisecond))
	_, _ = io.WriteString(c, text) // who refuses may have hung up
	got, _ := io.ReadAll(bufio.NewReader(c))
	return string(got), nil
}

func itemsOf(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

// modern is a message of 2026-07-28 and its headers.
func modern(method, name, params, capabilities string) (body string, headers []string) {
	if params != "" {
		params += ","
	}
	body = message(method, params+`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+capabilities+`}`)
	headers = []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	if name != "" {
		headers = append(headers, "Mcp-Name: "+name)
	}
	return body, headers
}

// floods are more tasks and subscriptions than anybody needs, by one caller.
// Another one has calls, tasks and subscriptions all the while.
func floods(ctx context.Context, tenon string) (string, error) {
	up, err := upstream(ctx, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		itemsOf(`{"items":[]}`)(w, r)
	})
	if err != nil {
		return "", err
	}
	t, err := serveAs(ctx, tenon, []string{"GREEDY=greedy-key-0123456789", "OTHER=other-key-0123456789"}, document("http://"+up, "slow", "quick"), "--envelope", "native",
		"--task-after", "10ms", "--api-key", "greedy=env:GREEDY", "--api-key", "other=env:OTHER", "--timeout", "20s")
	if err != nil {
		return "", err
	}
	defer t.stop()
	const greedy, other = "X-API-Key: greedy-key-0123456789", "X-API-Key: other-key-0123456789"
	const tasks = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	flood, stop := context.WithCancel(ctx)
	defer stop()
	var made, refused atomic.Int64
	for range 100 {
		go func() {
			for range 20 {
				body, headers := modern("tools/call", "slow", `"name":"slow","arguments":{}`, tasks)
				got, err := t.post(flood, body, append(headers, greedy)...)
				switch {
				case err != nil:
					return
				case strings.Contains(got, `"taskId"`):
					made.Add(1)
				default:
					refused.Add(1)
				}
			}
		}()
	}
	for range 800 {
		go func() {
			body, headers := modern("subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`, "{}")
			_, _ = t.post(flood, body, append(headers, greedy, "Accept: text/event-stream, application/json")...)
		}()
	}
	time.Sleep(2 * time.Second)
	for range 10 {
		began := time.Now()
		body, headers := modern("tools/call", "quick", `"name":"quick","arguments":{}`, tasks)
		got, err := t.post(ctx, body, append(headers, other)...)
		if err != nil || !strings.Contains(got, `{"items":[]}`) || time.Since(began) > 3*time.Second {
			return "", fmt.Errorf("another caller's call after %v: %.300s %w", time.Since(began), got, err)
		}
		body, headers = modern("tools/call", "slow", `"name":"slow","arguments":{}`, tasks)
		if got, err = t.post(ctx, body, append(headers, other)...); err != nil || !strings.Contains(got, `"taskId"`) {
			return "", fmt.Errorf("another caller's task: %.300s %w", got, err)
		}
	}
	short, enough := context.WithTimeout(ctx, time.Second)
	defer enough()
	body, headers := modern("subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`, "{}")
	got, _ := t.post(short, body, append(headers, other, "Accept: text/event-stream, application/json")...)
	if !strings.Contains(got, "acknowledged") {
		return "", fmt.Errorf("another caller's subscription: %.300s", got)
	}
	peak := t.megabytes("VmHWM")
	if peak > 300 {
		return "", fmt.Errorf("the peak is %d MB", peak)
	}
	return fmt.Sprintf("%d tasks made, %d refused, 800 subscriptions, peak %d MB", made.Load(), refused.Load(), peak), nil
}

// replays use the state of a request that was made for somebody else, for
// other arguments, or that was used already.
func replays(ctx context.Context, tenon string) (string, error) {
	var deleted atomic.Int64
	up, err := upstream(ctx, func(w http.ResponseWriter, r *http.Request) {
		deleted.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	if err != nil {
		return "", err
	}
	doc := `{"openapi":"3.1.0","info":{"title":"Attacked","version":"1"},"servers":[{"url":"http://` + up + `"}],"paths":{"/items/{id}":{"delete":{"operationId":"remove",` +
		`"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"204":{"description":"gone"}}}}}}`
	t, err := serveAs(ctx, tenon, []string{"A=first-key-0123456789", "B=second-key-0123456789"}, doc, "--confirm", "human", "--api-key", "a=env:A", "--api-key", "b=env:B")
	if err != nil {
		return "", err
	}
	defer t.stop()
	const a, b = "X-API-Key: first-key-0123456789", "X-API-Key: second-key-0123456789"
	send := func(who, id, rest string) (string, error) {
		body, headers := modern("tools/call", "remove", `"name":"remove","arguments":{"id":"`+id+`"}`+rest, `{"elicitation":{"form":{}}}`)
		return t.post(ctx, body, append(headers, who)...)
	}
	got, err := send(a, "1", "")
	var first struct {
		Result struct {
			State    string                     `json:"requestState"`
			Requests map[string]json.RawMessage `json:"inputRequests"`
		}
	}
	if err != nil || json.Unmarshal([]byte(got), &first) != nil || first.Result.State == "" || len(first.Result.Requests) != 1 {
		return "", fmt.Errorf("nothing was asked: %.500s %w", got, err)
	}
	var key string
	for key = range first.Result.Requests { //nolint:revive // there is one
	}
	with := func(state string) string {
		return `,"requestState":"` + state + `","inputResponses":{"` + key + `":{"action":"accept","content":{"confirm":true}}}`
	}
	state := first.Result.State
	for name, try := range map[string]func() (string, error){
		"another caller":        func() (string, error) { return send(b, "1", with(state)) },
		"other arguments":       func() (string, error) { return send(a, "2", with(state)) },
		"a state that is made":  func() (string, error) { return send(a, "1", with(state[:len(state)-4]+"AAAA")) },
		"an answer, no state":   func() (string, error) { return send(a, "1", strings.Replace(with(""), `"requestState":"",`, "", 1)) },
		"a state of zero bytes": func() (string, error) { return send(a, "1", with("AA")) },
	} {
		got, err := try()
		if err != nil {
			return "", err
		}
		if deleted.Load() > 0 {
			return "", fmt.Errorf("%s: the call was made: %.300s", name, got)
		}
	}
	got, err = send(a, "1", with(state))
	if err != nil || deleted.Load() != 1 {
		return "", fmt.Errorf("who was asked is not served: %.500s %w", got, err)
	}
	if err := together(10, func(int) error { _, err := send(a, "1", with(state)); return err }); err != nil {
		return "", err
	}
	if n := deleted.Load(); n != 1 {
		return "", errors.New("one consent made " + fmt.Sprint(n) + " calls")
	}
	return "5 of others and 10 repeated made no call", nil
}
