package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/schema"
)

// belt hands out what is put on it, and says when its reader gave up.
type belt struct {
	items chan string // "!" in front: an error
	gone  atomic.Bool
}

func (b *belt) parts(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer b.gone.Store(true)
		for {
			select {
			case item, ok := <-b.items:
				text, broken := strings.CutPrefix(item, "!")
				switch {
				case !ok:
					return
				case broken:
					yield(nil, errors.New(text))
					return
				case !yield([]byte(item), nil):
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

func beltTool(b *belt, called *int, change func(*tenon.Tool)) *gateway.Catalog {
	tool := tenon.Tool{
		Name: "watch", Policy: tenon.Enforce, Envelope: tenon.OpenAPIMCP,
		Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/x-ndjson", Schema: []byte(`{"type":"array","items":{"type":"object","required":["n"]}}`)}}},
		Handler: func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
			*called++
			return tenon.Response{Status: 200, MediaType: "application/x-ndjson", Items: b.parts(ctx), Execution: tenon.Execution{Unsafe: tenon.Responded}}, nil
		},
	}
	change(&tool)
	return gateway.Build([]gateway.Mount{{Name: "s", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
}

// streaming runs f with a gateway over a belt, in time of its own.
func streaming(t *testing.T, change func(*tenon.Tool), f func(t *testing.T, b *belt, g *gateway.Gateway, called *int)) {
	synctest.Test(t, func(t *testing.T) {
		b, called := &belt{items: make(chan string, 1000)}, 0
		g := gateway.New(beltTool(b, &called, change), gateway.Options{})
		f(t, b, g, &called)
		time.Sleep(10 * time.Minute) // nobody asks any more
		synctest.Wait()
		if !b.gone.Load() {
			t.Error("the stream is still read")
		}
	})
}

func asIs(*tenon.Tool) {}

func TestStreamThatEndsSoonIsWhole(t *testing.T) {
	streaming(t, asIs, func(t *testing.T, b *belt, g *gateway.Gateway, _ *int) {
		b.items <- `{"n":1}`
		b.items <- `{"n":2}`
		close(b.items)
		res := get(t, g, "watch", "ann", `{}`)
		if string(res.Value) != `[{"n":1},{"n":2}]` || partialOf(t, res).Part != 0 || verdictOf(t, res).Verdict != "fits" {
			t.Errorf("%s %s", res.Structured, res.Meta)
		}
	})
}

func TestStreamIsHandedOutAsItArrives(t *testing.T) {
	for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
		streaming(t, func(tool *tenon.Tool) { tool.Envelope = env }, func(t *testing.T, b *belt, g *gateway.Gateway, called *int) {
			_, output := g.Catalog().Find("watch").Schemas()
			b.items <- `{"n":1}`
			res := get(t, g, "watch", "ann", `{}`)
			keepsPublished(t, output, res)
			token := partialOf(t, res).ResumeToken
			if string(res.Value) != `[{"n":1}]` || token == "" {
				t.Fatalf("%s: %s", env, res.Meta)
			}
			for name, other := range map[string]*tenon.Result{
				"somebody else": get(t, g, "watch", "bob", `{"resume_token":"`+token+`"}`),
				"a later part":  get(t, g, "watch", "ann", `{"resume_token":"`+strings.TrimSuffix(token, "2")+`3"}`),
				"other fields":  get(t, g, "watch", "ann", `{"a":1,"resume_token":"`+token+`"}`),
			} {
				if !other.IsError || other.Code != tenon.CodeValidation || verdictOf(t, other).Executed != "no" {
					t.Errorf("%s: %s", name, other.Content[0].Text)
				}
			}
			g.Swap(gateway.Build(nil, gateway.BuildOptions{})) // the parts of a stream need its tool no more
			g.Swap(beltTool(b, called, func(tool *tenon.Tool) { tool.Policy = tenon.Off }))
			b.items <- `{"n":2}`
			b.items <- `{"n":3}`
			for range 2 { // once more for an answer that was lost
				res = get(t, g, "watch", "ann", `{"resume_token":"`+token+`"}`)
				keepsPublished(t, output, res)
				if string(res.Value) != `[{"n":2},{"n":3}]` || partialOf(t, res).Part != 2 || verdictOf(t, res).Executed != "yes" {
					t.Errorf("%s: %s %s", env, res.Content[0].Text, res.Meta)
				}
			}
			token = partialOf(t, res).ResumeToken
			if res = get(t, g, "watch", "ann", `{"resume_token":"`+token+`"}`); !res.IsError || res.Code != tenon.CodeTimeout {
				t.Errorf("nothing arrived: %s", res.Content[0].Text)
			}
			b.items <- `{"n":4}`
			close(b.items)
			res = get(t, g, "watch", "ann", `{"resume_token":"`+token+`"}`)
			keepsPublished(t, output, res)
			if string(res.Value) != `[{"n":4}]` || partialOf(t, res).ResumeToken != "" || *called != 1 {
				t.Errorf("%s: the last part: %s; called %d times", env, res.Meta, *called)
			}
		})
	}
}

func TestStreamWaitsForWhoAsks(t *testing.T) {
	streaming(t, func(tool *tenon.Tool) { tool.MaxResult = 50 }, func(t *testing.T, b *belt, g *gateway.Gateway, _ *int) {
		for i := range 900 {
			b.items <- fmt.Sprintf(`{"n":%d}`, i)
		}
		began := time.Now()
		res := get(t, g, "watch", "ann", `{}`)
		if time.Since(began) > time.Second || len(res.Value) > 70 {
			t.Errorf("a part that is full waits: %s", res.Value)
		}
		synctest.Wait()
		if left := len(b.items); left < 880 {
			t.Errorf("%d items were read ahead", 900-left)
		}
	})
}

func TestStreamOfACallerWhoIsGone(t *testing.T) {
	streaming(t, asIs, func(t *testing.T, b *belt, g *gateway.Gateway, _ *int) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		res, err := g.Call(ctx, &tenon.Call{Tool: "watch"})
		if err != nil || res.Code != tenon.CodeTimeout || verdictOf(t, res).Executed != "unknown" {
			t.Errorf("%+v, %v", res, err)
		}
		synctest.Wait()
		if !b.gone.Load() {
			t.Error("the stream is still read")
		}
	})
}

func TestStreamThatBreaks(t *testing.T) {
	streaming(t, asIs, func(t *testing.T, b *belt, g *gateway.Gateway, _ *int) {
		b.items <- `{"n":1}`
		b.items <- `!the line is dead`
		res := get(t, g, "watch", "", `{}`)
		if string(res.Value) != `[{"n":1}]` {
			t.Fatalf("what came before: %s", res.Content[0].Text)
		}
		res = get(t, g, "watch", "", `{"resume_token":"`+partialOf(t, res).ResumeToken+`"}`)
		if !res.IsError || !strings.Contains(res.Message, "was interrupted after 1 items: the line is dead") || verdictOf(t, res).Executed != "unknown" {
			t.Errorf("%s %s", res.Content[0].Text, res.Meta)
		}
	})
	streaming(t, asIs, func(t *testing.T, b *belt, g *gateway.Gateway, _ *int) {
		b.items <- `{"n":1}`
		token := partialOf(t, get(t, g, "watch", "", `{}`)).ResumeToken
		b.items <- `{"m":2}`
		if res := get(t, g, "watch", "", `{"resume_token":"`+token+`"}`); res.Code != tenon.CodeContract || verdictOf(t, res).Executed != "yes" {
			t.Errorf("an item that breaks the contract: %s", res.Content[0].Text)
		}
	})
	streaming(t, asIs, func(t *testing.T, b *belt, g *gateway.Gateway, _ *int) {
		if res := get(t, g, "watch", "", `{}`); res.Code != tenon.CodeTimeout || verdictOf(t, res).Executed != "unknown" {
			t.Errorf("nothing ever arrives: %s", res.Content[0].Text)
		}
	})
}

// TestStreamsOfUpstreams: NDJSON and server-sent events over HTTP, as an
// OpenAPI document declares them.
func TestStreamsOfUpstreams(t *testing.T) {
	const doc = `{"openapi":"3.2.0","info":{"title":"s","version":"1"},"paths":{
		"/lines":{"get":{"operationId":"lines","responses":{"200":{"description":"","content":{"application/x-ndjson":{"itemSchema":{"type":"object","required":["n"]}}}}}}},
		"/events":{"get":{"operationId":"events","responses":{"200":{"description":"","content":{"text/event-stream":{}}}}}},
		"/silent":{"get":{"operationId":"silent","responses":{"2XX":{"description":"","content":{"text/event-stream":{}}}}}},
		"/plain":{"get":{"operationId":"plain","responses":{"200":{"description":"","content":{"application/jsonl":{},"application/json":{}}}}}}}}`
	released, reached, hungUp := make(chan struct{}), make(chan struct{}), make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say := func(media, text string) {
			w.Header().Set("Content-Type", media)
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		switch r.URL.Path {
		case "/lines":
			say("application/x-ndjson", "{\"n\":1}\n\n{\"n\":2}\n")
			<-released
			say("", "{\"n\":3}")
		case "/events":
			say("text/event-stream", "\xef\xbb\xbf: hello\r\ndata: a\r\ndata:b\r\nevent: x\r\nid: 7\r\n\r\nevent: none\n\nretry: 10\rdata\r\rdata: é\n\n")
		case "/silent":
			say("text/event-stream", ": nothing\n\n")
			close(reached)
			<-r.Context().Done()
			close(hungUp)
		case "/plain":
			say("application/json", `{"not":"a stream"}`)
		}
	}))
	defer up.Close()
	offer, err := openapi.Parse("s", []byte(doc), openapi.Options{Client: up.Client(), BaseURL: up.URL, Policy: tenon.Enforce})
	if err != nil {
		t.Fatal(err)
	}
	c := gateway.Build([]gateway.Mount{{Name: "s", Features: offer}}, gateway.BuildOptions{})
	g := gateway.New(c, gateway.Options{FlushInterval: 100 * time.Millisecond})
	_, output := c.Find("lines").Schemas()
	if s, err := schema.Compile(output, schema.Options{}); err != nil || len(s.Validate([]byte(`{"OutputFormat":"structured","OutputType":"json","type":"api_response","data":"text","metadata":{}}`))) == 0 {
		t.Errorf("a stream is published as a list: %s", output)
	}

	res := get(t, g, "lines", "", `{}`)
	keepsPublished(t, output, res)
	token := partialOf(t, res).ResumeToken
	if string(res.Value) != `[{"n":1},{"n":2}]` || token == "" || !strings.Contains(string(res.Structured), `"partial":true`) {
		t.Errorf("the first part: %s %s", res.Structured, res.Meta)
	}
	close(released)
	res = get(t, g, "lines", "", `{"resume_token":"`+token+`"}`)
	keepsPublished(t, output, res)
	if string(res.Value) != `[{"n":3}]` || !strings.Contains(string(res.Structured), `"partial":false`) {
		t.Errorf("the last part: %s", res.Content[0].Text)
	}

	res = get(t, g, "events", "", `{}`)
	if want := `[{"data":"a\nb","event":"x","id":"7"},{"data":"","id":"7","retry":10},{"data":"é","id":"7"}]`; string(res.Value) != want {
		t.Errorf("events: %s, not %s", res.Value, want)
	}
	if res = get(t, g, "plain", "", `{}`); string(res.Value) != `{"not":"a stream"}` {
		t.Errorf("no stream: %s", res.Content[0].Text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	if _, err := g.Call(ctx, &tenon.Call{Tool: "silent"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who is gone: %v", err)
	}
	<-hungUp
}

// A caller who leaves with the first part has no token: nobody can come back
// to the stream, so it ends at once, and says what it left behind.
func TestStreamOfACallerWhoLeavesWithItsFirstPart(t *testing.T) {
	for name, sent := range map[string]tenon.Execution{"safe": {}, "unsafe": {Unsafe: tenon.Responded}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			gone := make(chan struct{})
			tool := tenon.Tool{
				Name: "watch", MaxResult: 4,
				Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/x-ndjson", Schema: []byte(`{"type":"array"}`)}}},
				Handler: func(work context.Context, _ *tenon.Call) (tenon.Response, error) {
					return tenon.Response{Status: 200, MediaType: "application/x-ndjson", Execution: sent, Items: func(yield func([]byte, error) bool) {
						defer close(gone)
						cancel() // while the first part is full
						if yield([]byte(`{"n":1}`), nil) {
							<-work.Done()
						}
					}}, nil
				},
			}
			g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), gateway.Options{})
			res, err := g.Call(ctx, &tenon.Call{Tool: "watch"})
			synctest.Wait()
			select {
			case <-gone:
			default:
				t.Errorf("%s: the stream is still read", name)
			}
			switch {
			case sent.Unsafe == tenon.NotSent && !errors.Is(err, context.Canceled):
				t.Errorf("%s: %+v, %v", name, res, err)
			case sent.Unsafe != tenon.NotSent && (err != nil || verdictOf(t, res).Executed != "unknown" || verdictOf(t, res).Retry != "unsafe"):
				t.Errorf("%s: %+v, %v", name, res, err)
			}
		})
	}
}

// Who waits for a part that somebody else waits for can leave, too, and one
// that asks again gets the same bytes.
func TestStreamIsWaitedForByTwo(t *testing.T) {
	streaming(t, asIs, func(t *testing.T, b *belt, g *gateway.Gateway, _ *int) {
		b.items <- `{"n":1}`
		args := []byte(`{"resume_token":"` + partialOf(t, get(t, g, "watch", "ann", `{}`)).ResumeToken + `"}`)
		results := make(chan *tenon.Result, 3)
		ask := func(ctx context.Context) {
			res, err := g.Call(ctx, &tenon.Call{Tool: "watch", Subject: "ann", Args: args})
			if err != nil {
				t.Error(err)
			}
			results <- res
		}
		leaving, leave := context.WithCancel(t.Context())
		go ask(t.Context())
		synctest.Wait()
		go ask(leaving)
		go ask(t.Context())
		synctest.Wait()
		leave()
		if res := <-results; !res.IsError || verdictOf(t, res).Executed != "no" {
			t.Errorf("who left: %s", res.Content[0].Text)
		}
		b.items <- `{"n":2}`
		one, two := <-results, <-results
		if string(one.Value) != `[{"n":2}]` || string(one.Structured) != string(two.Structured) || string(one.Meta) != string(two.Meta) {
			t.Errorf("two parts: %s, %s", one.Structured, two.Structured)
		}
	})
}

// A repeated token answers the same bytes to everyone, also where another tool
// stands for the one that was called and tells what it changed in the arguments.
func TestAPartThatIsHandedOutTwiceIsNobodysOwn(t *testing.T) {
	b, called := &belt{items: make(chan string, 10)}, 0
	inner := beltTool(b, &called, asIs)
	other := tenon.Tool{
		Name: "call", Contract: tenon.Contract{Input: []byte(`{"type":"object","properties":{"arguments":{"type":"object"}}}`)},
	}
	forward := map[string]gateway.Forward{"call": func(args []byte) (*gateway.Tool, []byte, error) {
		var asked struct{ Arguments json.RawMessage }
		err := json.Unmarshal(args, &asked)
		return inner.Find("watch"), asked.Arguments, err
	}}
	c := gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{other}}, Forward: forward}}, gateway.BuildOptions{})
	g := gateway.New(c, gateway.Options{FlushInterval: time.Millisecond})
	b.items <- `{"n":1}`
	token := partialOf(t, get(t, g, "call", "ann", `{"arguments":{}}`)).ResumeToken
	b.items <- `{"n":2}`
	plain := `{"arguments":{"resume_token":"` + token + `"}}`
	coerced := `{"arguments":"{\"resume_token\":\"` + token + `\"}"}`
	want := get(t, g, "call", "ann", plain)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				res := get(t, g, "call", "ann", []string{plain, coerced}[i%2])
				if string(res.Structured) != string(want.Structured) || i%2 == 0 && string(res.Meta) != string(want.Meta) {
					t.Errorf("%s %s", res.Structured, res.Meta)
				}
			}
		})
	}
	wg.Wait()
	close(b.items)
}

