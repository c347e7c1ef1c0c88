package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

func TestBytesPassAsTheyAre(t *testing.T) {
	for name, value := range map[string]string{
		"an integer beyond a double":    `{"n":9007199254740993}`,
		"a number's own text":           `{"n":[1.0,-0,1.10,1E+2,0.1e-400]}`,
		"the order of members":          `{"b":1,"a":2,"B":3,"":4}`,
		"what HTML would escape":        `{"s":"<a href='x'>&</a>"}`,
		"line separators of JavaScript": "{\"s\":\"\u2028\u2029\"}",
		"escapes":                       `{"s":"\u003c\/\u0000😀\ud83d\ude00"}`,
		"white space":                   `{"a" : [ 1 ,2 ] }`,
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(server.Options{}, echo(), answered("fixed", "application/json", value))
			for _, r := range []*http.Request{
				post(legacyBody("tools/call", `"name":"fixed"`)),
				post(legacyBody("tools/call", `"name":"echo","arguments":`+value)),
				postModern("tools/call", "echo", `"arguments":`+value+`,"name":"echo"`),
			} {
				w := answer(s, r)
				if !strings.Contains(w.Body.String(), `"structuredContent":`+value+`}`) {
					t.Errorf("%s is not in %s", value, w.Body)
				}
				checkText(t, w.Body.Bytes(), value)
			}
			out := talk(t, s, legacyBody("tools/call", `"name":"echo","arguments":`+value)+"\n")
			if !strings.Contains(out, `"structuredContent":`+value+`}`) {
				t.Errorf("%s is not in %s", value, out)
			}
		})
	}
}

// checkText looks for the same JSON in the text copy, which may be indented.
func checkText(t *testing.T, answer []byte, value string) {
	t.Helper()
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Result.Content) != 1 {
		t.Fatalf("want one block: %s", answer)
	}
	var want, got bytes.Buffer
	if err := errors.Join(json.Compact(&want, []byte(value)), json.Compact(&got, []byte(m.Result.Content[0].Text))); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("the text copy is %s, want %s", got.String(), want.String())
	}
}

func TestContentLengthIsTheLength(t *testing.T) {
	s := serve(server.Options{}, append(many(3, ""), answered("big", "application/json", `{"x":"`+strings.Repeat("y", 1<<16)+`"}`))...)
	l := httptest.NewServer(s)
	defer l.Close()
	for _, body := range []string{
		legacyBody("tools/call", `"name":"big"`), legacyBody("tools/list", ""), legacyBody("ping", ""), `{`,
	} {
		r, err := http.Post(l.URL, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if got := r.Header.Get("Content-Length"); err != nil || got != strconv.Itoa(len(text)) {
			t.Errorf("Content-Length is %s for %d bytes: %v", got, len(text), err)
		}
	}
}

// A gateway hides what a handler does, so the only way to make the server
// itself panic is one whose options are broken.
func TestPanicInTheServerIsAnErrorWithAnID(t *testing.T) {
	var log bytes.Buffer
	s := server.New(nil, server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, r := range []*http.Request{post(legacyBody("tools/list", "")), postModern("tools/call", "x", `"name":"x"`)} {
		log.Reset()
		v, body := judge(t, s, r)
		if v != (verdict{200, -32603}) || !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":1,"error":`) {
			t.Fatalf("got %+v: %s", v, body)
		}
		_, rest, _ := strings.Cut(body, "incident ")
		id, _, _ := strings.Cut(rest, " ")
		if len(id) < 8 || !strings.Contains(log.String(), "incident="+id) {
			t.Errorf("the log does not tell of incident %q: %s", id, log.String())
		}
		if strings.Contains(body, "nil pointer") {
			t.Errorf("the answer tells what happened inside: %s", body)
		}
	}
}

// waiting is a tool whose calls announce themselves and wait until they are
// let go or cancelled.
func waiting(started chan<- struct{}, release <-chan struct{}, ended chan<- error) tenon.Tool {
	return tool("wait", func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
		started <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		if ended != nil {
			ended <- ctx.Err()
		}
		return tenon.Response{MediaType: "application/json", Body: []byte(`{}`)}, ctx.Err()
	})
}

func TestLostConnections(t *testing.T) {
	for _, c := range []struct {
		name string
		r    *http.Request
		want error
	}{
		{"2026-07-28: closing the connection cancels the call", postModern("tools/call", "wait", `"name":"wait"`), context.Canceled},
		{"before: a lost connection does not", post(legacyBody("tools/call", `"name":"wait"`)), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
				s := serve(server.Options{}, waiting(started, release, ended))
				ctx, lose := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { answer(s, c.r.WithContext(ctx)); close(done) }()
				<-started
				lose()
				synctest.Wait()
				close(release)
				if got := <-ended; !errors.Is(got, c.want) {
					t.Errorf("the call ended with %v, want %v", got, c.want)
				}
				<-done
			})
		})
	}
}

func TestCallsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan struct{}, 9), make(chan struct{})
		s := serve(server.Options{MaxConcurrent: 2, MaxPerCaller: 2}, waiting(started, release, nil), echo())
		answers := make(chan *httptest.ResponseRecorder, 9)
		call := func() { answers <- answer(s, post(legacyBody("tools/call", `"name":"wait"`))) }
		for range 4 {
			go call()
		}
		synctest.Wait()
		if len(started) != 2 {
			t.Errorf("%d calls run, want 2", len(started))
		}
		w := answer(s, post(legacyBody("tools/call", `"name":"echo"`)))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "-32603") {
			t.Errorf("a call that finds no place: %d %s", w.Code, w.Body)
		}
		if w := answer(s, post(legacyBody("ping", ""))); w.Code != http.StatusOK {
			t.Errorf("ping needs a place: %d", w.Code)
		}
		close(release)
		for range 4 {
			if w := <-answers; w.Code != http.StatusOK {
				t.Errorf("a call that waited: %d %s", w.Code, w.Body)
			}
		}
	})
}

func TestWhoWaitsInVainLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan struct{}, 9), make(chan struct{})
		s := serve(server.Options{MaxConcurrent: 1}, waiting(started, release, nil))
		go answer(s, post(legacyBody("tools/call", `"name":"wait"`)))
		<-started
		for range 3 {
			ctx, lose := context.WithCancel(t.Context())
			gone := make(chan *httptest.ResponseRecorder, 1)
			go func() { gone <- answer(s, post(legacyBody("tools/call", `"name":"wait"`)).WithContext(ctx)) }()
			synctest.Wait()
			lose()
			if w := <-gone; w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "cancelled") {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		}
		close(release)
		if len(started) != 0 {
			t.Error("a call ran whose client had left the queue")
		}
	})
}

func TestHammerCallsAndSwaps(t *testing.T) {
	g := gateway.New(catalog(echo()), gateway.Options{})
	s := server.New(g, server.Options{MaxConcurrent: 8})
	catalogs := []*gateway.Catalog{catalog(echo()), catalog(append(many(40, "x"), echo())...)}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 100 {
				n := strconv.Itoa(worker*1000 + i)
				w := answer(s, post(`{"jsonrpc":"2.0","id":`+n+`,"method":"tools/call","params":{"name":"echo","arguments":{"n":`+n+`}}}`))
				want := `{"jsonrpc":"2.0","id":` + n + `,"result":{` + passed + `"content":[{"type":"text","text":"{\n  \"n\": ` + n + `\n}"}],"structuredContent":{"n":` + n + `}}}`
				if w.Body.String() != want {
					t.Errorf("got %s, want %s", w.Body, want)
				}
				if w := answer(s, post(legacyBody("tools/list", ""))); !json.Valid(w.Body.Bytes()) {
					t.Errorf("the list is broken: %s", w.Body)
				}
				g.Swap(catalogs[i%2])
			}
		})
	}
	wg.Wait()
}

func TestAppendResultIsWhatClientsGet(t *testing.T) {
	g := gateway.New(catalog(fixtures()...), gateway.Options{})
	s := server.New(g, server.Options{})
	for _, e := range g.Catalog().Tools() {
		r, err := g.Call(t.Context(), &tenon.Call{Tool: e.Name()})
		if err != nil {
			t.Fatal(err)
		}
		got := string(server.AppendResult([]byte(`{"jsonrpc":"2.0","id":1,"result":`), r)) + "}"
		if want := answer(s, post(legacyBody("tools/call", `"name":"`+e.Name()+`"`))).Body.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAllThatABlockCanHave(t *testing.T) {
	full := tool("full", func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Content: []tenon.Content{
			{Text: []byte("x"), Annotations: []byte("{ \"audience\": [\n\"user\"] }"), Meta: []byte(`{"k":1}`)},
			{Type: tenon.ResourceLink, URI: "a:b", Name: "n", Title: "T", Description: "D", Size: 12, Annotations: []byte(`{"priority":0.50}`)},
			{Type: tenon.ImageContent, Data: []byte{1}, MediaType: "image/png", Annotations: []byte(`[1]`), Meta: []byte(`{"broken`)},
		}}, nil
	})
	got := answer(serve(server.Options{}, full), post(legacyBody("tools/call", `"name":"full"`), "MCP-Protocol-Version: 2025-06-18")).Body.String()
	want := `"content":[{"type":"text","text":"x","annotations":{"audience":["user"]},"_meta":{"k":1}},` +
		`{"type":"resource_link","uri":"a:b","name":"n","title":"T","description":"D","size":12,"annotations":{"priority":0.50}},` +
		`{"type":"image","mimeType":"image/png","data":"AQ=="}]`
	if !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
