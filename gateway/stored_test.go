package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/memstore"
)

// watchedStore is a store that remembers what was put into it, and refuses the
// keys that begin so.
type watchedStore struct {
	tenon.Store

	refuses string // empty: none
	kept    strings.Builder
}

func (s *watchedStore) Put(ctx context.Context, key string, value []byte, life time.Duration) error {
	if s.refuses != "" && strings.HasPrefix(key, s.refuses) {
		return errors.New("the store cannot be reached")
	}
	s.kept.WriteString(key + "=" + string(value) + "\n")
	return s.Store.Put(ctx, key, value, life)
}

// What is stored of a response for its later parts has no headers that may hold
// credentials.
func TestCredentialHeadersAreNotStored(t *testing.T) {
	response := jsonResponse(200, libraryBody(100, "x"))
	response.Header = http.Header{"Set-Cookie": {"sid=secret"}, "X-Api-Key": {"secret"}, "Etag": {"plain"}}
	store := &watchedStore{Store: memstore.New(memstore.Options{})}
	tool := tenon.Tool{Name: "list", MaxResult: 1000, Handler: answer(response)}
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), gateway.Options{Store: store})
	if res := get(t, g, "list", "ann", `{}`); partialOf(t, res).ResumeToken == "" {
		t.Fatalf("%s", res.Content[0].Text)
	}
	if kept := store.kept.String(); strings.Contains(kept, "secret") || !strings.Contains(kept, "plain") {
		t.Errorf("%.2000s", kept)
	}
}

// A response whose value cannot be stored is an error, not a part without a rest.
func TestPartsThatCannotBeStored(t *testing.T) {
	for _, refuses := range []string{"rest ", "value "} {
		c, _ := library(libraryBody(100, "x"), 1000, tenon.Native)
		g := gateway.New(c, gateway.Options{Store: &watchedStore{Store: memstore.New(memstore.Options{}), refuses: refuses}})
		if res := get(t, g, "list", "ann", `{"page":1}`); !res.IsError || partialOf(t, res).ResumeToken != "" {
			t.Errorf("without %q: %s", refuses, res.Content[0].Text)
		}
	}
}

// awayStore is a store that can be out of reach.
type awayStore struct {
	tenon.Store

	away bool
}

var errAway = errors.New("the store cannot be reached")

func (s *awayStore) Put(ctx context.Context, key string, value []byte, life time.Duration) error {
	if s.away {
		return errAway
	}
	return s.Store.Put(ctx, key, value, life)
}

func (s *awayStore) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if s.away {
		return nil, false, errAway
	}
	return s.Store.Get(ctx, key)
}

func (s *awayStore) GetAndDelete(ctx context.Context, key string) ([]byte, bool, error) {
	if s.away {
		return nil, false, errAway
	}
	return s.Store.GetAndDelete(ctx, key)
}

// What needs the store says so while it is away, and how long to wait, and goes on
// where it was once the store is back.
func TestWithoutTheStore(t *testing.T) {
	store := &awayStore{Store: memstore.New(memstore.Options{})}
	fails := func(res *tenon.Result, executed string, wait time.Duration, says string) {
		t.Helper()
		v := verdictOf(t, res)
		if !res.IsError || res.Code != tenon.CodeInternal || v.Executed != executed || res.Outcome.RetryAfter != wait || !strings.Contains(res.Message, says) {
			t.Errorf("%s: %s, wait %v, executed %s", res.Code, res.Message, res.Outcome.RetryAfter, v.Executed)
		}
	}
	g, sent := deletes(tenon.ConfirmArg, tenon.OpenAPIMCP, gateway.Options{Store: store})
	store.away = true
	fails(get(t, g, "get_book", "ann", `{"id":1}`), "no", 5*time.Second, "cannot be stored now")
	store.away = false
	get(t, g, "get_book", "ann", `{"id":1}`)
	store.away = true
	fails(get(t, g, "get_book", "ann", `{"id":1,"confirmed":true}`), "no", 5*time.Second, "cannot be stored now")
	store.away = false
	if res := get(t, g, "get_book", "ann", `{"id":1,"confirmed":true}`); res.IsError || len(*sent) != 1 {
		t.Errorf("sent %q, %s", *sent, res.Message)
	}

	c, _ := library(libraryBody(100, "x"), 1000, tenon.Native)
	g = gateway.New(c, gateway.Options{Store: store})
	token := partialOf(t, get(t, g, "list", "ann", `{"page":1}`)).ResumeToken
	store.away = true
	fails(get(t, g, "list", "ann", `{"page":1}`), "yes", 5*time.Second, "the store does not answer")
	fails(get(t, g, "next_part", "ann", `{"resume_token":"`+token+`"}`), "no", 5*time.Second, "stays valid")
	store.away = false
	if res := get(t, g, "next_part", "ann", `{"resume_token":"`+token+`"}`); res.IsError || partialOf(t, res).Part != 2 {
		t.Error(res.Message)
	}

	unsafe := tenon.Tool{Name: "sell", MaxResult: 1000, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
		r := jsonResponse(200, libraryBody(100, "x"))
		r.Execution = tenon.Execution{Unsafe: tenon.Responded}
		return r, nil
	}}
	g = gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{unsafe}}}}, gateway.BuildOptions{}), gateway.Options{Store: store})
	store.away = true
	fails(get(t, g, "sell", "ann", `{}`), "yes", 0, "the store does not answer")
}