// A source that panics while its items are made costs the stream and nothing else.
func TestStreamWhoseSourcePanics(t *testing.T) {
	streaming(t, asIs, func(t *testing.T, b *belt, g *gateway.Gateway, _ *int) {
		b.gone.Store(true)
		tool := g.Catalog().Find("watch").Tool()
		tool.Handler = func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Status: 200, MediaType: "application/x-ndjson", Execution: tenon.Execution{Unsafe: tenon.Responded}, Items: func(yield func([]byte, error) bool) {
				yield([]byte(`{"n":1}`), nil)
				panic("a secret")
			}}, nil
		}
		g.Swap(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}))
		res := get(t, g, "watch", "ann", `{}`)
		res = get(t, g, "watch", "ann", `{"resume_token":"`+partialOf(t, res).ResumeToken+`"}`)
		if !res.IsError || res.Code != tenon.CodeInternal || !strings.Contains(res.Message, "incident") || strings.Contains(res.Message, "secret") || verdictOf(t, res).Executed != "unknown" {
			t.Errorf("%s %s", res.Code, res.Message)
		}
	})
}

// What came of a stream that is answered whole is not lost where the stream
// does not end in time, or breaks: it goes with the error, in every envelope.
func TestWhatCameOfAWholeStreamIsKept(t *testing.T) {
	for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
		for _, end := range []string{"late", "!the line is dead"} {
			synctest.Test(t, func(t *testing.T) {
				b, called := &belt{items: make(chan string, 10)}, 0
				g := gateway.New(beltTool(b, &called, func(tool *tenon.Tool) { tool.Envelope = env }), gateway.Options{FlushInterval: -1, Timeout: time.Minute})
				b.items <- `{"n":1}`
				b.items <- `{"n":2}`
				want, code := "the call took longer than 1m0s", tenon.CodeTimeout
				if end != "late" {
					b.items <- end
					want, code = end[1:], tenon.CodeInternal
				}
				res := get(t, g, "watch", "ann", `{}`)
				text := string(res.Content[len(res.Content)-1].Text)
				if !res.IsError || res.Code != code || string(res.Value) != `[{"n":1},{"n":2}]` || !strings.Contains(text, string(res.Value)) || string(res.Details) != `{"received":2,"data":[{"n":1},{"n":2}]}` {
					t.Errorf("%s, %s: %s %s %s", env, end, res.Code, res.Details, text)
				}
				if !strings.Contains(res.Message, "was interrupted after 2 items: "+want) || verdictOf(t, res).Executed != "unknown" || verdictOf(t, res).Verdict != "fits" {
					t.Errorf("%s, %s: %s %s", env, end, res.Message, res.Meta)
				}
				synctest.Wait()
				if !b.gone.Load() {
					t.Error("the stream is still read")
				}
			})
		}
	}
}

