package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// workshop is an upstream whose orders are at work until they are told to end.
type workshop struct {
	url   string
	begun chan struct{} // one for each order that came
	end   chan struct{}
}

func openWorkshop(t *testing.T) *workshop {
	w := &workshop{begun: make(chan struct{}, 10), end: make(chan struct{})}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.begun <- struct{}{}
		select {
		case <-w.end:
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, `{"made":true}`)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	w.url = s.URL
	return w
}

// description is a file that describes the workshop.
func (w *workshop) description(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "workshop.json")
	write(t, file, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"`+w.url+`"}],"paths":{"/order":{"post":{"operationId":"order",
		"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object","properties":{"made":{"type":"boolean"}}}}}}}}}}}`)
	return file
}

// running is a `tenon serve` over HTTP.
type running struct {
	url  string
	said *errorLines
	hup  chan os.Signal
	stop func() // as a signal does
	wait func() // for its end
}

func serveOverHTTP(t *testing.T, args ...string) *running {
	ctx, cancel := context.WithCancel(t.Context())
	s := &running{said: &errorLines{all: make(chan string, 1000)}, hup: make(chan os.Signal), stop: cancel}
	var ends sync.WaitGroup
	s.wait = ends.Wait
	ends.Go(func() {
		e := env{err: s.said, getenv: func(string) (string, bool) { return "", false }, hangups: func() <-chan os.Signal { return s.hup }}
		if code := run(ctx, e, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)); code != exitOK {
			t.Errorf("serve ended with %d", code)
		}
	})
	t.Cleanup(func() { cancel(); ends.Wait() })
	line := (&session{t: t}).expect(s.said.all, "listening on ")
	_, s.url, _ = strings.Cut(line, "listening on ")
	s.url, _, _ = strings.Cut(s.url, `"`) // of a log in JSON
	return s
}

// post sends a message and returns the answer.
func post(url, body string, headers ...string) string {
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return res.Header.Get("Mcp-Session-Id") + " " + string(text)
}

const (
	orderNow = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"order","arguments":{}%s}}`
	modern   = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// endpointsOfAServer call the tool order at each endpoint.
func endpointsOfAServer(url string) map[string]func() string {
	return map[string]func() string{
		"without a session": func() string { return post(url, fmt.Sprintf(orderNow, "")) },
		"in a session": func() string {
			id, _, _ := strings.Cut(post(url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`), " ")
			return post(url, fmt.Sprintf(orderNow, ""), "Mcp-Session-Id: "+id)
		},
		"of today": func() string {
			return post(url, fmt.Sprintf(orderNow, modern), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: order")
		},
		"plain": func() string {
			return post(strings.TrimSuffix(url, "/mcp")+"/jsonrpc", fmt.Sprintf(orderNow, ""))
		},
	}
}

func TestCallsUnderWayEndBeforeTheServer(t *testing.T) {
	for _, name := range []string{"without a session", "in a session", "of today", "plain"} {
		t.Run(name, func(t *testing.T) {
			w := openWorkshop(t)
			s := serveOverHTTP(t, "--allow-private-host", strings.TrimPrefix(w.url, "http://"), "--confirm", "off", w.description(t))
			answer := make(chan string, 1)
			go func() { answer <- endpointsOfAServer(s.url)[name]() }()
			<-w.begun
			s.stop()
			close(w.end)
			if got := <-answer; !strings.Contains(got, `{"made":true}`) {
				t.Errorf("got %s", got)
			}
			s.wait()
		})
	}
}

func TestCallsThatAreCutShortAreAnswered(t *testing.T) {
	for _, name := range []string{"without a session", "in a session", "of today", "plain"} {
		t.Run(name, func(t *testing.T) {
			w := openWorkshop(t)
			s := serveOverHTTP(t, "--drain", "1ms", "--allow-private-host", strings.TrimPrefix(w.url, "http://"), "--confirm", "off", w.description(t))
			answer := make(chan string, 1)
			go func() { answer <- endpointsOfAServer(s.url)[name]() }()
			<-w.begun
			s.stop()
			if got := <-answer; !strings.Contains(got, `"executed":"unknown"`) {
				t.Errorf("got %s", got)
			}
			s.wait()
		})
	}
}

func TestCallsOverPipesEndBeforeTheServer(t *testing.T) {
	for drain, want := range map[string]string{"30s": `{"made":true}`, "1ms": `"executed":"unknown"`} {
		t.Run(drain, func(t *testing.T) {
			w := openWorkshop(t)
			s := serveOnPipes(t, "--drain", drain, "--allow-private-host", strings.TrimPrefix(w.url, "http://"), "--confirm", "off", w.description(t))
			s.send(fmt.Sprintf(orderNow, ""))
			<-w.begun
			s.stop()
			if drain == "30s" {
				close(w.end)
			}
			s.expect(s.lines, want)
		})
	}
}

func TestAHangupReadsTheDescriptionsAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.json")
	write(t, file, shopWith("listBooks"))
	s := serveOverHTTP(t, "--watch=false", "--describe", "off", file)
	write(t, file, shopWith("listBooks", "newest"))
	s.hup <- syscall.SIGHUP
	(&session{t: t}).expect(s.said.all, "new: newest")
}

func TestACallHasALineInTheLog(t *testing.T) {
	w := openWorkshop(t)
	close(w.end)
	s := serveOverHTTP(t, "-v", "--log-format", "json", "--allow-private-host", strings.TrimPrefix(w.url, "http://"), "--confirm", "off", w.description(t))
	endpointsOfAServer(s.url)["in a session"]()
	line := (&session{t: t}).expect(s.said.all, `"msg":"call"`)
	for _, want := range []string{`"tool":"order"`, `"caller":"session `, `"duration":`, `"status":200`, `"verdict":"fits"`, `"executed":"yes"`} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is not in %s", want, line)
		}
	}
}