// One caller may hold so many streams open; any further one is returned whole. A
// stream that ended makes room for another, and other callers have room anyway.
func TestStreamsOfOneCallerAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := tenon.Tool{
			Name: "watch", Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/x-ndjson", Schema: []byte(`{"type":"array"}`)}}},
			Handler: func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
				return tenon.Response{Status: 200, MediaType: "application/x-ndjson", Items: func(yield func([]byte, error) bool) {
					if yield([]byte(`{"n":1}`), nil) {
						<-ctx.Done()
					}
				}}, nil
			},
		}
		g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), gateway.Options{})
		open := func(subject tenon.Subject) (further bool) {
			return partialOf(t, get(t, g, "watch", subject, `{}`)).ResumeToken != ""
		}
		for round := range 2 {
			var streams sync.WaitGroup
			var further atomic.Int32
			for range 65 {
				streams.Go(func() {
					if open("ann") {
						further.Add(1)
					}
				})
			}
			time.Sleep(30 * time.Second) // the first parts are there
			if n := further.Load(); n != 64 {
				t.Errorf("round %d: %d streams of one caller are open", round, n)
			}
			if !open("bob") {
				t.Errorf("round %d: another caller has no room", round)
			}
			streams.Wait()
			time.Sleep(time.Hour) // nobody asks for parts, so all end
			synctest.Wait()
		}
	})
}

// Arguments of a forwarded call pass the schema of the tool that was called.
func TestForwardedArgumentsAreValidated(t *testing.T) {
	to := one(tenon.Tool{}, answer(jsonResponse(200, `{}`))).Catalog().Find("get_book")
	forwarded := 0
	forward := map[string]gateway.Forward{"call": func(args []byte) (*gateway.Tool, []byte, error) {
		forwarded++
		return to, args, nil
	}}
	call := tenon.Tool{Name: "call", Contract: tenon.Contract{Input: []byte(`{"type":"object","properties":{"tool":{"type":"string"}},"required":["tool"]}`)}}
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{call}}, Forward: forward}}, gateway.BuildOptions{}), gateway.Options{})
	for args, fits := range map[string]bool{`{"tool":"get_book"}`: true, `{"tool":[]}`: false, `{}`: false} {
		before := forwarded
		res := get(t, g, "call", "", args)
		if res.IsError == fits || forwarded-before != map[bool]int{true: 1}[fits] {
			t.Errorf("%s: forwarded %d times, %s", args, forwarded-before, res.Content[0].Text)
		}
	}
}

// A tool takes the tokens that it gave, and no others: of stored parts, and of
// streams.
func TestTokensAreForTheirTool(t *testing.T) {
	streams := tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/x-ndjson", Schema: []byte(`{"type":"array"}`)}}}
	for name, tool := range map[string]tenon.Tool{
		"stored": {MaxResult: 1000, Handler: answer(jsonResponse(200, libraryBody(100, "x")))},
		"stream": {MaxResult: 20, Contract: streams, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Status: 200, MediaType: "application/x-ndjson", Items: partsOf(`{"n":1}`, `{"n":2}`, `{"n":3}`, `{"n":4}`).seq()}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			one, other := tool, tool
			one.Name, other.Name = "one", "other"
			g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{one, other}}}}, gateway.BuildOptions{}), gateway.Options{})
			args := `{"resume_token":"` + partialOf(t, get(t, g, "one", "ann", `{}`)).ResumeToken + `"}`
			if res := get(t, g, "other", "ann", args); !res.IsError || res.Code != tenon.CodeValidation {
				t.Errorf("another tool took the token: %s", res.Content[0].Text)
			}
			if res := get(t, g, "one", "ann", args); res.IsError || partialOf(t, res).Part != 2 {
				t.Errorf("the tool does not take its own: %s", res.Content[0].Text)
			}
		})
	}
}

// A value that is below the limit is cut where the value and its text copy are
// above it.
func TestTheTextCopyCounts(t *testing.T) {
	body := libraryBody(20, "n")
	for _, limit := range []int{len(body) + 100, 10 * len(body)} {
		c, _ := library(body, limit, tenon.Native)
		p := partialOf(t, get(t, gateway.New(c, gateway.Options{}), "list", "ann", `{"page":7}`))
		if cut := p.Parts > 1; cut != (limit < 2*len(body)) {
			t.Errorf("%d bytes with a limit of %d: %d parts", len(body), limit, p.Parts)
		}
	}
}