// Only what the contract and the limit let through goes with the error.
func TestWhatCameOfAStreamIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		item, about string
		limit       int
		value       string
	}{
		"an item that breaks the contract": {`{"m":"secret"}`, "is not shown", 0, ""},
		"more than there is room for":      {`{"n":"` + strings.Repeat("x", 200) + `"}`, "; 1 items of it are not shown", 200, `[{"n":1}]`},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, called := &belt{items: make(chan string, 10)}, 0
			g := gateway.New(beltTool(b, &called, func(tool *tenon.Tool) { tool.MaxResult = c.limit }), gateway.Options{FlushInterval: -1})
			b.items <- `{"n":1}`
			b.items <- c.item
			res := get(t, g, "watch", "ann", `{}`)
			if !res.IsError || res.Code != tenon.CodeTimeout || string(res.Value) != c.value || !strings.Contains(res.Message, c.about) || strings.Contains(string(res.Details)+res.Message, "secret") {
				t.Errorf("%s: %s %s %s", name, res.Message, res.Details, res.Meta)
			}
		})
	}
}

// A stream that is handed out in parts has its first one before the call's time
// is over, also where more time was given for waiting.
func TestPartialAfterBeyondTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, called := &belt{items: make(chan string, 10)}, 0
		g := gateway.New(beltTool(b, &called, asIs), gateway.Options{FlushInterval: time.Hour, Timeout: 10 * time.Second})
		b.items <- `{"n":1}`
		res := get(t, g, "watch", "ann", `{}`)
		token := partialOf(t, res).ResumeToken
		if res.IsError || string(res.Value) != `[{"n":1}]` || token == "" {
			t.Fatalf("%s %s", res.Message, res.Meta)
		}
		b.items <- `{"n":2}`
		res = get(t, g, "watch", "ann", `{"resume_token":"`+token+`"}`)
		if res.IsError || string(res.Value) != `[{"n":2}]` {
			t.Errorf("%s %s", res.Message, res.Meta)
		}
		close(b.items)
		get(t, g, "watch", "ann", `{"resume_token":"`+partialOf(t, res).ResumeToken+`"}`)
	})
}
